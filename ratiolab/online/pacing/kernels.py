"""Loops over requests and ages, which runs of paced policies take at every round.

Exponentials and logarithms are left to numpy, whose last digit no compiler repeats.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

FIRST, PROMPT, BOUND, CAP, ROW = range(5)
"""Rows of a table of requests: the round in which a request had or would have had no token; its
prompt; the age that it is known to outlive, as far as survival curves have been told; the age at
which it is killed; where its survival curve begins."""

CLOSE = 1e-9
"""Difference of expected tokens, or of rounds, that rounding may make."""

FEW = 300
"""Calls of a loop that take about as long in Python as it takes to load its compiled form."""


class Often:
    """A function that is compiled when it has been called a few times, with the same results."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function, self._calls = function, 0

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        self._calls += 1
        if self._calls == FEW:
            from numba import njit

            self._function = njit(cache=True)(self._function)
        return self._function(*arguments)


@Often
def oldest_news(table: Any, number: int, row: int, now: int, reached: Any) -> int:
    """Enter the ages that running requests of one curve have reached; return the oldest new one.

    Parameters
    ----------
    table, number : requests, in the first columns, and how many.
    row : the curve.
    reached : requests that reached each age.
    """
    oldest = 0
    for j in range(number):
        age, bound = now - table[FIRST, j], table[BOUND, j]
        if table[ROW, j] == row and age > bound:
            for x in range(bound + 1, age + 1):
                reached[x] += 1.0
            table[BOUND, j] = age
            oldest = max(oldest, age)
    return oldest


@Often
def ending_shares(reached: Any, ended: Any, shares: Any) -> None:
    """Write the share of requests that end at each age, with a minus."""
    for x in range(len(shares)):
        shares[x] = -min(ended[x] / (reached[x] + 0.5), 0.999)


@Often
def continued(log: Any, seen: int, tail: Any) -> float:
    """Sum logarithms up to the oldest age that was seen, and continue them with a tail.

    Returns what is to be added to the tail for that.
    """
    for x in range(seen):
        log[x + 1] += log[x]
    oldest = max(seen, 1)
    shift: float = log[seen] - tail[oldest]
    log[oldest] = tail[oldest] + shift
    return shift


@Often
def running_sums(alive: Any, rounds: Any, tokens: Any) -> None:
    """Sum the shares alive at each age, and the shares times the next age, over smaller ages."""
    for x in range(len(alive)):
        rounds[x + 1] = rounds[x] + alive[x]
        tokens[x + 1] = tokens[x] + alive[x] * (x + 1)


@Often
def tokens_ahead(
    table: Any, begin: int, now: int, step: int, ahead: Any, logs: Any, alive: Any, tokens: Any
) -> None:
    """Write what requests hold at rounds ahead, and the logarithm of the chance that they do.

    Parameters
    ----------
    table, begin : requests, from a column on, as many as the results have rows.
    now, step : the present round, and what is added to it for each further round ahead.
    ahead : rounds ahead, as many as the results have columns.
    logs : logarithms of the shares that outlive each age, one survival curve behind the other.
    alive, tokens : results; both are 0 beyond the cap of a request.
    """
    for i in range(len(alive)):
        first, prompt = table[FIRST, begin + i], table[PROMPT, begin + i]
        bound, cap, row = table[BOUND, begin + i], table[CAP, begin + i], table[ROW, begin + i]
        for k in range(len(ahead)):
            age = now + k * step - first
            then, known = age + ahead[k], max(bound, age)
            alive[i, k], tokens[i, k] = 0.0, 0.0
            if then <= cap:
                alive[i, k] = logs[row + max(then - 1, known)] - logs[row + known]
                tokens[i, k] = prompt + then


@Often
def number_fitting(needed: Any, running: int, room: Any) -> int:
    """Return how many requests fit beside the running ones, one after the other.

    Parameters
    ----------
    needed : tokens of requests at each round ahead; the running requests come first.
    running : number of running requests.
    room : free tokens at each round ahead; the tokens of running requests are subtracted.
    """
    fitting = len(needed) - running
    for k in range(len(room)):
        total = 0.0
        for i in range(running):
            total += needed[i, k]
        room[k] -= total
        total = 0.0
        for i in range(fitting):
            total += needed[running + i, k]
            if total > room[k] + CLOSE:
                fitting = i
                break
    return fitting
