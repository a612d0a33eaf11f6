"""A bound by windows is accepted when no way through them is cheaper, and never otherwise."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cost_to_go_paths import Ways
from mutations import outcomes
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates import certify_cost_to_go
from ratiolab.hindsight.certificates.certificate import (
    CostToGoCertificate,
    read_certificate,
    write_certificate,
)
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.model import FormatError, Instance


def duals_of(instance: Instance, seed: int) -> Duals:
    """Those of a short bound by cuts, or these made weak at random, or without the later half."""
    good = cut_bound(instance, rounds=seed % 3).certificate.duals
    rng = np.random.default_rng(seed)
    if seed % 5 == 0:
        weak = tuple(int(price * rng.uniform(0, 1)) for price in good.memory)
        return replace(good, memory=weak)
    if seed % 5 == 1:
        end = len(good.memory) // 2 + 1
        kept = ((k, begin, min(last, end), price) for k, begin, last, price in good.cuts)
        cuts = tuple(cut for cut in kept if cut[1] < cut[2])
        return replace(good, memory=good.memory[: end - 1], cuts=cuts)
    return good


def claim(instance: Instance, ways: Ways, duals: Duals, begins: list[int]) -> CostToGoCertificate:
    """Of the exact costs of windows."""
    windows = tuple((begin, ways.least(begin)) for begin in begins)
    bound = -(-(ways.value + windows[-1][1]) // duals.denominator)
    return CostToGoCertificate(
        instance.name, instance.digest, bound, ways.value, duals, windows=windows
    )


def optimal(instance: Instance, latency: int) -> Iterator[tuple[int, ...]]:
    """Starts of every schedule of this latency, which is the least."""
    requests = list(instance.requests)
    alone = sum(output for _, _, output in requests)
    spans = [range(arrival, arrival + latency - alone + 1) for arrival, _, _ in requests]
    for starts in product(*spans):
        ends = [start + output for start, (_, _, output) in zip(starts, requests, strict=True)]
        if sum(ends) - int(instance.arrival.sum()) == latency and all(
            sum(
                prompt + time - start
                for start, (_, prompt, output) in zip(starts, requests, strict=True)
                if start < time <= start + output
            )
            <= instance.memory
            for time in range(1, max(ends) + 1)
        ):
            yield starts


def small(seed: int) -> Instance:
    return tiny(seed, most=4, longest=4)


@pytest.mark.long
def test_the_cheapest_way_is_accepted_and_no_higher_cost() -> None:
    proper = 0
    for seed in range(160):
        instance = small(seed)
        duals = duals_of(instance, seed)
        ways = Ways(instance, duals)
        rng = np.random.default_rng(seed)
        times = rng.permutation(np.arange(1, ways.horizon + 1))[: seed % 4]
        right = claim(instance, ways, duals, [*sorted(times.tolist(), reverse=True), 0])
        assert certify(right, instance) == right.bound, seed
        assert right.bound <= least_latency(instance), seed
        proper += right.windows[-1][1] > 0
        for number, (begin, cost) in enumerate(right.windows):
            for more in (1, 10**12):
                windows = list(right.windows)
                windows[number] = (begin, cost + more)
                with pytest.raises(CertificateError, match=f"a way costs {cost}$"):
                    certify(replace(right, windows=tuple(windows)), instance)
    assert proper > 20


@pytest.mark.long
def test_equal_requests_may_run_at_equal_ages() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, prompt, output = (int(rng.integers(*span)) for span in ((2, 6), (0, 3), (2, 5)))
        memory = int(rng.integers(prompt + output, 13))
        instance = Instance("equal", memory, [0] * n, [prompt] * n, [output] * n)
        duals = duals_of(instance, seed)
        ways = Ways(instance, duals)
        for begin in range(ways.horizon + 1):
            late = claim(instance, ways, duals, [begin])
            cost = late.windows[0][1]
            last = ((0, cost),) if begin else ()
            assert certify(replace(late, windows=late.windows + last), instance) == late.bound
            above = ((begin, cost + 1), *last)
            with pytest.raises(CertificateError, match=f"a way costs {cost}$"):
                certify(replace(late, windows=above), instance)


def test_no_optimal_schedule_pays_less_than_a_window_claims() -> None:
    seen = 0
    for seed in range(96):
        instance = tiny(seed, most=3, longest=4)
        ways = Ways(instance, duals_of(instance, seed))
        latency = least_latency(instance)
        least = [ways.least(begin) for begin in range(ways.horizon + 1)]
        assert least == sorted(least, reverse=True)
        for starts in optimal(instance, latency):
            paid = [ways.of_schedule(starts, begin) for begin in range(ways.horizon + 1)]
            assert ways.value + paid[0] == ways.denominator * latency, seed
            assert all(cost <= pay for cost, pay in zip(least, paid, strict=True)), seed
            seen += 1
    assert seen > 96


def test_windows_of_less_than_the_least_cost_prove_as_much_of_those_that_follow() -> None:
    for seed in range(64):
        instance = small(seed)
        ways = Ways(instance, duals_of(instance, seed))
        rng = np.random.default_rng(seed)
        times = [int(time) for time in range(ways.horizon, 0, -1) if rng.random() < 0.4]
        less = tuple((time, int(ways.least(time) * rng.uniform(0.3, 1))) for time in times)
        duals = duals_of(instance, seed)
        right = claim(instance, ways, duals, [0])
        assert certify(replace(right, windows=less + right.windows), instance) == right.bound
        wrong = (*less, (0, right.windows[-1][1] + 1))
        with pytest.raises(CertificateError, match=f"a way costs {right.windows[-1][1]}$"):
            certify(replace(right, windows=wrong), instance)


Proof = tuple[Instance, CostToGoCertificate]


@pytest.fixture(scope="module")
def ten() -> Proof:
    """Duals that three windows improve on; what these cost comes from claims that are refused."""
    rng = np.random.default_rng(1)
    output = rng.integers(1, 20, 10)
    instance = Instance("ten", 20, [0] * 10, [1] * 10, output)
    weak = cut_bound(instance, rounds=4).certificate
    made = CostToGoCertificate("ten", instance.digest, 0, weak.value, weak.duals, windows=())
    unit = weak.duals.denominator
    for begin in (12, 6, 0):
        asked = (*made.windows, (begin, 4 * unit))
        with pytest.raises(CertificateError, match="a way costs") as refused:
            certify(replace(made, windows=asked if begin == 0 else (*asked, (0, 0))), instance)
        found = int(re.findall(r"\d+$", str(refused.value))[0])
        made = replace(made, windows=(*made.windows, (begin, found)))
    made = replace(made, bound=-(-(made.value + made.windows[-1][1]) // unit))
    assert made.bound > weak.bound
    return instance, made


def test_a_file_of_windows_is_read_as_it_was_written(tmp_path: Path, ten: Proof) -> None:
    instance, made = ten
    write_certificate(made, tmp_path / "c.json")
    again = read_certificate(tmp_path / "c.json")
    assert again == made
    assert certify(again, instance) == made.bound


@pytest.mark.long
def test_every_changed_number_is_detected(tmp_path: Path, ten: Proof) -> None:
    """With check digits made anew, nothing passes but other proofs of the same bound."""
    instance, made = ten
    path = tmp_path / "c.json"
    plain = ("bound", "denominator", "value", "memory")
    rejected = passed = 0
    names = (*plain, "tables", "cuts", "windows")
    for name, bound in outcomes(path, made, instance, names, range(0, 60, 5)):
        rejected += bound is None
        if bound is not None:
            assert bound == made.bound
            assert name not in plain
            passed += 1
    assert rejected > 3 * passed


def refused(proof: Proof, reason: str, **changes: Any) -> None:
    with pytest.raises(CertificateError, match=reason):
        certify(replace(proof[1], **changes), proof[0])


def test_windows_out_of_order_or_without_the_first_time_are_refused(ten: Proof) -> None:
    late, middle, first = ten[1].windows
    refused(ten, r"window 1 begins at 12, not within 0..5", windows=(middle, late, first))
    refused(ten, r"window 1 begins at 12, not within 0..11", windows=(late, late, first))
    refused(ten, r"window 3 begins at 0, not within 0..-1", windows=(late, middle, first, first))
    refused(ten, "no window begins at 0", windows=(late, middle))
    refused(ten, "no window begins at 0", windows=())
    refused(ten, "window 0 begins at -1", windows=((-1, 0),))
    refused(ten, "window 0 begins at 10000", windows=((10_000, 0), first))


def test_claims_beyond_the_windows_are_refused(ten: Proof) -> None:
    late, middle, (_, cost) = ten[1].windows
    refused(ten, "window 0: cost -1 is negative", windows=((12, -1), (0, cost)))
    refused(ten, f"window 2: cost {cost + 1} .*, a way costs {cost}", windows=(
        late, middle, (0, cost + 1),
    ))  # fmt: skip
    bound = ten[1].bound
    refused(ten, f"bound {bound + 1} is claimed, {bound} is proven", bound=bound + 1)
    refused(ten, f"bound {bound - 1} is claimed, {bound} is proven", bound=bound - 1)
    refused(ten, "numbers are too large", windows=((0, certify_cost_to_go.LARGEST),))


def test_a_window_needs_what_those_before_it_claim(ten: Proof) -> None:
    """None is believed: with a false one before, it is the false one that is refused."""
    late, middle, first = ten[1].windows
    refused(ten, "window 0: ", windows=((12, late[1] + 1), middle, first))
    assert certify(replace(ten[1], windows=(first,)), ten[0]) == ten[1].bound


@pytest.mark.parametrize(
    ("limit", "most", "reason"),
    [
        ("MOST_STATES", 100, "the search takes more than 100 states"),
        ("MOST_LAYERS", 3, "the search takes more than 3 layers"),
        ("MOST_IN_LAYER", 20, "a layer takes more than 20 states"),
    ],
)
def test_a_claim_that_takes_too_long_to_check_is_refused(
    monkeypatch: pytest.MonkeyPatch, ten: Proof, limit: str, most: int, reason: str
) -> None:
    monkeypatch.setattr(certify_cost_to_go, limit, most)
    monkeypatch.setattr(certify_cost_to_go, "CAPACITY", 8)
    refused(ten, reason)


def test_little_room_at_first_changes_nothing(monkeypatch: pytest.MonkeyPatch, ten: Proof) -> None:
    monkeypatch.setattr(certify_cost_to_go, "CAPACITY", 4)
    assert certify(ten[1], ten[0]) == ten[1].bound


def test_more_memory_than_seven_bits_count_is_refused() -> None:
    instance = Instance("wide", 128, [0], [1], [2])
    duals = Duals(1, (), (), ())
    made = CostToGoCertificate("wide", instance.digest, 2, 2, duals, windows=((0, 0),))
    with pytest.raises(CertificateError, match="memory 128, windows are checked up to 127"):
        certify(made, instance)
    narrow = Instance("narrow", 127, [0], [1], [126])
    assert certify(replace(made, digest=narrow.digest, bound=126, value=126), narrow) == 126


@pytest.mark.parametrize(
    ("windows", "reason"),
    [
        ([[0]], r"window 0: \[1\] is missing"),
        ([[3, 0], [0, 0.5]], r"window 1: \[1\] 0.5 must be an integer"),
        ([], "check "),
        (7, "windows 7 must be a list"),
    ],
)
def test_windows_that_are_none_are_refused(
    tmp_path: Path, ten: Proof, windows: object, reason: str
) -> None:
    path = tmp_path / "c.json"
    write_certificate(ten[1], path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "windows": windows}))
    with pytest.raises(FormatError, match=reason):
        read_certificate(path)
