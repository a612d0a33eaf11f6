"""The checker of bounds that dynamic programming proves: it tries every start again.

Claim: no schedule has a latency below ``bound``. Duals prove a smaller one (all numbers here are
integers over their denominator D). With c_i(p), the Lagrangian cost of request i started at p, and
R_t, the duals times right sides of time t, a schedule with starts p_i that holds items of dual cost
h_t at time t has the latency

    sum of c_i(p_i) - sum of h_t = value + sum of (c_i(p_i) - least c_i) + sum of (R_t - h_t),

where no term of the two sums is negative. What they come to for the starts before round t, those
of requests not started taken over all later starts, is a bound that only grows with t. Round by
round all starts are tried that fit beside the running requests until they complete, and kept while
the bound is at most D (bound - 1). If none is left, and none that is complete had a smaller latency
than ``bound``, the claim is proven. A state is its vector of starts. Left out without loss:

- of equal requests, one that starts before another of smaller index: exchanged, they are the same;
- a round in which nothing runs when all have arrived: what follows may start a round earlier;
- a state of no smaller latency than another with the same requests started, which holds no more
  in any later round: what completes the former completes the latter.

Nothing here is the solver's but the footprint. The loops over states are compiled by numba.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.effort import MOST_BYTES, TooCostlyError
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

MOST_STATES = 3 * 10**7
"""States after which the checker refuses, so that a hostile file cannot keep it busy."""

MOST_IN_LAYER = MOST_BYTES
"""Bytes of the states of one round, and of their copies, after which it does."""

COMPARED = 30
"""States of equal requests started against which another is compared."""

LARGEST = 2**61
"""Sums of numbers stay below it, so that 64-bit integers never overflow."""

compiled: Any = njit(cache=True)
_held: Any = compiled(held)


class Requests(NamedTuple):
    """Columns of all requests, and the memory that they share."""

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    memory: int


class States(NamedTuple):
    """States of one round: starts, -1 where there is none, and a lower bound of each."""

    starts: NDArray[np.int32]
    bound: IntArray


class Round(NamedTuple):
    """Costs of the step from round t to t + 1, scaled.

    Parameters
    ----------
    extra, wait : of each request: cost of starting at t above the least of all later starts, and
        by how much the least rises when it waits.
    dual : dual cost at t + 1 of each request at each age; paid : R_t+1.
    limit : largest bound of interest.
    """

    t: int
    extra: IntArray
    wait: IntArray
    dual: IntArray
    paid: int
    limit: int


def require_no_better(
    instance: Instance,
    bound: int,
    denominator: int,
    value: int,
    own: list[list[int]],
    items: list[list[list[int]]],
    paid: list[int],
) -> None:
    """Raise `ValueError` unless no schedule has a latency below ``bound``.

    Parameters
    ----------
    value : what the duals alone prove.
    own : c_i(p) for p = a_i, ..., max(T, a_i).
    items : dual cost of request i at age g = 1, 2, ..., output at times 1..T,
        ``items[i][g-1][t-1]``.
    paid : R_t at times 1..T.

    Raises
    ------
    ValueError
        when some schedule has, or checking would take too long.

    Cost: that of the search, up to `MOST_STATES` states.
    """
    n, horizon = len(instance), len(paid)
    if sum(max(row) for row in own) + sum(paid) + bound * denominator * (n + 1) > LARGEST:
        raise ValueError("numbers are too large for a search over layers")
    extra, wait = _steps(instance, own, denominator, horizon)
    last = extra.shape[1] - 1
    dual = np.zeros((n, int(instance.output.max()) + 1, horizon + 2), np.int64)
    for i, rows in enumerate(items):
        for age, row in enumerate(rows, 1):
            dual[i, age, 1 : horizon + 1] = row
    limit = (bound - 1) * denominator
    arrival, prompt, output = map(np.array, (instance.arrival, instance.prompt, instance.output))
    requests = Requests(arrival, prompt, output, instance.memory)
    states = States(np.full((1, n), -1, np.int32), np.full(1, value))
    tried, t = 0, 0
    while len(states.starts):
        now, after = min(t, last), min(t + 1, horizon + 1)
        costs = extra[:, now].copy(), wait[:, now].copy(), dual[:, :, after].copy()
        step = Round(t, *costs, paid[t] if t < horizon else 0, limit)
        capacity = 10_000 + 8 * len(states.starts)
        while True:
            found = States(np.zeros((capacity, n), np.int32), np.zeros(capacity, np.int64))
            written = successors(states, requests, step, found)
            if written >= 0:
                break
            capacity *= 4
            if capacity // 4 * (12 * n + 60) > MOST_IN_LAYER:  # written, and copied twice
                raise TooCostlyError(f"round {t} takes more than {MOST_IN_LAYER} bytes")
        out, low = found.starts[:written], found.bound[:written]
        tried += written
        if tried > MOST_STATES:
            raise TooCostlyError(f"the search takes more than {MOST_STATES} states")
        done = (out >= 0).all(axis=1)
        latency = (out[done] + instance.output - instance.arrival).sum(axis=1)
        if len(latency) and latency.min() < bound:
            raise ValueError(f"bound {bound} is claimed, a schedule has {latency.min()}")
        starts, t = out[~done], t + 1
        kept = _undominated(starts, t, requests)
        states = States(starts[kept], low[~done][kept])


def _steps(
    instance: Instance, own: list[list[int]], denominator: int, horizon: int
) -> tuple[IntArray, IntArray]:
    """Return costs of starts at 0, 1, ... above the least, and what waiting a round adds to it."""
    last = max(horizon, int(instance.arrival.max())) + 1
    extra = np.zeros((len(instance), last + 1), np.int64)
    wait = np.full((len(instance), last + 1), denominator)
    for i, (row, (arrival, _, output)) in enumerate(zip(own, instance.requests, strict=True)):
        beyond = arrival + len(row)
        costs = row + [denominator * (p + output - arrival) for p in range(beyond, last + 2)]
        least = costs[-1]
        for p in range(last, arrival - 1, -1):
            following, least = least, min(least, costs[p - arrival])
            extra[i, p], wait[i, p] = costs[p - arrival] - least, following - least
        wait[i, :arrival] = 0
    return extra, wait


def _undominated(starts: NDArray[np.int32], t: int, requests: Requests) -> IntArray:
    """Return the states that no other dominates."""
    if not len(starts):
        return np.zeros(0, np.int64)
    bits = np.left_shift(np.uint64(1), np.arange(starts.shape[1], dtype=np.uint64))
    mask = ((starts >= 0) * bits).sum(axis=1, dtype=np.uint64)
    order = np.lexsort((starts.sum(axis=1), mask))
    kept: IntArray = order[undominated(starts[order], mask[order], t, requests, COMPARED)]
    return kept


@compiled
def successors(states, requests, step, out):  # type: ignore[no-untyped-def]
    """Write the states after round t; return their number, or -1 beyond the capacity."""
    arrival, prompt, output, memory = requests
    starts, t, limit = states.starts, step.t, step.limit
    n, written = len(prompt), 0
    usage = np.zeros(output.max() + 1, np.int64)
    row = np.zeros(n, np.int32)
    stack = np.zeros(n + 1, np.int64)
    everyone_arrived = (arrival <= t).all()
    for s in range(len(starts)):
        row[:] = starts[s]
        usage[:] = 0
        value, running, missing = states.bound[s] + step.paid, 0, 0
        for i in range(n):
            if row[i] < 0:
                value += step.wait[i]
                missing += 1
            elif row[i] + output[i] > t:
                running += 1
                value -= step.dual[i, t + 1 - row[i]]
                for later in range(t + 1, row[i] + output[i] + 1):
                    usage[later - t] += _held(prompt[i], later - row[i])
        rising, depth, i = states.bound[s], 0, 0  # rising: what later rounds cannot take back
        while True:
            if i == n:
                nothing = running + depth == 0 and missing > 0 and everyone_arrived
                if value <= limit and not nothing:
                    if written == len(out.starts):
                        return -1
                    out.starts[written], out.bound[written] = row, value
                    written += 1
                if depth == 0:
                    break
                depth -= 1
                i, sign = stack[depth], -1
            else:
                may = row[i] < 0 and arrival[i] <= t and rising + step.extra[i] <= limit
                if may:
                    for j in range(i):
                        same = arrival[j] == arrival[i] and prompt[j] == prompt[i]
                        if same and output[j] == output[i] and row[j] < 0:
                            may = False
                    for age in range(1, output[i] + 1):
                        if usage[age] + _held(prompt[i], age) > memory:
                            may = False
                            break
                sign = 1 if may else 0
            if sign:
                row[i] = t if sign > 0 else -1
                rising += sign * step.extra[i]
                missing -= sign
                value += sign * (step.extra[i] - step.wait[i] - step.dual[i, 1])
                for age in range(1, output[i] + 1):
                    usage[age] += sign * _held(prompt[i], age)
                if sign > 0:
                    stack[depth] = i
                    depth += 1
            i += 1
    return written


@compiled
def undominated(starts, mask, t, requests, compared):  # type: ignore[no-untyped-def]
    """Return which states no earlier one dominates; they rise in started set, then latency."""
    prompt, output = requests.prompt, requests.output
    longest = output.max() + 1
    keep = np.ones(len(starts), np.bool_)
    known = np.zeros((compared, longest), np.int64)
    usage = np.zeros(longest, np.int64)
    count = 0
    for s in range(len(starts)):
        if s == 0 or mask[s] != mask[s - 1]:
            count = 0
        usage[:] = 0
        for i in range(len(prompt)):
            if starts[s, i] >= 0:
                for later in range(t + 1, starts[s, i] + output[i] + 1):
                    usage[later - t] += _held(prompt[i], later - starts[s, i])
        for k in range(count):
            if (known[k] <= usage).all():
                keep[s] = False
                break
        if keep[s] and count < compared:
            known[count] = usage
            count += 1
    return keep
