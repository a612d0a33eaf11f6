"""Lower bounds in seconds against every schedule of small instances, and against policies."""

from itertools import product

import numpy as np
import pytest

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100, BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.workloads.generators import generate

CLOCKS = (
    BatchTime(fixed=1, tick=1),
    BatchTime(fixed=1, prefill=0.5, decode=0.25, kv=0.125, tick=1),
    BatchTime(fixed=0.125, prefill=0.5, decode=1, kv=0.25, tick=1),
)


def _small(rng: np.random.Generator, n: int) -> Instance:
    prompt = rng.integers(0, 4, n)
    return Instance("small", 8, np.zeros(n, int), prompt, rng.integers(1, 9 - prompt))


def _seconds(instance: Instance, clock: BatchTime, starts: tuple[int, ...]) -> float | None:
    """Total latency when requests start in these batches; None when memory overflows."""
    stops = [start + output for start, output in zip(starts, instance.output, strict=True)]
    now, total = 0.0, 0.0
    for batch in range(max(stops)):
        inside = [i for i in range(len(starts)) if starts[i] <= batch < stops[i]]
        held = [instance.prompt[i] + batch - starts[i] for i in inside]
        if sum(held) + len(inside) > instance.memory:
            return None
        new = [h for i, h in zip(inside, held, strict=True) if starts[i] == batch]
        old = [h for i, h in zip(inside, held, strict=True) if starts[i] < batch]
        now += clock.fixed + clock.prefill * sum(new) + clock.decode * len(old)
        now += clock.kv * sum(old)
        total += now * sum(stop == batch + 1 for stop in stops)
    return total


@pytest.mark.parametrize("clock", CLOCKS)
def test_no_schedule_is_below_the_bound(clock: BatchTime) -> None:
    rng = np.random.default_rng(1)
    tightest = 0.0
    for _ in range(12):
        instance = _small(rng, 3)
        ways = (_seconds(instance, clock, s) for s in product(range(10), repeat=3))
        best = min(seconds for seconds in ways if seconds is not None)
        tightest = max(tightest, clock_lower_bound(instance, clock) / best)
    assert 0.8 < tightest <= 1 + 1e-9  # and it says something


@pytest.mark.parametrize("key", ["svf", "mc-sf", "alpha-beta-clearing"])
@pytest.mark.parametrize("rate", [0.0, 0.03, 0.1])
def test_no_policy_is_below_the_bound(key: str, rate: float) -> None:
    instance = generate("lmsys", 3, n=400, memory=4000, rate=rate).replace(tick_seconds=0.001)
    done = simulate(instance, make(key), clock=LLAMA2_70B_2XA100)
    total = per_request(done)["latency"].sum()
    bound = clock_lower_bound(instance, LLAMA2_70B_2XA100)
    assert 0.2 * total < bound < total


def test_a_year_in_milliseconds_is_served_and_bounded_but_not_solved_round_by_round() -> None:
    year = 365 * 24 * 3600 * 1000
    pair = Instance("pair", 40, [0, 0], [9, 9], [12, 15], tick_seconds=0.001)
    late = pair.replace(arrival=[year, year])
    both = Instance("both", 40, [0, 0, year, year], [9] * 4, [12, 15] * 2, tick_seconds=0.001)
    runs = [simulate(x, make("fcfs"), clock=LLAMA2_70B_2XA100) for x in (pair, late, both)]
    totals = [float(per_request(run)["latency"].sum()) for run in runs]
    assert totals[1:] == pytest.approx([totals[0], 2 * totals[0]], rel=1e-7)
    bounds = [clock_lower_bound(x, LLAMA2_70B_2XA100) for x in (pair, late, both)]
    assert bounds[1:] == pytest.approx([bounds[0], 2 * bounds[0]], rel=1e-7)
    with pytest.raises(ValueError, match="looks at rounds up to 1000000000"):
        solve(both)
