"""Bounds on MC-SF and on the optimum against brute force; the adversary against the optimum."""

import itertools
from fractions import Fraction

import pytest
from oracle import least_latency

from ratiolab.hindsight import solve
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.footprint import volume
from ratiolab.online import make, simulate
from ratiolab.papers.jaillet2025 import late_rush
from ratiolab.papers.jaillet2025.finish_program import finish_plan
from ratiolab.papers.jaillet2025.volume_bound import volume_lower_bound
from ratiolab.papers.ours.price_bound import price_bound, volume_prices
from ratiolab.theory.worst_case import equal_prompts


def _small() -> list[tuple[int, tuple[int, ...], int]]:
    return [
        (prompt, outputs, memory)
        for size in range(1, 5)
        for outputs in itertools.combinations_with_replacement(range(1, 5), size)
        for prompt in (0, 2)
        for memory in (prompt + outputs[-1], 2 * (prompt + outputs[-1]) + 1)
    ]


def test_mc_sf_and_optimum_lie_within_their_bounds_on_all_small_instances() -> None:
    for prompt, outputs, memory in _small():
        n = len(outputs)
        instance = Instance("small", memory, [0] * n, [prompt] * n, outputs)
        schedule = simulate(instance, make("mc-sf")).schedule
        starts = equal_prompts.start_bounds(prompt, outputs, memory)
        assert all(p <= bound for p, bound in zip(schedule.starts.tolist(), starts, strict=True))
        assert schedule.total_latency <= equal_prompts.mc_sf_bound(prompt, outputs, memory)
        optimum = least_latency(instance)
        plan = finish_plan(prompt, outputs, memory)
        assert plan.dual == plan.value <= optimum
        assert volume_lower_bound(prompt, outputs, memory) <= optimum
        assert equal_prompts.linear_bound(equal_prompts.LOWER, prompt, outputs, memory) <= optimum


def test_pair_volume_is_the_double_sum_of_its_definition() -> None:
    outputs = [3, 1, 4, 1, 5, 3]
    pairs = [(a, b) for a in outputs for b in outputs if b <= a]
    assert equal_prompts.pair_volume(2, outputs) == sum(volume(2, b) for _, b in pairs)


@pytest.mark.parametrize(("together", "gap", "batches"), [(2, 1, 4), (3, 2, 5), (5, 1, 3)])
def test_staggered_starts_are_feasible_and_mc_sf_serves_in_batches(
    together: int, gap: int, batches: int
) -> None:
    case = equal_prompts.staggered(together, gap, batches)
    n = case.requests
    instance = Instance("equal", case.memory, [0] * n, [0] * n, [case.output] * n)
    schedule = require_feasible(Schedule.from_starts(instance, [gap * i for i in range(n)]))
    assert schedule.total_latency == case.better
    assert simulate(instance, make("mc-sf")).total_latency == case.mc_sf


def test_the_ratio_bound_is_seven_thirds_and_grows_with_the_square_of_the_error() -> None:
    assert equal_prompts.ratio_bound() == Fraction(7, 3)
    assert equal_prompts.ratio_bound(Fraction(5)) == 50
    root = Fraction(49, 40)  # just above sqrt(3/2), where both branches are 3
    assert equal_prompts.ratio_bound(root) == 2 * root**2
    with pytest.raises(ValueError, match="stretch 1/2 must be at least 1"):
        equal_prompts.ratio_bound(Fraction(1, 2))


def test_the_last_step_of_the_induction_never_fails() -> None:
    """m a (2s + a + 1) - (a - b)(m (s + a) + s + b) is at least a + 2bs + b^2 > 0."""
    for m, a, s in itertools.product(range(1, 6), range(1, 12), range(12)):
        for b in range(a):
            gap = m * a * (2 * s + a + 1) - (a - b) * (m * (s + a) + s + b)
            assert gap >= a + 2 * b * s + b * b > 0
            # with one less for the volume of each blocker it would fail
    assert 1 * (1 * 2 - 1) - (1 - 0) * (1 * 1 + 0) == 0


def test_the_bound_on_the_optimum_is_between_the_simple_one_and_the_optimum() -> None:
    for prompt, outputs, memory in _small():
        n = len(outputs)
        optimum = least_latency(Instance("small", memory, [0] * n, [prompt] * n, outputs))
        bound = equal_prompts.optimum_bound(prompt, outputs, memory)
        # A counts equal lengths twice, P and V once each: A/2 <= P + V/2
        assert volume_lower_bound(prompt, outputs, memory) <= bound <= optimum


def test_what_prices_prove_is_between_own_latencies_and_the_optimum() -> None:
    for prompt, outputs, memory in _small():
        n = len(outputs)
        optimum = least_latency(Instance("small", memory, [0] * n, [prompt] * n, outputs))
        assert sum(outputs) <= price_bound(prompt, outputs, memory) <= optimum
    # by hand: volumes 3 and 10 in a memory of 4 end at 3/4 and 13/4; prices are integrals of 1/vol
    assert volume_prices(0, (2, 4), 4) == [
        Fraction(1, 4) / 3 + Fraction(10, 4) / 10,
        Fraction(7, 40),
        Fraction(3, 40),
    ]


@pytest.mark.parametrize(("n", "length"), [(2, 5), (4, 200), (6, 9)])
def test_one_long_request_first_costs_order_n(n: int, length: int) -> None:
    case = equal_prompts.long_first(n, length)
    instance = Instance("long", case.memory, case.arrivals, [case.prompt] * n, case.outputs)
    assert simulate(instance, make("mc-sf")).total_latency == case.mc_sf
    better = require_feasible(Schedule.from_starts(instance, [n, *range(1, n)]))
    assert better.total_latency == case.better
    if length < 10:
        assert least_latency(instance) <= case.better


def test_a_class_is_one_power_of_two() -> None:
    with pytest.raises(ValueError, match=r"outputs \[3, 4\] must lie in one class"):
        equal_prompts.class_bound(equal_prompts.CLASS, 0, [3, 4], 9)


@pytest.mark.parametrize(
    "rush",
    [
        late_rush.LateRush(8, 1, 4, 3),
        late_rush.LateRush(9, 2, 5, 4),
        late_rush.LateRush(7, 0, 6, 3),
        late_rush.LateRush(10, 1, 7, 6),
    ],
)
def test_the_optimum_of_a_late_rush_is_that_of_the_solver(rush: late_rush.LateRush) -> None:
    for start in range(rush.delay + 2):
        result = solve(rush.instance(start))
        assert result.is_exact
        assert result.upper == rush.optimum(rush.release(start))
    # MC-SF starts the long request at once and then fills every round
    mc_sf = simulate(rush.instance(0), make("mc-sf"))
    assert mc_sf.total_latency == rush.latency(0, rush.release(0))


def test_starts_after_the_delay_are_no_better_than_at_the_delay() -> None:
    rush = late_rush.sharper(2, 1)
    late = [rush.ratio(start) for start in range(rush.delay, rush.delay + 6)]
    assert late == sorted(late)


@pytest.mark.parametrize(("h", "i"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_the_sharper_family_forces_its_constant(h: int, i: int) -> None:
    rush = late_rush.sharper(h, i)
    assert rush.requests - 1 == (2 * h * i) ** 2
    assert rush.forced() >= Fraction(4 * h, 3 * (4 * h + 1)) * 2 * h * i
