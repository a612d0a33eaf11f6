"""The optimum of a tiny instance in milliseconds, for searches that need thousands of them.

Best-first search over rounds. A state is the round, how many requests of each kind (equal arrival,
prompt and output) have not started, and how many tokens the running requests will hold in each
round to come; two ways to the same state differ in nothing but what they have spent, so the cheaper
one is kept. In each round any numbers of requests of each kind may start that fit until they end.
A state's latency so far counts every request that has started until its completion.

The completion bound of the others is the larger of two bounds. Filling the free memory in order of
volume, the k-th of them cannot complete before the first k volumes have found room, nor before the
k-th shortest output. And the mean time of the memory that a request holds is least in sum when the
free memory is filled in that order; a request completes later than that mean time by a known age.
Nothing is shared with `solve` or the brute force but the footprint.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ratiolab.machine_code import careful
from ratiolab.model import Instance, IntArray, Schedule, held

_held: Any = careful(held)

STATES = 200_000
"""States kept at most: about a second, and tens of megabytes."""


@dataclass(frozen=True)
class TinyOptimum:
    """Findings of a search up to a limit.

    Parameters
    ----------
    latency : the optimum; None when it is above the limit or was not found within the limit of
        states.
    above : the optimum is proven to be above the limit.
    states : states kept.
    """

    latency: int | None
    above: bool
    states: int
    _starts: IntArray
    _order: IntArray
    _instance: Instance

    @property
    def schedule(self) -> Schedule:
        """An optimal schedule; `ValueError` when no optimum was found."""
        if self.latency is None:
            raise ValueError("no optimum was found: there is no schedule")
        starts = np.zeros(len(self._order), np.int64)
        starts[self._order] = self._starts
        return Schedule.from_starts(self._instance, starts)


def tiny_optimum(instance: Instance, limit: int | None = None, states: int = STATES) -> TinyOptimum:
    """Search for the optimum of an instance of few kinds of requests.

    Parameters
    ----------
    instance : about ten requests, or a few dozen of two or three kinds.
    limit : latencies above it are of no interest; by default that of one request at a time.
    states : states kept at most; with more to keep, the search ends without an answer.

    Exponential in the number of kinds and in memory over the least volume.

    >>> tiny_optimum(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1])).latency
    6
    """
    rows = np.stack([instance.arrival, instance.prompt, instance.output, instance.volume], axis=1)
    kinds, kind, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    if limit is None:
        limit = one_at_a_time(instance)
    latency, kept, starts = search(
        instance.memory,
        kinds,
        count,
        np.argsort(kinds[:, 3], kind="stable"),
        np.argsort(kinds[:, 2], kind="stable"),
        limit,
        states,
    )
    found = 0 <= latency <= limit
    order = np.argsort(kind.ravel(), kind="stable")
    by_kind = starts[np.argsort(starts[:, 0], kind="stable"), 1]
    return TinyOptimum(
        int(latency) if found else None, latency > limit, kept, by_kind, order, instance
    )


def one_at_a_time(instance: Instance) -> int:
    """Return the total latency of serving one request after another, shortest volume first."""
    free = total = 0
    for i in np.lexsort((instance.volume, instance.arrival)).tolist():
        free = max(free, int(instance.arrival[i])) + int(instance.output[i])
        total += free - int(instance.arrival[i])
    return total


@careful
def least_rest(memory, now, kinds, by_volume, by_output, left, usage):  # type: ignore[no-untyped-def]
    """Return a lower bound of the latencies of all requests that have not started by round now.

    Parameters
    ----------
    kinds : arrival, prompt, output, volume of each kind of request, shape (kinds, 4).
    by_volume, by_output : the kinds in ascending order.
    left : requests of each kind that have not started.
    usage : tokens that the running requests hold at now + 1, now + 2, ...
    """
    waited = alone = 0
    for k in range(len(left)):
        waited += left[k] * (now - kinds[k, 0])
        alone += left[k] * (kinds[k, 2] + max(0, now - kinds[k, 0]))
    # fill the free memory in order of volume: the k-th completion, and the mean time of holding
    total, shift = 0, 0.0
    slot, free = 0, memory - usage[0]
    o, taken = 0, 0
    for k in by_volume:
        for _ in range(left[k]):
            while taken >= left[by_output[o]]:
                o += 1
                taken = 0
            taken += 1
            need, moment = kinds[k, 3], 0.0
            while need > 0:
                if free == 0:
                    slot += 1
                    free = memory - (usage[slot] if slot < len(usage) else 0)
                    continue
                part = min(need, free)
                moment += part * (slot + 1)
                need -= part
                free -= part
            total += max(slot + 1, kinds[by_output[o], 2])
            volume, output, prompt = kinds[k, 3], kinds[k, 2], kinds[k, 1]
            # the mean age of what a run holds: sum of age (s + age) over its volume
            own = prompt * output * (output + 1) / 2 + output * (output + 1) * (2 * output + 1) / 6
            shift += moment / volume + output - own / volume
    mean = int(np.ceil(shift - 1e-6))
    return max(alone, waited + max(total, mean))


@careful
def _hash(state, mask):  # type: ignore[no-untyped-def]
    value = np.uint64(14695981039346656037)
    for x in state:
        value = (value ^ np.uint64(x)) * np.uint64(1099511628211)
        value ^= value >> np.uint64(29)
    return np.int64(value & np.uint64(mask))


@careful
def search(memory, kinds, count, by_volume, by_output, limit, most):  # type: ignore[no-untyped-def]
    """Return the least total latency up to a limit, states kept, and starts of each kind.

    The first value is the optimum, ``limit + 1`` when it is larger, or -1 when more than `most`
    states would have to be kept. The starts are columns (kind, start), as many as requests, valid
    when an optimum was found.
    """
    types, longest = len(count), 0
    last = requests = 0
    for k in range(types):
        longest = max(longest, kinds[k, 2])
        last = max(last, kinds[k, 0])
        requests += count[k]
    width = 1 + types + longest
    states = np.empty((most, width), np.int32)
    spent, parent = np.empty(most, np.int32), np.empty(most, np.int32)
    following, estimate = np.empty(most, np.int32), np.empty(most, np.int32)
    table_size = 4
    while table_size < 2 * most:
        table_size *= 2
    table = np.full(table_size, -1, np.int32)
    starts = np.zeros((requests, 2), np.int64)
    child = np.zeros(width, np.int32)
    first = last
    for k in range(types):
        first = min(first, kinds[k, 0])
        child[1 + k] = count[k]
    child[0] = first
    left, ahead = child[1 : 1 + types], child[1 + types :]
    bound = least_rest(memory, first, kinds, by_volume, by_output, left, ahead)
    if bound > limit:
        return limit + 1, 0, starts
    base = bound
    buckets = np.full(limit - base + 1, -1, np.int32)  # heads of linked lists, by estimate
    for j in range(width):
        states[0, j] = child[j]
    spent[0], parent[0], following[0], estimate[0] = 0, -1, -1, bound
    table[_hash(child, table_size - 1)] = 0
    buckets[0] = 0
    kept, at = 1, 0
    chosen = np.zeros(types, np.int64)
    usage = np.zeros(longest, np.int32)
    while at < len(buckets):
        node = buckets[at]
        if node < 0:
            at += 1
            continue
        buckets[at] = following[node]
        if estimate[node] != at + base:
            continue  # reached more cheaply since; never true of a live entry
        now = states[node, 0]
        done = True
        for k in range(types):
            done = done and states[node, 1 + k] == 0
        if done:
            place, n = requests, node
            while parent[n] >= 0:
                p = parent[n]
                for k in range(types):
                    for _ in range(states[p, 1 + k] - states[n, 1 + k]):
                        place -= 1
                        starts[place, 0], starts[place, 1] = k, states[p, 0]
                n = p
            return spent[node], kept, starts
        empty = True
        for j in range(longest):
            usage[j] = states[node, 1 + types + j]
            empty = empty and usage[j] == 0
        number, cost = 0, spent[node]
        while True:
            if number > 0 or not (empty and now >= last):
                child[0] = now + 1
                for k in range(types):
                    child[1 + k] = states[node, 1 + k] - chosen[k]
                for j in range(longest - 1):
                    child[1 + types + j] = usage[j + 1]
                child[width - 1] = 0
                rest = least_rest(memory, now + 1, kinds, by_volume, by_output, left, ahead)
                whole = max(cost + rest, at + base)
                if whole <= limit:
                    place = _hash(child, table_size - 1)
                    known = -1
                    while table[place] >= 0:
                        other = table[place]
                        same = True
                        for j in range(width):
                            if states[other, j] != child[j]:
                                same = False
                                break
                        if same:
                            known = other
                            break
                        place = (place + 1) & (table_size - 1)
                    if known < 0 or spent[known] > cost:
                        if kept == most:
                            return -1, kept, starts
                        if known >= 0:
                            estimate[known] = -1  # the dearer way here is forgotten
                        for j in range(width):
                            states[kept, j] = child[j]
                        spent[kept], parent[kept], estimate[kept] = cost, node, whole
                        following[kept] = buckets[whole - base]
                        buckets[whole - base] = kept
                        table[place] = kept
                        kept += 1
            # the next choice of how many of each kind start now, the last kind first
            k = types - 1
            while k >= 0:
                arrival, prompt, output = kinds[k, 0], kinds[k, 1], kinds[k, 2]
                fits = chosen[k] < states[node, 1 + k] and arrival <= now
                if fits:
                    for j in range(output):
                        if usage[j] + _held(prompt, j + 1) > memory:
                            fits = False
                            break
                if fits:
                    for j in range(output):
                        usage[j] += _held(prompt, j + 1)
                    chosen[k] += 1
                    number += 1
                    cost += now + output - arrival
                    break
                for j in range(output):
                    usage[j] -= chosen[k] * _held(prompt, j + 1)
                number -= chosen[k]
                cost -= chosen[k] * (now + output - arrival)
                chosen[k] = 0
                k -= 1
            if k < 0:
                break
    return limit + 1, kept, starts
