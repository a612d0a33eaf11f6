"""Bounds in seconds against schedules of small instances, engines with chunks, and policies."""

from heapq import heappop, heappush
from itertools import count, product

import numpy as np
import pytest
from batches import least_picoseconds

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100, BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.ratio.clock_bound import clock_lower_bound, ttft_lower_bound
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.workloads.generators import generate

CLOCKS = (
    BatchTime(fixed=1, tick=1),
    BatchTime(fixed=1, prefill=0.5, decode=0.25, kv=0.125, tick=1),
    BatchTime(fixed=0.125, prefill=0.5, decode=1, kv=0.25, tick=1),
    BatchTime(fixed=0.25, prefill=0.125, decode=1, kv=0.5, tick=1),
)
DECODES = -1


def moves(prompt, output, made, filled):
    """What a batch may do for a request: tokens made and filled after it, prefilled, decoded,
    read and held. Nothing is held by who is evicted; who waits in memory holds what it did."""
    if made == output:
        return [(made, 0, 0, 0, 0, 0)]
    known = prompt + made
    away = (made, 0, 0, 0, 0, 0)
    if filled == DECODES:
        stays = (made, DECODES, 0, 0, 0, known)
        return [away, stays, (made + 1, DECODES, 0, 1, known, known + 1)]
    chunks = [(made, filled + c, c, 0, 0, filled + c) for c in range(known - filled)]
    return [away, *chunks, (made + 1, DECODES, known - filled, 0, 0, known + 1)]


def least(instance, clock, budget, *, first_tokens):
    """Least total latency, or time to first token, over all that engines can do. All arrive at 0.

    A chunk reads nothing here and takes no more room than it fills: more than any engine offers.
    """
    shape = list(zip(instance.prompt.tolist(), instance.output.tolist(), strict=True))
    begin = tuple((0, 0) for _ in shape)
    goal = 1 if first_tokens else None
    best, queue, number = {begin: 0.0}, [(0.0, 0, begin)], count(1)
    while queue:
        cost, _, state = heappop(queue)
        if cost > best[state]:
            continue
        open_ = sum(made < (goal or o) for (made, _), (_, o) in zip(state, shape, strict=True))
        if not open_:
            return cost
        choices = [moves(s, o, *at) for (s, o), at in zip(shape, state, strict=True)]
        for batch in product(*choices):
            prefill, decode, read, held = (sum(move[k] for move in batch) for k in (2, 3, 4, 5))
            if held > instance.memory or not 0 < prefill + decode <= budget:
                continue
            lasts = clock.fixed + clock.prefill * prefill + clock.decode * decode
            after = tuple(move[:2] for move in batch)
            total = cost + open_ * (lasts + clock.kv * read)
            if total < best.get(after, np.inf):
                best[after] = total
                heappush(queue, (total, next(number), after))
    raise AssertionError("every request can be served alone")


def small(rng, n, longest):
    prompt, output = rng.integers(1, longest + 1, n), rng.integers(1, longest + 1, n)
    memory = int((prompt + output).max() + rng.integers(0, longest))
    return Instance("small", memory, np.zeros(n, int), prompt, output)


@pytest.mark.parametrize("clock", CLOCKS, ids=range(4))
@pytest.mark.parametrize(("n", "longest"), [(2, 3), (3, 2)])
def test_no_engine_with_chunks_is_below_the_bounds(clock, n, longest):
    rng = np.random.default_rng(n)
    tightest = 0.0
    for budget in (2, 3, 4, 99, 2, 3, 4, 99):
        instance = small(rng, n, longest)
        best = least(instance, clock, budget, first_tokens=False)
        bound = clock_lower_bound(instance, clock, "recompute")
        assert bound <= best + 1e-9
        claim = seconds_certificate(instance, clock, "recompute", cells=100, groups=2)
        assert claim.bound <= (best + 1e-9) * 10**12
        tightest = max(tightest, bound / best)
        first = least(instance, clock, budget, first_tokens=True)
        assert ttft_lower_bound(instance, clock) <= first + 1e-9
    assert tightest > 0.6, "and it says something"


@pytest.mark.parametrize("clock", CLOCKS)
def test_no_schedule_is_below_the_bound(clock):
    rng = np.random.default_rng(1)
    tightest = 0.0
    for _ in range(12):
        instance = small(rng, 3, 4)
        best = least_picoseconds(instance, clock, evictions=False) / PICOSECONDS
        tightest = max(tightest, clock_lower_bound(instance, clock) / best)
    assert 0.8 < tightest <= 1 + 1e-9  # and it says something


@pytest.mark.parametrize("key", ["svf", "mc-sf", "alpha-beta-clearing"])
@pytest.mark.parametrize("rate", [0.0, 0.03, 0.1])
def test_no_policy_is_below_the_bound(key, rate):
    instance = generate("lmsys", 3, n=400, memory=4000, rate=rate).replace(tick_seconds=0.001)
    done = simulate(instance, make(key), clock=LLAMA2_70B_2XA100)
    total = per_request(done)["latency"].sum()
    bound = clock_lower_bound(instance, LLAMA2_70B_2XA100)
    assert 0.2 * total < bound < total


def test_a_year_in_milliseconds_is_served_and_bounded_but_not_solved_round_by_round():
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


FLEET_CLOCKS = (
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


@pytest.mark.parametrize("clock", FLEET_CLOCKS)
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
    if clock is FLEET_CLOCKS[1]:  # the control: one replica of all memory does the work one by one
        assert refuted > 2
