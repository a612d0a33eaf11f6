"""No schedule serves more requests in time than the bound: all ways on tiny instances."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from ratiolab.evaluation.service import Service, Slo, isolated_service
from ratiolab.model import Instance, Preemption
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA3_8B_A100, BatchTime
from ratiolab.ratio.goodput_bound import SLIP, goodput_bound, proven_goodput
from ratiolab.workloads.generators import generate

CLOCKS = (
    BatchTime(fixed=1, tick=1),
    BatchTime(fixed=0.25, prefill=0.125, decode=1, kv=0.5, tick=1),
    BatchTime(fixed=0.125, prefill=0.5, decode=0.25, kv=0.125, tick=1),
)


def most_in_time(
    instance: Instance, clock: BatchTime, preemption: Preemption, ttft: float, latency: float
) -> int:
    """The most requests in time, over all ways to choose each batch, and to wait for arrivals.

    Times are eighths, so floats are exact. A request in a batch makes one token; it prefills what
    it holds unless it was in the batch before. Evicted requests keep their tokens (recompute) or
    lose them; requests that can no longer be in time are left out, which costs nobody anything.
    """
    n = len(instance)
    prompt, output = instance.prompt.tolist(), instance.output.tolist()
    arrival = [float(a) for a in instance.arrival]

    @cache
    def best(
        time: float, made: tuple[int, ...], inside: frozenset[int], seen: frozenset[int]
    ) -> int:
        """Most requests that still end in time."""
        alive = [
            i
            for i in range(n)
            if made[i] < output[i]
            and time < arrival[i] + latency
            and (i in seen or time < arrival[i] + ttft)
        ]
        ready = [i for i in alive if arrival[i] <= time]
        coming = [arrival[i] for i in alive if arrival[i] > time]
        most = best(min(coming), made, frozenset(), seen) if coming else 0
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
                end = time + took
                now = tuple(kept[i] + 1 if i in batch else made[i] for i in range(n))
                first = {i for i in batch if i in seen or end <= arrival[i] + ttft}
                done = [
                    i
                    for i in batch
                    if now[i] == output[i] and i in first and end <= arrival[i] + latency
                ]
                on = frozenset(i for i in batch if now[i] < output[i])
                most = max(most, len(done) + best(end, now, on, seen | first))
        return most

    return best(0.0, (0,) * n, frozenset(), frozenset())


def drawn(seed: int) -> tuple[Instance, float, float]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    memory = int((prompt + output).max() + rng.integers(0, 3))
    instance = Instance("tiny", memory, rng.integers(0, 3, n), prompt, output, tick_seconds=1.0)
    return instance, float(rng.integers(1, 20)) / 4, float(rng.integers(4, 28)) / 4


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
@pytest.mark.parametrize("clock", CLOCKS, ids=["rounds", "slow decoding", "slow prefill"])
def test_no_way_to_batch_tiny_instances_serves_more_in_time(
    clock: BatchTime, preemption: Preemption
) -> None:
    tight = below_reachable = 0
    for seed in range(25):
        instance, ttft, latency = drawn(seed)
        slo = Slo(ttft=ttft, latency=latency)
        reachable = slo.met(isolated_service(instance, clock, preemption))
        given = instance, clock, preemption, slo.limits(instance.output), reachable
        bound, prices = goodput_bound(*given)
        assert proven_goodput(prices, *given) == bound
        best = most_in_time(instance, clock, preemption, ttft, latency)
        assert best <= bound <= reachable.sum(), (seed, best, bound)
        tight += best == bound
        below_reachable += bound < reachable.sum()
    assert tight >= 12
    assert below_reachable >= 1


def test_any_prices_prove_a_bound_and_negative_ones_are_refused() -> None:
    rng = np.random.default_rng(1)
    for seed in range(25):
        instance, ttft, latency = drawn(seed)
        slo, clock = Slo(ttft=ttft, latency=latency), CLOCKS[seed % 3]
        reachable = slo.met(isolated_service(instance, clock, "restart"))
        given = instance, clock, "restart", slo.limits(instance.output), reachable
        _, prices = goodput_bound(*given)
        drawn_prices = rng.random(len(prices.price)) * 2 ** rng.integers(20, 34)
        noisy = tuple(drawn_prices.astype(int).tolist())
        best = most_in_time(instance, clock, "restart", ttft, latency)
        assert proven_goodput(replace(prices, price=noisy), *given) >= best
    with pytest.raises(ValueError, match="prices must be at least 0"):
        proven_goodput(replace(prices, price=(-1,)), *given)


def test_a_burst_against_one_deadline_is_a_knapsack() -> None:
    """Ten equal requests of 1.5 s of work each, alone 2 s; in 9 s fit six of them."""
    clock = BatchTime(fixed=1, tick=1)
    ten = Instance("ten", 4, [0] * 10, [1] * 10, [2] * 10)  # 2 + 3 of 4 tokens: 1.25 s of work
    given = ten, clock, "restart", ([np.inf] * 10, [9.0] * 10), np.ones(10, bool)
    assert goodput_bound(*given)[0] == (9 * 10**12 + SLIP) // (125 * 10**10)


def test_two_replicas_do_twice_the_work_and_no_split_serves_more() -> None:
    clock, below = CLOCKS[0], 0
    for seed in range(30):
        instance, ttft, latency = drawn(seed)
        slo = Slo(ttft=ttft, latency=latency)
        reachable = slo.met(isolated_service(instance, clock, "restart"))
        given = instance, clock, "restart", slo.limits(instance.output), reachable
        bound, prices = goodput_bound(*given, replicas=2)
        assert proven_goodput(prices, *given, replicas=2) == bound
        best, n = 0, len(instance)
        for mask in range(2**n):
            parts = [[i for i in range(n) if (mask >> i & 1) == side] for side in (0, 1)]
            own = [
                most_in_time(instance.take(part), clock, "restart", ttft, latency)
                for part in parts
                if part
            ]
            best = max(best, sum(own))
        assert best <= bound
        below += goodput_bound(*given)[0] < best
    assert below >= 1  # what one replica may claim is false for two


def test_policies_on_a_trace_shape_stay_below() -> None:
    instance = generate("lmsys", 2, n=150, memory=2000, rate=0.2).replace(tick_seconds=0.001)
    slo = Slo(latency=4)
    limits = slo.limits(instance.output)
    for preemption in ("restart", "recompute"):
        reachable = slo.met(isolated_service(instance, LLAMA3_8B_A100, preemption))
        bound, _ = goodput_bound(instance, LLAMA3_8B_A100, preemption, limits, reachable)
        assert bound < reachable.sum()
        for key in ("fcfs", "svf"):
            run = simulate(instance, make(key), preemption=preemption, clock=LLAMA3_8B_A100)
            assert slo.met(Service.of(run)).sum() <= bound
