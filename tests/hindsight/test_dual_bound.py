"""Duals of memory prove lower bounds: any duals, exactly; good duals, good bounds."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import least_latency
from scipy.optimize import linprog
from scipy.sparse import coo_array
from tiny_instances import tiny

from ratiolab.hindsight import OptResult, bracket, solve
from ratiolab.hindsight.bounds import best_lower_bound, mean_busy_time
from ratiolab.hindsight.relaxation.ascent import Problem, fluid_duals
from ratiolab.hindsight.relaxation.growth import dual_bound, exact_value, rounded
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.model import Instance

MEMORY = 5_000


def log_normal(n: int, rate: float, seed: int = 7) -> Instance:
    """Requests with long tails: mean prompt about 40 and mean output about 85, each up to 2,000."""
    rng = np.random.default_rng(seed)
    prompt = np.clip(np.exp(2.4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.8 + 1.1 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    arrival = np.zeros(n) if not rate else np.cumsum(rng.exponential(1 / rate, n))
    return Instance(f"{n} at {rate}", MEMORY, arrival.astype(np.int64), prompt, output)


def by_definition(instance: Instance, token: list[int], unit: int, width: int) -> int:
    """The bound summed time by time, trying every start."""
    origin, end = int(instance.arrival.min()), width * len(token)
    price = [0, *np.repeat(token, width).tolist(), *[0] * 100]
    return -instance.memory * sum(price) + sum(
        min(
            unit * (p + o + origin - a) + sum(price[p + g] * (s + g) for g in range(1, o + 1))
            for p in range(a - origin, max(end, a - origin) + 1)
        )
        for a, s, o in instance.requests
    )


@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 4),
    unit=st.integers(1, 12),
    token=st.lists(st.integers(0, 12), min_size=1, max_size=12),
)
@settings(max_examples=300, deadline=None)
def test_any_prices_prove_a_bound_and_pricing_is_exact(
    seed: int, width: int, unit: int, token: list[int]
) -> None:
    instance = tiny(seed, most=4)
    value = exact_value(instance, np.array([token]), unit, width)
    assert value == by_definition(instance, token, unit, width)
    assert Fraction(value, unit) <= least_latency(instance)


@pytest.mark.parametrize("steps", [0, 60])
def test_the_bound_never_exceeds_the_optimum(steps: int) -> None:
    for seed in range(200):
        instance = tiny(seed, most=6)
        optimum = least_latency(instance)
        assert dual_bound(instance, optimum, steps=steps).bound <= optimum, seed


def test_pricing_by_hand() -> None:
    # M = 2, two requests with s = o = 1, price x at time 1 and none later. Start 0 costs
    # 1 + 2x, start 1 costs 2. x = 1/2: both cost 2, so 4 - 2/2 = 3, the optimum 1 + 2.
    two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    assert [exact_value(two, np.array([[x]]), 4, 1) for x in (2, 1, 8)] == [12, 10, 0]


@pytest.mark.parametrize("width", [1, 3, 7])
def test_pricing_in_buckets_is_pricing_time_by_time(width: int) -> None:
    rng = np.random.default_rng(width)
    for _ in range(20):
        instance = log_normal(30, 0.2, int(rng.integers(10**6)))
        token = (rng.integers(0, 40, 200) * (rng.random(200) < 0.7))[None, :]
        fine = np.repeat(token, width, axis=1)
        assert exact_value(instance, token, 2**12, width) == exact_value(instance, fine, 2**12, 1)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.6])
def test_the_ascent_beats_the_cheap_bounds_and_stays_below_a_schedule(rate: float) -> None:
    instance = log_normal(800, rate)
    upper = best_list_schedule(instance).total_latency
    start = dual_bound(instance, upper, steps=0).bound
    climbed = dual_bound(instance, upper, steps=60).bound
    assert mean_busy_time(instance).value < start <= climbed <= upper
    assert best_lower_bound(instance).value < climbed


def linear_relaxation(instance: Instance) -> float:
    """The optimum over requests started in parts, by a solver."""
    starts, entries = [], []
    horizon = int(instance.arrival.max() + instance.output.sum())
    for i, (a, _, o) in enumerate(instance.requests):
        starts += [(i, p, p + o - a) for p in range(a, horizon - o + 1)]
    for column, (i, p, _) in enumerate(starts):
        s, o = int(instance.prompt[i]), int(instance.output[i])
        entries += [(p + g - 1, column, s + g) for g in range(1, o + 1)]
    row, column, tokens = np.array(entries).T
    memory = coo_array((tokens, (row, column)), shape=(horizon, len(starts))).tocsr()
    who, _, cost = np.array(starts).T
    once = coo_array((np.ones(len(who)), (who, np.arange(len(who))))).tocsr()
    answer = linprog(
        cost,
        A_ub=memory,
        b_ub=np.full(horizon, instance.memory),
        A_eq=once,
        b_eq=np.ones(len(instance)),
    )
    assert answer.success
    return float(answer.fun)


@pytest.mark.parametrize("seed", range(4))
def test_the_ascent_reaches_the_linear_relaxation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prompt, output = rng.integers(1, 20, 25), rng.integers(1, 9, 25)
    instance = Instance("small", 60, rng.integers(0, 15, 25), prompt, output)
    limit = linear_relaxation(instance)
    bound = dual_bound(instance, 10**6).bound
    assert 0.98 * limit <= bound <= math.ceil(limit - 1e-6)


def test_overload_needs_prices() -> None:
    # twice as much arrives as memory serves: mean busy times let large requests run in the gaps
    # of small ones, starts do not
    instance = log_normal(800, 0.6)
    upper = best_list_schedule(instance).total_latency
    assert best_lower_bound(instance).value < 0.95 * dual_bound(instance, upper).bound


def test_a_known_optimum_ends_the_ascent() -> None:
    # M = 2 and s = o = 1: one a round, 1 + ... + 10
    equal = Instance("equal", 2, [0] * 10, [1] * 10, [1] * 10)
    assert dual_bound(equal, 55).bound == 55


def test_shifting_all_arrivals_changes_nothing() -> None:
    for seed in range(20):
        instance = tiny(seed, most=6)
        later = instance.replace(arrival=instance.arrival + 10**6)
        first = dual_bound(instance, 10**9, steps=30)
        assert dual_bound(later, 10**9, steps=30).bound == first.bound


def test_the_largest_numbers_stay_exact() -> None:
    # duals reach 2^21 rounds only, and their unit grows until 64 bits hold everything
    huge = 10**9
    one = Instance("huge", huge, [0, huge], [0, 0], [huge, huge])
    assert 2 * huge <= dual_bound(one, 3 * huge, steps=0).bound <= 3 * huge
    many = Instance("many", huge, [0] * 50, [huge // 2] * 50, [10] * 50)
    # two never fit together: 10 + 20 + ... + 500
    assert 500 <= dual_bound(many, 12_750, steps=20).bound <= 12_750


def test_prices_are_rounded_down() -> None:
    instance = log_normal(50, 0)
    duals, width = fluid_duals(instance, instance.memory)
    whole, unit = rounded(duals[None, :], Problem.of(instance, instance.memory), width * len(duals))
    assert (whole[0] <= duals * unit).all()
    assert (whole[0] + 1 > duals * unit).all()


def test_false_prices_are_refused() -> None:
    instance = tiny(1, most=6)
    with pytest.raises(ValueError, match="at least 0"):
        exact_value(instance, np.array([[-1]]), 1, 1)
    with pytest.raises(OverflowError):
        exact_value(instance, np.array([[2**61]]), 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("door", [bracket, partial(solve, method="cuts")])
def test_instances_without_a_program_get_this_bound(door: Callable[..., OptResult]) -> None:
    instance = log_normal(MOST_REQUESTS + 1, 0.6)
    result = door(instance, steps=1_000)
    assert result.lower_source == "lagrangian"
    assert best_lower_bound(instance).value < result.lower <= result.upper
    assert result.lower == dual_bound(instance, result.upper).bound
