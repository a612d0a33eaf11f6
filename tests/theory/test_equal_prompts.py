"""Bounds on MC-SF and on the optimum against brute force; the adversary against the optimum."""

import itertools
from fractions import Fraction

import pytest
from oracle import least_latency

from ratiolab.hindsight import solve
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.online import make, simulate
from ratiolab.papers.jaillet2025 import late_rush
from ratiolab.papers.jaillet2025.finish_program import finish_plan
from ratiolab.papers.jaillet2025.volume_bound import volume_lower_bound
from ratiolab.papers.ours.price_bound import price_bound, volume_prices
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.limits.printed_a_min import (
    first_start_throughput,
    first_starts_bound,
    ratio_lower_bound,
)
from ratiolab.theory.worst_case import equal_prompts


def _small() -> list[tuple[int, tuple[int, ...], int]]:
    return [
        (prompt, outputs, memory)
        for size in range(1, 5)
        for outputs in itertools.combinations_with_replacement(range(1, 5), size)
        for prompt in (0, 2)
        for memory in (prompt + outputs[-1], 2 * (prompt + outputs[-1]) + 1)
    ]


def test_mc_sf_and_optimum_lie_within_their_bounds_on_all_small_instances():
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


@pytest.mark.parametrize(("together", "gap", "batches"), [(2, 1, 4), (3, 2, 5), (5, 1, 3)])
def test_staggered_starts_are_feasible_and_mc_sf_serves_in_batches(together, gap, batches):
    case = equal_prompts.staggered(together, gap, batches)
    n = case.requests
    instance = Instance("equal", case.memory, [0] * n, [0] * n, [case.output] * n)
    schedule = require_feasible(Schedule.from_starts(instance, [gap * i for i in range(n)]))
    assert schedule.total_latency == case.better
    assert simulate(instance, make("mc-sf")).total_latency == case.mc_sf


def test_the_ratio_bound_is_seven_thirds_and_grows_with_the_square_of_the_error():
    assert equal_prompts.ratio_bound() == Fraction(7, 3)
    assert equal_prompts.ratio_bound(Fraction(5)) == 50
    root = Fraction(49, 40)  # just above sqrt(3/2), where both branches are 3
    assert equal_prompts.ratio_bound(root) == 2 * root**2
    with pytest.raises(ValueError, match="stretch 1/2 must be at least 1"):
        equal_prompts.ratio_bound(Fraction(1, 2))


def test_the_bound_on_the_optimum_is_between_the_simple_one_and_the_optimum():
    for prompt, outputs, memory in _small():
        n = len(outputs)
        optimum = least_latency(Instance("small", memory, [0] * n, [prompt] * n, outputs))
        bound = equal_prompts.optimum_bound(prompt, outputs, memory)
        # A counts equal lengths twice, P and V once each: A/2 <= P + V/2
        assert volume_lower_bound(prompt, outputs, memory) <= bound <= optimum


def test_what_prices_prove_is_between_own_latencies_and_the_optimum():
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


@pytest.mark.parametrize(
    "rush",
    [
        late_rush.LateRush(8, 1, 4, 3),
        late_rush.LateRush(9, 2, 5, 4),
        late_rush.LateRush(7, 0, 6, 3),
        late_rush.LateRush(10, 1, 7, 6),
    ],
)
def test_the_optimum_of_a_late_rush_is_that_of_the_solver(rush):
    for start in range(rush.delay + 2):
        result = solve(rush.instance(start))
        assert result.is_exact
        assert result.upper == rush.optimum(rush.release(start))
    # MC-SF starts the long request at once and then fills every round
    mc_sf = simulate(rush.instance(0), make("mc-sf"))
    assert mc_sf.total_latency == rush.latency(0, rush.release(0))


@pytest.mark.long
@pytest.mark.parametrize(("upper", "share"), [(4, Fraction(1, 5)), (8, Fraction(3, 40))])
def test_first_starts_of_the_simulated_policy_follow_the_recursion(upper, share):
    memory = 1600
    n = 20 * memory
    long = int(n * share)
    outputs = [1] * (n - long) + [upper] * long
    instance = Instance("two", memory, [0] * n, [0] * n, outputs, lower=[1] * n)
    schedule = simulate(instance, make("a-min")).schedule
    first = [10**9] * n
    for run in schedule.runs:
        first[run.request] = min(first[run.request], run.start)
    half = sorted(first)[n // 2]
    started = sum(start < half for start in first)
    simulated = started / half / memory
    assert simulated == pytest.approx(first_start_throughput(upper, float(share), half), rel=0.02)


@pytest.mark.parametrize("arguments", [(1, 0.5, 9), (3, 0.0, 9), (3, 1.0, 9), (3, 0.5, 0)])
def test_what_leaves_the_model_is_refused(arguments):
    with pytest.raises(ValueError, match=r"upper|share_upper|rounds"):
        first_start_throughput(*arguments)


def test_one_round_of_the_proof_keeps_the_energy_and_lowers_the_potential():
    """Exact, in squares: N1 = N + p nu, E(nu - N1, N1) = E(nu, N); another form is not kept."""

    def square(p, nu, number, mixed):
        return number**2 + mixed * p * number * nu + p * nu**2

    for p in (Fraction(1, 2), Fraction(1, 9), Fraction(3, 400)):
        for nu, number in [
            (Fraction(a, 7), Fraction(b, 11)) for a in range(1, 8) for b in range(9)
        ]:
            after = number + p * nu
            assert square(p, nu - after, after, 1) == square(p, nu, number, 1)
            if number:
                assert square(p, nu - after, after, 0) != square(p, nu, number, 0)
            # the slopes: 0 <= dE/dnu <= sqrt(p) and dE/dN <= 1, squared
            energy = square(p, nu, number, 1)
            assert (p * number + 2 * p * nu) ** 2 <= 4 * p * energy
            assert (2 * number + p * nu) ** 2 <= 4 * energy


@pytest.mark.parametrize("upper", [2, 3, 10, 50, 300])
@pytest.mark.parametrize("scale", [0.05, 0.5, 0.99])
def test_first_starts_stay_below_the_proved_bound_and_not_far_below(upper, scale):
    share = scale / upper
    for rounds in (1, upper, 7 * upper):
        starts = first_start_throughput(upper, share, rounds) * rounds
        assert starts <= first_starts_bound(upper, share, rounds)
    # a bound an eighth as large would be wrong, unless hardly any request is long
    assert scale < 0.5 or starts > first_starts_bound(upper, share, rounds) / 8


def test_the_denominator_is_that_of_h_sf():
    theta = first_start_throughput(6, 0.1, 240)
    base = float(shortest_first_latency(two_point(1, 6, Fraction(1, 10))))
    assert ratio_lower_bound(6, 0.1) == pytest.approx(1 / theta / base, rel=1e-12)
