"""The bound in seconds of several replicas against runs of every assignment."""

from itertools import product

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.ratio.clock_bound import clock_lower_bound

CLOCKS = (
    BatchTime(fixed=0.02, prefill=0.001, decode=0.0005, kv=0.0002, tick=0.01),
    BatchTime(fixed=0.001, prefill=0.01, decode=0.005, kv=0.002, tick=0.01),
)
POLICIES = ("fcfs", "mc-sf", "svf")


def least_found(instance: Instance, clock: BatchTime, replicas: int) -> float:
    """Return the least total latency of all assignments under a few policies, seconds."""
    n, cost = len(instance), {}
    for chosen in range(1, 1 << n):
        part = instance.take([i for i in range(n) if chosen >> i & 1])
        runs = (simulate(part, make(name), clock=clock) for name in POLICIES)
        cost[chosen] = min(per_request(run)["latency"].sum() for run in runs)
    best = float("inf")
    for places in product(range(replicas), repeat=n - 1):
        sets = [0] * replicas
        for i, place in enumerate((0, *places)):
            sets[place] |= 1 << i
        best = min(best, sum(cost[own] for own in sets if own))
    return best


def drawn(rng: np.random.Generator) -> Instance:
    n, memory = int(rng.integers(2, 6)), 20
    output = rng.integers(1, 8, n)
    prompt, arrival = rng.integers(0, 13, n), rng.integers(0, 6, n) * rng.integers(0, 2)
    return Instance("x", memory, arrival, prompt, output, tick_seconds=0.01)


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_machine_of_speed_r_is_no_slower_than_any_run(clock):
    rng = np.random.default_rng(1)
    ratios, refuted = [], 0
    for _ in range(10):
        instance, replicas = drawn(rng), 2
        best = least_found(instance, clock, replicas)
        bound = clock_lower_bound(instance, clock, replicas=replicas)
        assert bound <= best + 1e-9
        assert clock_lower_bound(instance, clock, "recompute", replicas) <= bound + 1e-9
        ratios.append(bound / best)
        pooled = instance.replace(memory=replicas * instance.memory)
        refuted += clock_lower_bound(pooled, clock) > best + 1e-9
    assert np.mean(ratios) > 0.8
    if clock is CLOCKS[1]:  # the control: one replica of all memory does the work one by one
        assert refuted > 2
