"""Definitions EC.1 and EC.2 of Chen et al., checked literally, and exact means over all orders.

Schedules are tuples of start rounds, one for each request; all requests are present at round 0.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

from ratiolab.model import Instance, held
from ratiolab.online import make, simulate

Starts = tuple[int, ...]


def fits(prompt: int, outputs: Sequence[int], starts: Sequence[int], memory: int) -> bool:
    """Return whether memory suffices; tokens held are largest when some request stops."""
    stops = [p + o for p, o in zip(starts, outputs, strict=True)]
    return all(
        sum(held(prompt, t - p) for p, stop in zip(starts, stops, strict=True) if p < t <= stop)
        <= memory
        for t in stops
    )


def same_order(first: Sequence[int], second: Sequence[int]) -> bool:
    """Return whether no two requests are started in opposite orders (Definition EC.1).

    >>> same_order((0, 0, 1), (0, 1, 1)), same_order((0, 1), (1, 0))
    (True, False)
    """
    pairs = combinations(zip(first, second, strict=True), 2)
    return all((i - j) * (i2 - j2) >= 0 for (i, i2), (j, j2) in pairs)


def is_delayed(later: Sequence[int], earlier: Sequence[int]) -> bool:
    """Return whether `later` starts no request before `earlier` does (Definition EC.1)."""
    return all(i <= j for i, j in zip(earlier, later, strict=True))


def is_packed(prompt: int, outputs: Sequence[int], starts: Sequence[int], memory: int) -> bool:
    """Return whether no single request fits between the start before its own and its own (EC.2).

    A request with no start before its own is tried from round 0 on, so a packed schedule begins
    at round 0.
    """
    for i, start in enumerate(starts):
        before = max((p for p in starts if p < start), default=0)
        for k in range(before, start):
            if fits(prompt, outputs, [*starts[:i], k, *starts[i + 1 :]], memory):
                return False
    return True


def packed_schedules(prompt: int, outputs: Sequence[int], memory: int) -> Iterator[Starts]:
    """Yield every optimally packed feasible schedule.

    Such a schedule never idles, or the next request could start earlier; so every start is below
    the sum of the outputs. Cost O((sum of outputs)**n).
    """
    for starts in product(range(sum(outputs)), repeat=len(outputs)):
        if fits(prompt, outputs, starts, memory) and is_packed(prompt, outputs, starts, memory):
            yield starts


def latency(outputs: Sequence[int], starts: Sequence[int]) -> int:
    """Return the total end-to-end latency, rounds."""
    return sum(outputs) + sum(starts)


def order_latencies(
    key: str, prompt: int, memory: int, outputs: Sequence[int], interval: tuple[int, int]
) -> tuple[int, ...]:
    """Return the total latency of a policy for every distinct order of the requests, each equally
    likely.

    Orders are sorted, so two policies' values belong together: the permutation coupling of
    Definitions EC.3 and EC.4. Cost n! simulations.
    """
    n = len(outputs)
    lower, upper = ([bound] * n for bound in interval)
    policy = make(key, {"ties": "index"})
    return tuple(
        simulate(
            Instance("order", memory, [0] * n, [prompt] * n, order, lower, upper), policy
        ).schedule.total_latency
        for order in sorted(set(permutations(outputs)))
    )


def mean(values: Sequence[int]) -> Fraction:
    """Return the exact mean.

    >>> mean((1, 2))
    Fraction(3, 2)
    """
    return Fraction(sum(values), len(values))
