"""Schedules of many requests: feasible, as good as their parts promise, and the same every time."""

import itertools
from math import inf
from typing import Any

import numpy as np
import pytest
from clock import ClockOfThread, let_readings_take

from ratiolab.hindsight import solve, stages
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.compilation import compile_ahead
from ratiolab.hindsight.relaxation.ascent import Problem, ascend, fluid_duals
from ratiolab.hindsight.scale import beam, portfolio
from ratiolab.hindsight.scale.beam_state import Knobs
from ratiolab.hindsight.scale.portfolio import Portfolio, priced_use
from ratiolab.hindsight.schedules.annealing import decoded, largest, schedule_of
from ratiolab.hindsight.schedules.annealing_kernels import anneal
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, Schedule
from ratiolab.model.feasibility import require_feasible


def workload(n: int, rate: float = 0.5, seed: int = 3) -> Instance:
    rng = np.random.default_rng(seed)
    prompt = np.clip(np.exp(4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.0 + 1.1 * rng.standard_normal(n)), 1, 500).astype(np.int64)
    arrival = 7 + np.cumsum(rng.exponential(1 / rate, n))
    return Instance(f"{n} at {rate}", 5_000, arrival.astype(np.int64), prompt, output)


def order_by_beam(instance: Instance, width: int, bucket: int = 2, ahead: int = 64) -> np.ndarray:
    room = 0.97 * instance.memory
    fluid, bucket_width = fluid_duals(instance, room)
    duals, _ = ascend(Problem.of(instance, room), fluid[None, :], bucket_width, 40)
    prepared = beam.prepare(instance)
    setting = beam.Setting(0.6, 5.0, 20.0, 3, bucket)
    guide = beam.guide(prepared, duals[0], bucket_width, room, setting)
    order, _ = beam.run(prepared, guide, Knobs(bucket, 40, 20, ahead), width, 10 * 10**4)
    assert order is not None
    return order


@pytest.mark.parametrize("rate", [0.05, 0.5, 2.0])
def test_beams_find_feasible_schedules_and_better_ones_where_requests_wait(rate: float) -> None:
    instance = workload(300, rate)
    narrow, wide = (
        require_feasible(
            schedule_of(instance, order_by_beam(instance, width, ahead=3))
        ).total_latency
        for width in (1, 24)
    )
    if rate == 2.0:
        least = best_list_schedule(instance).total_latency
        assert wide < narrow < least


def test_all_at_once_and_long_silences_are_scheduled() -> None:
    at_once = workload(200)
    at_once = at_once.replace(arrival=np.zeros(200, np.int64))
    apart = workload(40).replace(arrival=np.arange(40) * 3_000 + 5)
    for instance in (at_once, apart):
        schedule = require_feasible(schedule_of(instance, order_by_beam(instance, 3, ahead=2)))
        assert schedule.total_latency <= best_list_schedule(instance).total_latency
    assert schedule.total_latency == apart.output.sum()


def test_the_use_that_guides_is_weighed_by_prices_from_the_first_arrival_on() -> None:
    instance = Instance("three", 30, [3, 4, 9], [4, 2, 1], [5, 3, 2])
    schedule = Schedule.from_starts(instance, [3, 5, 11])
    prices = np.array([3.0, 0.0, 1.0])  # of times 4 and 5, 6 and 7, 8 and 9
    # request 0 holds 5 to 9 tokens at 4 to 8, request 1 holds 3 to 5 at 6 to 8
    paid = 3 * (5 + 6) + 1 * (9 + 5)
    assert priced_use(schedule, prices, 2) == paid / (30 * (2 * 3 + 2 * 1))
    assert priced_use(schedule, np.zeros(3), 2) == 1


def test_a_large_request_waits_for_smaller_ones_that_arrive_later() -> None:
    """The first request leaves no room for others for 400 rounds, and twenty short ones come."""
    arrival = [0, *range(5, 205, 10)]
    instance = Instance("late", 1_000, arrival, [560, *[450] * 20], [400, *[9] * 20])
    for width, ahead in ((1, 100), (4, 20), (4, 200)):
        schedule = schedule_of(instance, order_by_beam(instance, width, 1, ahead=ahead))
        assert require_feasible(schedule).starts[0] > 190


