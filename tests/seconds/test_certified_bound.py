"""Bounds in seconds by prices of machine time: valid for any duals, exact, and of some use."""

from dataclasses import replace

import numpy as np
import pytest
from batches import drawn_case, least_picoseconds
from command_line import ended_with

from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.certify_seconds import seconds_value
from ratiolab.hindsight.certificates.io import write_certificate
from ratiolab.model import Instance, write_instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100, BatchTime
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.seconds import certified_bound
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.seconds.duals import horizon, in_closed_form, parts_of, raised, value
from ratiolab.seconds.order_search import total_seconds
from ratiolab.workloads.generators import generate


def any_duals(claim: SecondsCertificate, rng: np.random.Generator) -> SecondsCertificate:
    """The claim with other duals, as large as the price pays for."""
    price = np.array(claim.price) * rng.uniform(0.3, 1.7) * rng.uniform(0.5, 1.5, len(claim.price))
    price = price.astype(int) + 1
    fixed, prefill, decode, _ = (part / claim.unit for part in claim.clock)
    decode = decode if claim.preemption == "restart" else min(prefill, decode)
    steps = np.diff([0, *(1 / level for level in claim.levels)])
    decoding = rng.random(len(price)) * rng.integers(0, 4)
    prefilled = rng.random((len(steps), len(price))) * fixed * rng.integers(0, 3)
    q = decode * decoding**2 + steps @ prefilled**2 / 2
    scale = 0.999 * np.sqrt(np.minimum(1, fixed * (price - 1) / 2**20 / np.maximum(q, 1e-300)))
    decoding, prefilled = decoding * scale * 2**10, prefilled * scale
    row = (0, 0)
    if claim.preemption == "restart" and rng.random() < 0.9:
        row = int(rng.integers(1, 20)), int(rng.integers(1, 5))
    return replace(
        claim,
        row=row,
        price=tuple(price.tolist()),
        decoding=tuple(decoding.astype(int).tolist()),
        prefilled=tuple(map(tuple, prefilled.astype(int).tolist())),
    )


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 10_000), marks=pytest.mark.slow)]
)
def test_no_schedule_of_tiny_instances_is_below_the_bound_of_any_duals(preemption, seeds):
    largest = 0.0
    for seed in seeds:
        instance, clock = drawn_case(seed)
        rng = np.random.default_rng(seed)
        best = least_picoseconds(instance, clock, evictions=preemption == "recompute")
        cells, groups = int(rng.integers(5, 200)), int(rng.integers(1, 5))
        claim = seconds_certificate(instance, clock, preemption, cells=cells, groups=groups)
        assert certify(claim, instance) == claim.bound <= best, seed
        for _ in range(3):
            other = any_duals(claim, rng)
            if instance.prompt.min() == 0 or claim.clock[1] == 0:  # a row may leave no work
                other = replace(other, row=(0, 0))
            assert seconds_value(other, instance) <= best, seed
        largest = max(largest, claim.bound / best)
    assert largest > 0.9, "and it says something"


@pytest.fixture(scope="module")
def log():
    return generate("lmsys", 3, n=150, memory=2000, rate=0.3).replace(tick_seconds=0.02)


@pytest.fixture(scope="module")
def claim(log):
    return seconds_certificate(log, LLAMA2_70B_2XA100, "recompute", cells=50)


@pytest.mark.parametrize(
    ("preemption", "row"),
    [
        ("recompute", (0, 0)),
        ("restart", (0, 0)),
        ("restart", (200, 3)),
        pytest.param("restart", (100, 8), id="a row that takes much off small requests"),
    ],
)
def test_floats_choose_the_duals_and_integers_agree_with_them(log, preemption, row, monkeypatch):
    monkeypatch.setattr(certified_bound, "_rows", lambda *_: [row])
    claim = seconds_certificate(log, LLAMA2_70B_2XA100, preemption, cells=400, groups=4)
    refills = preemption == "recompute"
    parts = parts_of(log, LLAMA2_70B_2XA100, refills=refills, groups=4, row=row)
    width = claim.width * claim.unit / 10**12
    found = value(parts, in_closed_form(parts, width, 400))[0]
    assert claim.bound / 10**12 == pytest.approx(found, rel=1e-4)


