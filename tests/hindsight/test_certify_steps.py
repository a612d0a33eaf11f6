"""Duals over runs of times are checked by another route than the one that found them."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import STEP_CHANGES, assert_no_other_bound, breaks_each_rule, keeps_everything
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight import bracket
from ratiolab.hindsight.certificates import certify_growth
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.certify_growth import scaled_growth_value
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
from ratiolab.hindsight.relaxation.ascent import Problem
from ratiolab.hindsight.relaxation.growth import certified, dual_bound
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance


def long_tails(n: int, rate: float) -> Instance:
    rng = np.random.default_rng(3)
    prompt = np.clip(np.exp(2.4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.8 + 1.1 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    arrival = np.cumsum(rng.exponential(1 / rate, n)) if rate else np.zeros(n)
    return Instance(f"{n} at {rate}", 5_000, arrival.astype(np.int64), prompt, output)


def by_definition(instance: Instance, steps: GrowthDuals) -> int:
    """Every start up to the end of the duals, every age, time by time."""
    price: dict[int, int] = {}
    before = steps.begin
    for end, token in zip(steps.ends, steps.token, strict=True):
        price |= dict.fromkeys(range(before + 1, end + 1), token)
        before = end
    return -instance.memory * sum(price.values()) + sum(
        min(
            steps.denominator * (p + o - a)
            + sum(price.get(p + g, 0) * (s + g) for g in range(1, o + 1))
            for p in range(a, max(before, a) + 1)
        )
        for a, s, o in instance.requests
    )


@given(
    seed=st.integers(0, 10**6),
    begin=st.integers(-2, 6),
    denominator=st.integers(1, 12),
    runs=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), max_size=8),
)
@settings(max_examples=400, deadline=None)
def test_any_runs_of_prices_prove_at_most_the_optimum_and_are_priced_exactly(
    seed: int, begin: int, denominator: int, runs: list[tuple[int, int]]
) -> None:
    instance = tiny(seed, most=4)
    ends = tuple((begin + np.cumsum([length for length, _ in runs])).tolist()) if runs else ()
    steps = GrowthDuals(denominator, begin, ends, tuple(price for _, price in runs))
    value = scaled_growth_value(steps, instance)
    assert value == by_definition(instance, steps)
    assert Fraction(value, denominator) <= least_latency(instance)


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.6])
def test_the_checker_proves_what_the_ascent_claims(rate: float) -> None:
    instance = long_tails(400, rate)
    upper = best_list_schedule(instance).total_latency
    for steps in (0, 40):
        certificate = dual_bound(instance, upper, steps=steps)
        assert certify(certificate, instance) == certificate.bound <= upper


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 4))
def test_equal_neighbours_become_one_run_and_prove_the_same(token: list[int], width: int) -> None:
    instance = tiny(4, most=4)
    problem = Problem.of(instance, instance.memory)
    certificate = certified(instance, problem, np.array([token]) / 4, width)
    steps = certificate.duals
    assert all(a != b for a, b in pairwise(steps.token))
    assert steps.token[-1:] != (0,)
    assert certify(certificate, instance) == certificate.bound


def test_a_result_without_cuts_carries_this_proof() -> None:
    instance = long_tails(100, 0.9)
    result = bracket(instance, steps=0)
    assert isinstance(result.certificate, GrowthCertificate)
    assert certify(result.certificate, instance) == result.certified == result.lower


@pytest.fixture(scope="module")
def hundred() -> tuple[Instance, GrowthCertificate]:
    instance = long_tails(300, 0.9)
    return instance, dual_bound(instance, best_list_schedule(instance).total_latency)


test_a_file_keeps_everything_and_is_small = keeps_everything("hundred", 200_000)


@pytest.mark.long
def test_every_changed_number_is_detected_and_none_proves_another_bound(
    tmp_path: Path, hundred: tuple[Instance, GrowthCertificate]
) -> None:
    instance, made = hundred
    runs = len(made.duals.ends)
    places = range(0, runs, max(1, runs // 25))
    assert_no_other_bound(tmp_path / "c.json", made, instance, ("ends", "token"), places, 0.8)


test_each_rule_has_a_certificate_that_breaks_it = breaks_each_rule("hundred", STEP_CHANGES)


def test_a_proof_that_takes_too_long_is_refused(
    hundred: tuple[Instance, GrowthCertificate], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certify_growth.Costs, "least", None)
    with allowing(0.01), pytest.raises(TooCostlyError, match=r"checking takes up to .* steps"):
        certify(hundred[1], hundred[0])
