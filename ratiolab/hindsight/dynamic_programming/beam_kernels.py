"""Compiled steps of `ratiolab.hindsight.dynamic_programming.beam`, which explains them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.arrays import compiled
from ratiolab.model.footprint import IntArray, held

_held: Any = compiled(held)


class Layer(NamedTuple):
    """States of one round as columns.

    Parameters
    ----------
    started : requests started, a bit each.
    bound : lower bound of what completes the state, scaled.
    latency : of the requests started.
    running, job, age : number of the running requests, and each with its age.
    parent : row of the layer before.
    """

    started: NDArray[np.uint64]
    bound: IntArray
    latency: IntArray
    running: IntArray
    job: NDArray[np.int16]
    age: NDArray[np.int16]
    parent: IntArray

    @classmethod
    def empty(cls, states: int, most: int) -> "Layer":
        """Return a layer of so many states with at most so many running requests."""
        bound, latency, running, parent = np.zeros((4, states), np.int64)
        job, age = np.zeros((2, states, most), np.int16)
        return cls(np.zeros(states, np.uint64), bound, latency, running, job, age, parent)

    def take(self, states: IntArray) -> "Layer":
        """Return these states in this order."""
        return Layer._make(column[states] for column in self)


class Round(NamedTuple):
    """Rules and reduced costs of the step from round t to t + 1.

    Parameters
    ----------
    arrived, twin : of each request: whether it may start; the equal one that starts before, or -1.
    now, wait : reduced costs of starting at t, and of not having started by t + 1.
    cost : latency of a start at t.
    item_cost, capacity_cost : dual cost of holding an item (m, r) at t + 1, and R_t+1.
    limit : largest bound of interest.
    everyone : the set of all requests.
    may_idle : whether some requests have not arrived.
    """

    arrived: NDArray[np.bool_]
    twin: IntArray
    now: IntArray
    wait: IntArray
    cost: IntArray
    item_cost: IntArray
    capacity_cost: int
    limit: int
    everyone: np.uint64
    may_idle: bool


@compiled
def future_use(layer, s, requests, profile):  # type: ignore[no-untyped-def]
    """Write the tokens that the running requests of a state hold 1, 2, ... rounds from now."""
    profile[:] = 0
    for k in range(layer.running[s]):
        i, age = layer.job[s, k], layer.age[s, k]
        for later in range(age + 1, requests.output[i] + 1):
            profile[later - age - 1] += _held(requests.prompt[i], later)


@compiled
def expand(layer, requests, step, out):  # type: ignore[no-untyped-def]
    """Write the states of the next layer; return their number, and of parents with all children."""
    prompt, output = requests.prompt, requests.output
    count, job, age = layer.running, layer.job, layer.age
    n, capacity, most = len(prompt), len(out.started), job.shape[1]
    profile = np.zeros(output.max() + 1, np.int64)
    waiting = np.zeros(n, np.int64)
    chosen = np.zeros(n + 1, np.int64)
    written = 0
    for s in range(len(layer.started)):
        future_use(layer, s, requests, profile)
        candidates = 0
        least = layer.bound[s]
        for i in range(n):
            if not (layer.started[s] >> np.uint64(i)) & np.uint64(1):
                least += step.wait[i]
                if step.arrived[i]:
                    waiting[candidates] = i
                    candidates += 1
        mask, spent, added, depth, q = layer.started[s], layer.bound[s], np.int64(0), 0, 0
        fresh = True
        while True:
            if fresh:  # write the state that starts exactly the chosen requests
                running = count[s] + depth
                value = least + step.capacity_cost
                for k in range(running):
                    i = job[s, k] if k < count[s] else chosen[k - count[s]]
                    grown = (age[s, k] if k < count[s] else 0) + 1
                    value -= step.item_cost[_held(prompt[i], grown), output[i] - grown]
                idle = running == 0 and mask != step.everyone and not step.may_idle
                if value <= step.limit and not idle:
                    if written == capacity:
                        return written, s
                    kept = 0
                    for k in range(running):
                        i = job[s, k] if k < count[s] else chosen[k - count[s]]
                        grown = (age[s, k] if k < count[s] else 0) + 1
                        if grown < output[i]:
                            out.job[written, kept] = i
                            out.age[written, kept] = grown
                            kept += 1
                    out.started[written] = mask
                    out.bound[written] = value
                    out.latency[written] = layer.latency[s] + added
                    out.running[written] = kept
                    out.parent[written] = s
                    written += 1
            fresh = False
            found = -1
            if count[s] + depth < most:
                for k in range(q, candidates):
                    i = waiting[k]
                    if spent + step.now[i] > step.limit:
                        continue
                    twin = step.twin[i]
                    if twin >= 0 and not (mask >> np.uint64(twin)) & np.uint64(1):
                        continue
                    fits = True
                    for later in range(1, output[i] + 1):
                        if profile[later - 1] + _held(prompt[i], later) > requests.memory:
                            fits = False
                            break
                    if fits:
                        found = k
                        break
            if found >= 0:
                i, sign = waiting[found], 1
                chosen[depth] = i
                depth += 1
                q = found + 1
                fresh = True
            elif depth > 0:
                depth -= 1
                i, sign = chosen[depth], -1
                q = 0
                while waiting[q] != i:
                    q += 1
                q += 1
            else:
                break
            mask ^= np.uint64(1) << np.uint64(i)
            spent += sign * step.now[i]
            least += sign * (step.now[i] - step.wait[i])
            added += sign * step.cost[i]
            for later in range(1, output[i] + 1):
                profile[later - 1] += sign * _held(prompt[i], later)
    return written, len(layer.started)


@compiled
def undominated(order, layer, requests, compared):  # type: ignore[no-untyped-def]
    """Return which states to keep; ``order`` sorts them by started set, then latency."""
    keep = np.zeros(len(layer.started), np.bool_)
    longest = requests.output.max() + 1
    known = np.zeros((compared, longest), np.int64)
    profile = np.zeros(longest, np.int64)
    held_back = 0
    for place in range(len(order)):
        s = order[place]
        if place == 0 or layer.started[s] != layer.started[order[place - 1]]:
            held_back = 0
        future_use(layer, s, requests, profile)
        dominated = False
        for k in range(min(held_back, compared)):
            if (known[k] <= profile).all():
                dominated = True
                break
        if not dominated:
            keep[s] = True
            if held_back < compared:
                known[held_back] = profile
                held_back += 1
    return keep