def test_it_exceeds_the_bound_of_the_machine_and_no_policy_is_below_it(log):
    bound = seconds_certificate(log, LLAMA2_70B_2XA100).bound / 10**12
    assert bound > 1.02 * clock_lower_bound(log, LLAMA2_70B_2XA100)
    for key in ("fcfs", "swf", "swf-fit"):
        assert bound < total_seconds(simulate(log, make(key), clock=LLAMA2_70B_2XA100))


def test_an_ascent_gains_and_never_loses(log):
    parts = parts_of(log, LLAMA2_70B_2XA100, refills=False, groups=2)
    begin = in_closed_form(parts, horizon(parts) / 100, 100)
    steps = iter(np.linspace(0, 1, 60).tolist())
    better = raised(parts, begin, lambda: next(steps))
    assert value(parts, better)[0] > value(parts, begin)[0] * 1.001
    assert raised(parts, begin, lambda: 1.0) is begin


def test_time_for_an_ascent_improves_the_certificate(log):
    begin, after = (
        seconds_certificate(log, LLAMA2_70B_2XA100, seconds=seconds, cells=1000, groups=2)
        for seconds in (0, 0.5)
    )
    assert after.bound > begin.bound
    assert certify(after, log) == after.bound


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"bound": c.bound + 1}, "is proven"),
        (lambda c: {"preemption": "none"}, "preemption"),
        (lambda c: {"tick": c.tick + 1}, "another tick"),
        (lambda c: {"clock": (0, *c.clock[1:])}, "a clock has"),
        (lambda c: {"row": (100, 3)}, "do not hold where evictions keep tokens"),
        (lambda c: {"row": (0, 3), "preemption": "restart"}, "positive tokens and rounds"),
        (lambda c: {"unit": 0}, "must be positive"),
        (lambda c: {"unit": 10**13}, "must last some units"),
        (lambda c: {"price": (-1, *c.price[1:])}, "must not be negative"),
        (lambda c: {"price": (0, *c.price[1:])}, "below the congestion"),
        (lambda c: {"decoding": (10**7, *c.decoding[1:])}, "below the congestion"),
        (lambda c: {"decoding": c.decoding[1:]}, "a dual for each cell"),
        (lambda c: {"levels": c.levels[::-1]}, "must be falling"),
        (lambda c: {"price": (2**70, *c.price[1:])}, "too large"),
        (lambda c: {"digest": "0" * 12}, "digest"),
        (lambda c: {"groups": 10**9}, "refused"),
    ],
)
def test_each_rule_is_checked(log, claim, change, message):
    with pytest.raises(CertificateError, match=message):
        certify(replace(claim, **change(claim)), log)


def test_a_clock_that_is_too_quick_for_whole_units_is_refused():
    pair = Instance("pair", 3, [0, 0], [0, 0], [2, 2])
    with pytest.raises(CertificateError, match="the unit is so coarse"):
        seconds_certificate(pair, BatchTime(fixed=1e-12, tick=1e-12), cells=40)


def test_the_command_proves_a_bound_in_seconds_and_says_under_which_clock(
    log, claim, tmp_path, capsys
):
    write_certificate(claim, tmp_path / "c.json")
    write_instance(log, tmp_path / "log.json")
    files = str(tmp_path / "c.json"), str(tmp_path / "log.json")
    assert ended_with("certify", *files) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"latency >= {claim.bound / 10**12:,.3f} s" in words
    assert "recompute" in words
    write_certificate(replace(claim, bound=claim.bound + 1), tmp_path / "c.json")
    assert ended_with("certify", *files) == 1
