"""Windows keep every optimal schedule; the arrays are the paper's program, entry by entry."""

from itertools import product

import numpy as np
import pytest
from oracle import least_latency, optimal_schedule
from scipy.sparse import csc_array

from ratiolab.hindsight.horizon import last_starts, serial_horizon
from ratiolab.hindsight.programs.timeindexed import Program, build
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, Schedule, violations


def tiny(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    return Instance(f"tiny {seed}", 5, rng.integers(0, 7, n), prompt, output)


def optima(instance: Instance) -> list[Schedule]:
    """Every optimal schedule, by enumeration over twice the time that one after another takes."""
    optimum = least_latency(instance)
    spare = optimum - int(instance.output.sum())
    starts = product(*(range(a, a + spare + 1) for a in instance.arrival.tolist()))
    found = [Schedule.from_starts(instance, s) for s in starts if sum(s) == _total(instance, spare)]
    return [s for s in found if s.total_latency == optimum and not violations(s)]


def _total(instance: Instance, spare: int) -> int:
    return int(instance.arrival.sum()) + spare


@pytest.mark.parametrize("seed", range(60))
def test_no_optimal_schedule_leaves_its_windows(seed: int) -> None:
    instance = tiny(seed)
    all_optima = optima(instance)
    assert all_optima
    for upper in (all_optima[0].total_latency, best_list_schedule(instance).total_latency):
        last = last_starts(instance, upper)
        for schedule in all_optima:
            assert (schedule.starts <= last).all()
            assert schedule.makespan <= serial_horizon(instance)


def test_an_upper_bound_that_no_schedule_has_is_refused() -> None:
    with pytest.raises(ValueError, match="upper 1 is below the latency of every schedule"):
        last_starts(Instance("two", 9, [0, 0], [1, 1], [3, 4]), upper=1)


def random_instance(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    return Instance(f"random {seed}", 5, rng.integers(0, 3, n), prompt, output)


def matrix(program: Program) -> np.ndarray:
    shape = program.shape
    return csc_array((program.values, program.indices, program.indptr), shape=shape).toarray()


def satisfied(program: Program, counts: np.ndarray) -> bool:
    activity = matrix(program) @ counts
    within = (program.row_lower <= activity) & (activity <= program.row_upper)
    return bool(within.all() and (counts <= program.upper).all() and (counts >= 0).all())


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_solutions_of_the_full_program_are_the_feasible_schedules(seed: int, merge: bool) -> None:
    instance = random_instance(seed)
    last = instance.arrival + 4
    program = build(instance, last, merge=merge)
    assert not program.deferred.any()
    for starts in product(*(range(a, a + 5) for a in instance.arrival.tolist())):
        schedule = Schedule.from_starts(instance, starts)
        counts = program.counts(schedule.starts)
        assert satisfied(program, counts) == (not violations(schedule))
        assert program.cost @ counts == schedule.total_latency
        again = Schedule.from_starts(instance, program.starts(counts))
        assert again.total_latency == schedule.total_latency
        assert (not violations(again)) == (not violations(schedule))


@pytest.mark.parametrize("horizon", range(7))
def test_every_schedule_maps_into_the_tail_relaxation_at_no_more_cost(horizon: int) -> None:
    for seed in range(15):
        instance = random_instance(seed)
        last = instance.arrival + 9
        program = build(instance, last, horizon)
        best = optimal_schedule(instance)
        assert (best.starts <= last).all()
        counts = program.counts(best.starts)
        assert satisfied(program, counts)
        assert program.cost @ counts <= best.total_latency


def test_equal_requests_share_columns() -> None:
    equal = Instance("equal", 6, [0, 1, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2])
    program = build(equal, [4, 4, 4, 4])
    assert sorted(program.upper.tolist()) == [1] * 4 + [3] * 5
    # columns 5 for the class at arrival 0, 4 for the one at arrival 1; times 1..6 and two classes
    assert program.shape == (2 + 6, 5 + 4)


def test_windows_that_end_before_the_arrival_are_refused() -> None:
    with pytest.raises(ValueError, match="none before its arrival"):
        build(Instance("late", 5, [4], [1], [1]), [3])
