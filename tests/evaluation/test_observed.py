"""What a log says of its own engine: the same requests, a clock that fits, or no ratio."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_logs import drawn

from ratiolab.evaluation.advice import figure
from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.observed import Judgement, judged, observed_service
from ratiolab.evaluation.result import Evaluation
from ratiolab.evaluation.service import METRICS, bound_of
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.report.evaluation_table import cells
from ratiolab.workloads.traces import Trace, instance_from_trace

CLOCK = BatchTime(fixed=0.02, prefill=0.0002, decode=0.0005, kv=0.000002)
MEAN = METRICS["mean"]


def served_log(n: int = 120, rate: float = 3.0) -> Trace:
    """A log of an engine that serves by FCFS under `CLOCK`."""
    trace = drawn(n, rate)
    instance = instance_from_trace(trace, memory=4000, rounds_per_second=10**6)
    frame = per_request(simulate(instance, make("fcfs"), preemption="recompute", clock=CLOCK))
    first = (frame["arrival"] + frame["ttft"]).to_numpy()
    return replace(trace, first=first, finish=frame["completion"].to_numpy())


def judge(log: Trace, clock: BatchTime = CLOCK) -> tuple[Judgement, Evaluation, Instance]:
    arrivals = "zero" if log.seconds is None else "trace"
    instance = instance_from_trace(log, memory=4000, rounds_per_second=1000, arrivals=arrivals)
    made = evaluate(
        instance,
        [make("fcfs")],
        clock=clock,
        observed=observed_service(log),
        comparable=log.seconds is not None,
        load=False,
    )
    return judged(log, instance, made), made, instance


def test_a_log_cut_at_its_end_is_compared_with_the_bound_of_the_requests_that_ended():
    log = served_log()
    last = np.quantile(log.finish, 0.7)
    log = log.take(np.flatnonzero(log.seconds <= last))
    latency = log.finish - log.seconds
    running = log.finish > last
    first = np.where(log.first > last, np.nan, log.first)
    cut = replace(log, first=first, finish=np.where(running, np.nan, log.finish))
    assert running.sum() > 5
    found, made, instance = judge(cut)
    short = np.flatnonzero(~running)
    bound = bound_of(MEAN, instance.take(short), CLOCK, "recompute")
    assert found.known == len(short)
    assert found.ratio == pytest.approx(latency[short].mean() / bound, rel=1e-3)
    assert found.ratio >= 1
    assert made.ratio(made.row("observed"), MEAN) == pytest.approx(found.ratio)
    assert bound != pytest.approx(made.bounds["mean"], rel=0.01)  # that of all requests
    assert found.simulated == pytest.approx(latency[short].mean(), rel=0.05)
    assert f"are of the other {len(short)}" in found.lines()[1]
    (rows,) = [rows for title, rows in cells(made).groups if title == "The log itself"]
    assert [row[0] for row in rows] == [f"observed ({len(short)} of {len(log)})", "bound on these"]
    assert rows[1][1] == figure(bound)
    assert float(rows[0][1]) >= float(rows[1][1])


def test_a_clock_that_describes_the_engine_gives_a_ratio_and_others_give_none():
    log = served_log()
    found, _, _ = judge(log)
    assert found.described is True
    assert found.ratio >= 1
    quick = replace(CLOCK, fixed=CLOCK.fixed / 3, decode=0, kv=0)
    for clock in (quick, replace(CLOCK, fixed=3 * CLOCK.fixed)):
        other, made, _ = judge(log, clock)
        assert other.described is False
        assert np.isnan(other.ratio)
        assert other.to_dict()["at_most_above_the_best"] is None
        assert "describe another server, and no ratio is given" in " ".join(other.lines())
        stripped = made.without_ratio_of_log()
        assert np.isnan(stripped.ratio(stripped.row("observed")))
        assert stripped.ratio(stripped.row("fcfs")) == made.ratio(made.row("fcfs"))


def test_where_only_latencies_are_known_an_idle_log_tells_whether_the_clock_fits():
    log = replace(served_log(40, 0.05), first=None)
    found, _, _ = judge(log)
    assert found.described is True
    slower, _, _ = judge(log, replace(CLOCK, fixed=0.05))
    assert slower.described is False
    busy, _, _ = judge(replace(served_log(120, 12.0), first=None))
    assert busy.described is None
    assert "whether the clock is that of the engine is not known" in busy.lines()[1]


def test_durations_without_arrivals_are_told_and_not_compared():
    log = served_log(40)
    bare = replace(
        log, seconds=None, first=log.first - log.seconds, finish=log.finish - log.seconds
    )
    found, made, _ = judge(bare)
    assert found.mean == pytest.approx((log.finish - log.seconds).mean())
    assert np.isnan(found.ratio)
    assert np.isnan(made.ratio(made.row("observed")))
    assert found.lines()[-1] == "Without arrival times the log is not compared with any schedule."
