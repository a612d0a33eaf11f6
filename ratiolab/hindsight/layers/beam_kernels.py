"""Compiled steps of the layered search; `ratiolab.hindsight.layers.beam` explains them."""

from typing import Any

import numpy as np
from numba import njit

from ratiolab.model.footprint import held

compiled: Any = njit(cache=True, nogil=True)
_held: Any = compiled(held)


@compiled
def future_use(job, age, count, prompt, output, profile):  # type: ignore[no-untyped-def]
    """Tokens that running requests will hold 1, 2, ... rounds from now."""
    profile[:] = 0
    for k in range(count):
        i = job[k]
        for later in range(age[k] + 1, output[i] + 1):
            profile[later - age[k] - 1] += _held(prompt[i], later)


@compiled
def expand(  # type: ignore[no-untyped-def]
    started, bound, latency, count, job, age,  # states of this layer
    arrived, twin, now, wait, cost,  # of each request: costs of starting now, of waiting
    prompt, output, memory, limit, priced, paid, everyone, may_idle,
    t, ahead, above, due,  # what windows promise from t + 1 on, and the part of it that is known
    out_started, out_bound, out_least, out_latency, out_count, out_job, out_age, out_parent,
):  # fmt: skip
    """States of the next layer, and how many parents found room for theirs."""
    n, room, most = len(prompt), len(out_started), job.shape[1]
    profile = np.zeros(output.max() + 1, np.int64)
    waiting = np.zeros(n, np.int64)
    chosen = np.zeros(n + 1, np.int64)
    written = 0
    for s in range(len(started)):
        future_use(job[s], age[s], count[s], prompt, output, profile)
        candidates = 0
        least, promised = bound[s], ahead
        for i in range(n):
            if not (started[s] >> np.uint64(i)) & np.uint64(1):
                least += wait[i]
                promised -= due[i]
                if arrived[i]:
                    waiting[candidates] = i
                    candidates += 1
        mask, spent, added, depth, q = started[s], bound[s], np.int64(0), 0, 0
        fresh = True
        while True:
            if fresh:  # write the state that starts exactly the chosen requests
                running = count[s] + depth
                value = least
                for k in range(running):
                    i = job[s, k] if k < count[s] else chosen[k - count[s]]
                    grown = (age[s, k] if k < count[s] else 0) + 1
                    value -= priced[_held(prompt[i], grown), output[i] - grown]
                value += paid
                more = promised
                if more > 0:
                    for k in range(running):
                        i = job[s, k] if k < count[s] else chosen[k - count[s]]
                        grown = (age[s, k] if k < count[s] else 0) + 1
                        if grown < output[i]:
                            more -= above[i, t + 1 - grown]
                more = max(more, 0)
                idle = running == 0 and mask != everyone and not may_idle
                if value + more <= limit and not idle:
                    if written == room:
                        return written, s
                    kept = 0
                    for k in range(running):
                        i = job[s, k] if k < count[s] else chosen[k - count[s]]
                        grown = (age[s, k] if k < count[s] else 0) + 1
                        if grown < output[i]:
                            out_job[written, kept] = i
                            out_age[written, kept] = grown
                            kept += 1
                    out_started[written] = mask
                    out_bound[written] = value
                    out_least[written] = value + more
                    out_latency[written] = latency[s] + added
                    out_count[written] = kept
                    out_parent[written] = s
                    written += 1
            fresh = False
            found = -1
            if count[s] + depth < most:
                for k in range(q, candidates):
                    i = waiting[k]
                    if spent + now[i] > limit:
                        continue
                    if twin[i] >= 0 and not (mask >> np.uint64(twin[i])) & np.uint64(1):
                        continue
                    fits = True
                    for later in range(1, output[i] + 1):
                        if profile[later - 1] + _held(prompt[i], later) > memory:
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
            spent += sign * now[i]
            least += sign * (now[i] - wait[i])
            promised += sign * due[i]
            added += sign * cost[i]
            for later in range(1, output[i] + 1):
                profile[later - 1] += sign * _held(prompt[i], later)
    return written, len(started)


@compiled
def undominated(order, started, latency, count, job, age, prompt, output, compared):  # type: ignore[no-untyped-def]
    """Which states to keep; ``order`` sorts them by started set, then latency."""
    keep = np.zeros(len(started), np.bool_)
    longest = output.max() + 1
    known = np.zeros((compared, longest), np.int64)
    profile = np.zeros(longest, np.int64)
    held_back = 0
    for place in range(len(order)):
        s = order[place]
        if place == 0 or started[s] != started[order[place - 1]]:
            held_back = 0
        future_use(job[s], age[s], count[s], prompt, output, profile)
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
