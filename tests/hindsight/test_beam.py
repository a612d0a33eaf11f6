"""The dynamic program: exact while nothing is left out, feasible and never worse in any case."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import least_latency, optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.dynamic_programming.beam import beam, widening_beam
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import Instance, require_feasible


def drawn(n: int) -> Instance:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 30 - s + 1)) for s in prompt]
    return Instance("drawn", 30, [0] * n, prompt, output)


@pytest.mark.parametrize("rounds", [0, 2])
def test_nothing_left_out_means_optimal(rounds: int) -> None:
    improved = 0
    for seed in range(80):
        instance = tiny(seed, most=6, longest=6)
        optimum = least_latency(instance)
        first = list_schedule(instance, np.arange(len(instance))[::-1])
        duals = cut_bound(instance, rounds=rounds).certificate.duals
        result = beam(instance, duals, first)
        assert result.exhausted
        assert require_feasible(result.schedule).total_latency == optimum, seed
        improved += first.total_latency > optimum
    assert improved > 20


def test_it_is_exact_under_any_prices_and_finds_a_known_optimum_unbeaten() -> None:
    for seed in range(60):
        instance = tiny(seed, most=6, longest=6)
        rng = np.random.default_rng(seed)
        good = cut_bound(instance, rounds=2).certificate.duals
        memory = tuple(int(price * rng.uniform(0, 2)) for price in good.memory)
        best = optimal_schedule(instance)
        result = beam(instance, replace(good, memory=memory), best)
        assert result.exhausted
        assert result.schedule is best


def test_equal_requests_are_interchangeable() -> None:
    for copies in range(2, 7):
        instance = Instance("equal", 6, [0] * copies, [1] * copies, [3] * copies)
        first = list_schedule(instance, np.arange(copies))
        result = beam(instance, cut_bound(instance, rounds=1).certificate.duals, first)
        assert result.exhausted
        assert result.schedule.total_latency == least_latency(instance)


def test_a_narrow_beam_says_that_it_left_something_out() -> None:
    instance = drawn(12)
    first = list_schedule(instance, np.argsort(instance.output, kind="stable"))
    duals = cut_bound(instance, rounds=3).certificate.duals
    narrow, wide = (beam(instance, duals, first, width=width) for width in (2, 20_000))
    assert not narrow.exhausted
    assert narrow.widest == 2
    assert wide.exhausted
    assert wide.schedule.total_latency <= narrow.schedule.total_latency <= first.total_latency


def test_widening_beams_end_with_a_proof_or_at_the_largest_width() -> None:
    instance = drawn(12)
    first = list_schedule(instance, np.argsort(instance.output, kind="stable"))
    duals = cut_bound(instance, rounds=3).certificate.duals
    exact = beam(instance, duals, first, width=20_000)
    result = widening_beam(instance, duals, first, width=20_000)
    assert result.exhausted
    assert result.schedule.total_latency == exact.schedule.total_latency
    assert not widening_beam(instance, duals, first, width=3).exhausted
    stopped = widening_beam(instance, duals, first, stop=lambda: True)
    assert not stopped.exhausted


def test_stopping_keeps_the_known_schedule_and_proves_nothing() -> None:
    instance = drawn(8)
    first = list_schedule(instance, np.argsort(instance.output, kind="stable"))
    result = beam(
        instance, cut_bound(instance, rounds=1).certificate.duals, first, stop=lambda: True
    )
    assert result.schedule is first
    assert not result.exhausted


def test_more_requests_than_a_word_has_bits_are_refused() -> None:
    instance = Instance("many", 4, [0] * 65, [1] * 65, [1] * 65)
    first = list_schedule(instance, np.arange(65))
    with pytest.raises(ValueError, match="65 requests"):
        beam(instance, cut_bound(instance, rounds=0).certificate.duals, first)
