"""Schedules of many requests: feasible, as good as their parts promise, and the same every time."""

import numpy as np
import pytest
from clock import ClockOfThread, let_readings_take

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.compilation import compile_ahead
from ratiolab.hindsight.relaxation.ascent import Problem, ascend, fluid_duals
from ratiolab.hindsight.scale import beam
from ratiolab.hindsight.scale.beam_state import Knobs
from ratiolab.hindsight.schedules.annealing import schedule_of
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance
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


def test_a_large_request_waits_for_smaller_ones_that_arrive_later() -> None:
    """The first request leaves no room for others for 400 rounds, and twenty short ones come."""
    arrival = [0, *range(5, 205, 10)]
    instance = Instance("late", 1_000, arrival, [560, *[450] * 20], [400, *[9] * 20])
    for width, ahead in ((1, 100), (4, 20), (4, 200)):
        schedule = schedule_of(instance, order_by_beam(instance, width, 1, ahead=ahead))
        assert require_feasible(schedule).starts[0] > 190


@pytest.mark.long
def test_many_requests_are_solved_within_the_limit_with_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = workload(450, 1.5)
    compile_ahead("many")  # which reads the clock, too
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
