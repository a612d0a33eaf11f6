"""Shared by the claims about the Lemma 2 model: Proposition 1 by its own recursion."""

from collections.abc import Sequence
from fractions import Fraction

ALGORITHM_2 = (
    "Algorithm 2 in two readings of the bound after an eviction at age a: a, as the pseudo-code "
    "sets it, and a + 1, as the analysis needs; ties by random keys, drawn when a request enters "
    "the queue and when it starts, and not anew in every round"
)
"""The two readings of the printed algorithm that are tried, as an assumption of claims."""


def completions(
    shares: Sequence[Fraction], lower: int, prompt: int, starts: Sequence[int] | None = None
) -> tuple[dict[tuple[int, int], Fraction], dict[tuple[int, int], Fraction]]:
    """Return the requests served and completed in each period, followed bound by bound.

    In period k every request with bound k is served. An unfinished one is evicted at age a >= k
    with probability 1/(s+a+1), and then has bound a + 1; nothing else of the paper is used.

    `shares` are those of the lengths ``lower, lower + 1, ...``, and `starts` their first bounds,
    all `lower` by default. The tables are by (period, length). O((u - l)^3).
    """
    upper = lower + len(shares) - 1
    served: dict[tuple[int, int], Fraction] = {}
    done: dict[tuple[int, int], Fraction] = {}
    for n, share in enumerate(shares):
        length = lower + n
        waiting = {starts[n] if starts else lower: Fraction(share)}
        for period in range(lower, upper + 1):
            running = waiting.pop(period, Fraction(0))
            served[period, length] = running
            for age in range(period, length):
                gone = running / (prompt + age + 1)
                waiting[age + 1] = waiting.get(age + 1, Fraction(0)) + gone
                running -= gone
            done[period, length] = running if period <= length else Fraction(0)
        assert not waiting
    return served, done


def latency(
    shares: Sequence[Fraction], lower: int, prompt: int, starts: Sequence[int] | None = None
) -> Fraction:
    """Return the latency in units of n^2 / (2 M): a completion of length i costs i (s+i) / M of its
    period.

    Requests completed in a period wait for half of it on average, all others for the whole of it.
    """
    upper = lower + len(shares) - 1
    lengths = range(lower, upper + 1)
    _, done = completions(shares, lower, prompt, starts)
    left = sum((Fraction(x) for x in shares), Fraction(0))
    total = Fraction(0)
    for period in lengths:
        finished = sum((done[period, i] for i in lengths), Fraction(0))
        duration = sum((i * (prompt + i) * done[period, i] for i in lengths), Fraction(0))
        left -= finished
        total += duration * (finished + 2 * left)
    return total
