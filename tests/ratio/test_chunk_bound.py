"""The bounds in seconds against every engine that prefills tiny instances in chunks."""

from heapq import heappop, heappush
from itertools import count, product

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.online.clock import BatchTime
from ratiolab.ratio.clock_bound import clock_lower_bound, ttft_lower_bound
from ratiolab.seconds.certified_bound import seconds_certificate

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
