"""Figures of runs, worked out by hand, and identities that hold for every run."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.online import Decision, Information, Policy, make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import intervals, over_time, per_request, summary

TWO = Instance("two", 5, [0, 0], [1, 1], [3, 3])
"""Under fcfs both start at round 0; request 1 leaves at round 1 and returns at round 3."""


def test_two_requests_by_hand_in_rounds():
    frame = per_request(simulate(TWO, make("fcfs")))
    assert set(frame["unit"]) == {"rounds"}
    assert frame["latency"].tolist() == [3, 6]
    assert frame["ttft"].tolist() == [1, 1]
    assert frame["tpot"].tolist() == [(3 - 1) / 2, (6 - 1) / 2]
    assert frame["per_token"].tolist() == [1, 2]
    assert frame["waiting"].tolist() == [0, 2]
    assert frame["slowdown"].tolist() == [1, 2]
    assert frame["evictions"].tolist() == [0, 1]
    assert frame["wasted_tokens"].tolist() == [0, 1]
    figures = summary(simulate(TWO, make("fcfs")))
    assert figures["total_latency"] == 9
    assert figures["makespan"] == 6
    assert figures["throughput"] == 6 / 6
    assert figures["mean_latency"] == figures["median_latency"] == 4.5
    assert figures["p90_latency"] == pytest.approx(3 + 0.9 * 3)
    assert figures["p99_latency"] == pytest.approx(3 + 0.99 * 3)
    # 2 + 2; then 3, 4 for request 0; then 2, 3, 4 for request 1
    assert figures["mean_memory"] == pytest.approx((4 + 3 + 4 + 2 + 3 + 4) / 6)
    assert figures["peak_memory"] == 4
    assert figures["starvation"] == 2
    assert (figures["evictions"], figures["wasted_tokens"]) == (1, 1)
    assert figures["prefill_tokens"] == 1 + 1 + 1
    assert figures["fairness"] == pytest.approx((1 + 1 / 2) ** 2 / (2 * (1 + 1 / 4)))
    assert figures["completed"] == 1


def test_two_requests_by_hand_in_seconds():
    # Boundaries 1, 3, 4.625, 8.375, see the test of the clock; request 1 arrives at 4.
    clock = BatchTime(1, 0.5, 0.25, 0.125, tick=1)
    two = Instance("two", 20, [1, 4], [2, 4], [3, 1])
    simulation = simulate(two, make("fcfs"), clock=clock)
    frame = per_request(simulation)
    assert set(frame["unit"]) == {"seconds"}
    assert frame["arrival"].tolist() == [1, 4]
    assert frame["completion"].tolist() == [8.375, 8.375]
    assert frame["latency"].tolist() == [7.375, 4.375]
    assert frame["ttft"].tolist() == [2, 4.375]
    assert frame["tpot"][0] == (8.375 - 3) / 2
    assert math.isnan(frame["tpot"][1])
    assert frame["waiting"].tolist() == [0, 0.625]
    # alone: 1 + 2 * 0.5, then two batches that decode and read 3 and 4
    assert frame["slowdown"].tolist() == [7.375 / (2 + 1.25 * 2 + 0.125 * 7), 4.375 / 3]
    assert summary(simulation)["throughput"] == 4 / 7.375
    assert summary(simulation)["mean_memory"] == pytest.approx(
        (3 * 2 + 4 * 1.625 + (5 + 5) * 3.75) / 7.375
    )


CLOCKS = [None, BatchTime(0.5, 0.1, 0.05, 0.01, tick=0.4)]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("preemption", ["restart", "recompute", "swap"])
def test_averages_over_time_sum_to_the_figures_of_the_requests(clock, preemption):
    for seed in range(8):
        simulation = simulate(drawn(seed), make("sjf"), preemption=preemption, clock=clock)
        frame, schedule = per_request(simulation), simulation.schedule
        time = over_time(simulation, bins=7)
        span = time["end"] - time["begin"]
        figures = summary(simulation)
        produced = (schedule.stop - schedule.start).sum()
        assert (time["throughput"] * span).sum() == pytest.approx(produced)
        times = simulation.times
        delivered = frame["arrival"] if clock is None else times[schedule.instance.arrival]
        latency = (frame["completion"] - delivered).sum()
        present = time["running"] + time["waiting"]
        assert (present * span).sum() == pytest.approx(latency)
        mean = (time["memory"] * span).sum() / span.sum()
        assert mean == pytest.approx(figures["mean_memory"])
        assert (frame["latency"] >= frame["ttft"] - 1e-12).all()
        assert (frame["waiting"] > -1e-12).all()
        assert frame["wasted_tokens"].sum() == schedule.wasted_tokens
        assert frame["evictions"].sum() == schedule.evictions
        if clock is None:
            assert frame["latency"].tolist() == schedule.latency.tolist()
            assert frame["ttft"].tolist() == schedule.ttft.tolist()
            assert figures["total_latency"] == simulation.total_latency


def test_a_run_that_loops_has_no_times_and_still_its_evictions():
    instance = Instance("short", 4, [0, 0, 20], [0, 0, 3], [3, 3, 1], predicted=[1, 1, 1])
    simulation = simulate(instance, make("mc-sf", {"lengths": "predicted"}))
    figures = summary(simulation)
    assert math.isnan(figures["mean_latency"])
    assert math.isnan(figures["fairness"])
    assert figures["completed"] == pytest.approx(1 / 3)
    assert figures["evictions"] == simulation.schedule.evictions > 0
    assert per_request(simulation)["completion"].isna().tolist() == [True, True, False]


def test_a_run_in_which_nothing_ended_has_figures_and_no_time_to_show():
    """Request 0 holds 4 tokens when patience ends, and nobody has completed."""
    instance = Instance("endless", 40, [0], [0], [30])
    stalled = simulate(instance, Asked(), patience=3)
    assert stalled.outcome == "stalled"
    figures = summary(stalled)
    assert figures["completed"] == figures["evictions"] == figures["mean_memory"] == 0
    assert math.isnan(figures["throughput"])
    assert per_request(stalled)["ttft"].isna().all()
    with pytest.raises(ValueError, match="endless: no run has ended"):
        over_time(stalled)


@dataclass(frozen=True)
class Asked(Policy):
    """Starts everybody and is asked in every round."""

    name: ClassVar[str] = "asked"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting, rng):
        return lambda view: Decision(admit=list(view.waiting))


def test_intervals_cover_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(1)
    values = rng.normal(10, 2, (300, 30))
    frame = pd.DataFrame({"case": np.repeat(np.arange(300), 30), "x": values.ravel()})
    found = intervals(frame, ["case"], resamples=400)
    covered = ((found["low"] <= 10) & (found["high"] >= 10)).mean()
    assert 0.88 < covered < 0.98
    assert found["mean"].to_numpy() == pytest.approx(values.mean(axis=1))
    assert found.equals(intervals(frame, ["case"], resamples=400))
