"""No schedule is below a bound on any metric: all ways on tiny instances, policies on larger."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from ratiolab.evaluation.service import METRICS, Service, Slo, bound_of, metric_of
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA3_8B_A100, BatchTime
from ratiolab.ratio.clock_bound import clock_lower_bound, ttft_lower_bound
from ratiolab.workloads.generators import generate

CLOCKS = (
    BatchTime(fixed=1, tick=1),
    BatchTime(fixed=0.25, prefill=0.125, decode=1, kv=0.5, swap=0.25, tick=1),
    BatchTime(fixed=0.125, prefill=0.5, decode=0.25, kv=0.125, swap=2, tick=1),
)


def least(instance, clock, preemption, *, first=False):
    """The least total completion (or first-token) time, over all ways to choose each batch.

    All requests arrive at 0. A request in a batch makes one token; it prefills what it holds unless
    it was in the batch before. Evicted requests keep their tokens (recompute) or lose them.
    """
    n = len(instance)
    prompt, output = instance.prompt.tolist(), instance.output.tolist()

    @cache
    def rest(made, inside, seen, left):
        """Least total of what is still to come, in seconds from now, for all that is unfinished."""
        open_ = [i for i in range(n) if (i not in seen if first else made[i] < output[i])]
        if not open_:
            return 0.0
        if left == 0:
            return float("inf")
        best = float("inf")
        ready = [i for i in range(n) if made[i] < output[i]]
        for size in range(1, len(ready) + 1):
            for batch in combinations(ready, size):
                kept = {
                    i: made[i] if i in inside or preemption == "recompute" else 0 for i in batch
                }
                if sum(prompt[i] + kept[i] + 1 for i in batch) > instance.memory:
                    continue
                took = clock.fixed
                for i in batch:
                    held = prompt[i] + kept[i]
                    took += clock.decode + clock.kv * held if i in inside else clock.prefill * held
                now = tuple(kept[i] + 1 if i in batch else made[i] for i in range(n))
                running = frozenset(i for i in batch if now[i] < output[i])
                later = rest(now, running, seen | set(batch), left - 1)
                best = min(best, took * len(open_) + later)
        return best

    total: float = rest((0,) * n, frozenset(), frozenset(), 2 * sum(output))
    return total


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
@pytest.mark.parametrize("clock", CLOCKS, ids=["rounds", "slow decoding", "slow prefill"])
def test_no_way_to_batch_tiny_instances_is_below_the_bounds(clock, preemption):
    rng = np.random.default_rng(5)
    tightest = 0.0
    for _ in range(6):
        prompt = rng.integers(0, 3, 3)
        instance = Instance("tiny", 6, [0] * 3, prompt, rng.integers(1, 4, 3))
        bound, best = (f(instance, clock, preemption) for f in (clock_lower_bound, least))
        assert bound <= best + 1e-9
        assert (
            ttft_lower_bound(instance, clock)
            <= least(instance, clock, preemption, first=True) + 1e-9
        )
        tightest = max(tightest, bound / best)
    assert tightest > 0.7


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


@pytest.mark.parametrize("ratio", [1 - 1e-15, 1 + 2e-16])
def test_rounding_is_no_distance_from_a_bound(ratio):
    assert METRICS["mean"].ratio(3 * ratio, 3) == 1
    assert METRICS["mean"].ratio(3.003, 3) == pytest.approx(1.001)
    assert METRICS["mean"].ratio(2.997, 3) < 1