@pytest.mark.parametrize("ahead", [1, 2, 5, 20])
def test_nobody_is_started_twice_though_few_arrivals_are_known(ahead: int) -> None:
    sparse = workload(120, 0.02)
    for width in (1, 2, 5):
        order = order_by_beam(sparse, width, 1, ahead=ahead)
        assert sorted(order.tolist()) == list(range(120))


def test_annealing_keeps_its_snapshots_right() -> None:
    instance = workload(250, 1.0)
    columns, known = decoded(instance, np.argsort(instance.volume, kind="stable"))
    before, new = known.total[-1], type(known)(*(column.copy() for column in known))
    best, bits = np.zeros(250, np.int64), np.array([7], np.uint64)
    for _ in range(20):
        anneal(columns, known, new, best, before, bits, largest(instance), 500, 10.0, (6, 4.0, 16))
        assert known.total[-1] == new.total[-1] == known.start.sum()
        for one, other in zip(known[:3], new[:3], strict=True):
            assert one.tolist() == other.tolist()
    held_back = Instance("held", 5_000, known.release, instance.prompt, instance.output)
    starts = np.empty(250, np.int64)
    starts[known.order] = known.start
    assert schedule_of(held_back, known.order).starts.tolist() == starts.tolist()


@pytest.mark.long
def test_without_a_time_limit_the_portfolio_finds_the_same_every_time() -> None:
    instance = workload(450, 1.5)
    found: list[list[int]] = [[], []]
    for told in found:
        known = best_list_schedule(instance)
        Portfolio(known, lambda schedule, told=told: told.append(schedule.total_latency)).run()
    assert found[0] == found[1]
    assert found[0][-1] < best_list_schedule(instance).total_latency
    assert solve(instance, time_limit=inf, threads=2).upper == found[0][-1]


@pytest.mark.long
def test_many_requests_are_solved_within_the_limit_with_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = workload(450, 1.5)
    compile_ahead(many=True)  # which reads the clock, too
    for threads in (1, 2):
        # else a thread that compiles for long finds its time used up by the other
        clock = let_readings_take(0.01, monkeypatch, ClockOfThread)
        result = solve(instance, time_limit=3, threads=threads)
        assert clock.readings * clock.step < 3 + 20 * clock.step
        require_feasible(result.schedule)
        assert isinstance(result.certificate, GrowthCertificate)
        assert certify(result.certificate, instance) == result.lower <= result.upper
        assert result.upper < best_list_schedule(instance).total_latency
        assert [stage.name for stage in result.stages] == ["bounds", "many requests"]


def test_a_memory_limit_narrows_the_beam_or_leaves_it_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_readings_take(0.01, monkeypatch)
    instance = workload(450, 1.5)
    assert solve(instance, time_limit=1, memory_limit=900).certified > 0
    assert "no beam" in solve(instance, time_limit=1, memory_limit=400).stages[-1].note


def test_a_portfolio_whose_time_is_over_begins_no_beam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beam, "run", lambda *given: pytest.fail("a beam began"))
    told: list[Schedule] = []
    assert Portfolio(best_list_schedule(workload(60)), told.append, seconds=1e-9).run()
    assert not told


def test_what_a_compiler_takes_does_not_count_as_the_speed_of_beams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = let_readings_take(0.001, monkeypatch)
    real, first = beam.run, itertools.count()

    def compiled_late(*given: Any) -> Any:
        if next(first) == 0:
            clock.readings += 10**7
        return real(*given)

    monkeypatch.setattr(beam, "run", compiled_late)
    search = Portfolio(best_list_schedule(workload(60)), lambda _: None, seconds=1e5)
    monkeypatch.setattr(search, "width_in", lambda part: 1)
    monkeypatch.setattr(portfolio, "annealed", lambda *given: None)
    search.run()
    assert search.seconds_of(1) < 100


def test_a_second_search_begins_when_the_bound_gets_no_higher(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_readings_take(0.03, monkeypatch)
    monkeypatch.setattr(stages, "growth_bounds", lambda *given: iter(()))
    monkeypatch.setattr(Portfolio, "run", lambda search: True)
    instance = workload(450, 1.5)
    assert solve(instance, time_limit=3).upper < best_list_schedule(instance).total_latency
