"""No schedule is below a bound on any metric: all ways on tiny instances, policies on larger."""

import numpy as np
import pytest

from ratiolab.evaluation.service import METRICS, Service, Slo, bound_of, metric_of
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.workloads.generators import generate


@pytest.mark.parametrize("preemption", ["restart", "recompute", "swap", "pause"])
@pytest.mark.parametrize("key", ["fcfs", "svf", "rr"])
def test_no_policy_is_below_a_bound_on_any_metric(key, preemption):
    policy = make(key)
    if preemption not in policy.semantics:
        pytest.skip("not of these semantics")
    instance = generate("lmsys", 2, n=150, memory=3000, rate=0.02).replace(tick_seconds=0.001)
    slo = Slo(ttft=2, tpot=0.05)
    for clock in (LLAMA3_8B_A100, None):
        run = simulate(instance, policy, preemption=preemption, clock=clock)
        assert run.outcome == "complete"
        service = Service.of(run)
        for metric in (*METRICS.values(), metric_of("goodput", slo)):
            bound = bound_of(metric, instance, clock, preemption)
            assert metric.ratio(metric.value(service), bound) >= 1 - 1e-9, metric.key


def test_an_objective_counts_requests_within_all_its_limits():
    nan = float("nan")
    service = Service(np.array([1.0, 1, 9, 1]), np.array([1.0, 3, 1, 1]), np.array([nan, 1, 1, 9]))
    assert Slo(ttft=2, tpot=2, latency=2).met(service).tolist() == [True, False, False, False]
    assert metric_of("goodput", Slo.parse("ttft=2")).value(service) == 0.75
    with pytest.raises(ValueError, match="slo 'speed=1' must be"):
        Slo.parse("speed=1")
    with pytest.raises(ValueError, match="needs --slo"):
        metric_of("goodput", None)
