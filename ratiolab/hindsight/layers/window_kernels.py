"""Compiled steps of windows; `ratiolab.hindsight.layers.windows` explains them."""

from typing import Any

import numpy as np
from numba import njit

from ratiolab.hindsight.layers.beam_kernels import future_use
from ratiolab.model.footprint import held

compiled: Any = njit(cache=True, nogil=True)
_held: Any = compiled(held)

HIGH = np.uint64(0x8080808080808080)
BYTES = 8


@compiled
def enter(  # type: ignore[no-untyped-def]
    bound, count, job, age,  # states that hold requests before i
    i, oldest, above,  # ages of request i up to the oldest; cost of its start at each age
    prompt, output, memory, limit,
    out_bound, out_count, out_job, out_age,
):  # fmt: skip
    """Write every state with every set of ages of request i that fits; -1 when it has no room."""
    room, most, written = len(out_bound), job.shape[1], 0
    profile = np.zeros(output.max() + 1, np.int64)
    chosen = np.zeros(most + 1, np.int64)
    for s in range(len(bound)):
        future_use(job[s], age[s], count[s], prompt, output, profile)
        value, depth, g = bound[s], 0, 0
        while True:
            if written == room:
                return -1
            out_bound[written] = value
            out_count[written] = count[s] + depth
            out_job[written] = job[s]
            out_age[written] = age[s]
            for k in range(depth):
                out_job[written, count[s] + k] = i
                out_age[written, count[s] + k] = chosen[k]
            written += 1
            while True:  # the next set in order: one age more, or another in place of the last
                g += 1
                while g > oldest and depth > 0:
                    depth -= 1
                    g = chosen[depth]
                    value -= above[g]
                    for later in range(g + 1, output[i] + 1):
                        profile[later - g - 1] -= _held(prompt[i], later)
                    g += 1
                if g > oldest:
                    break
                fits = count[s] + depth < most and value + above[g] <= limit
                for later in range(g + 1, output[i] + 1):
                    if not fits:
                        break
                    fits = profile[later - g - 1] + _held(prompt[i], later) <= memory
                if fits:
                    break
            if g > oldest:
                break
            chosen[depth] = g
            depth += 1
            value += above[g]
            for later in range(g + 1, output[i] + 1):
                profile[later - g - 1] += _held(prompt[i], later)
    return written


@compiled
def settle(bound, count, job, age, prompt, output, ahead, words, settled):  # type: ignore[no-untyped-def]
    """Profiles as bytes in words, and cost so far without the prices that running ones will pay.

    ``ahead`` holds what an item (m, r) pays later.
    """
    profile = np.zeros(BYTES * words.shape[1], np.int64)
    for s in range(len(bound)):
        future_use(job[s], age[s], count[s], prompt, output, profile)
        for k in range(words.shape[1]):
            word = np.uint64(0)
            for b in range(BYTES):
                word |= np.uint64(profile[BYTES * k + b]) << np.uint64(8 * b)
            words[s, k] = word
        settled[s] = bound[s]
        for k in range(count[s]):
            i, g = job[s, k], age[s, k]
            settled[s] -= ahead[_held(prompt[i], g), output[i] - g]


@compiled
def _within(one, other):  # type: ignore[no-untyped-def]
    """Whether no byte of one exceeds that of the other; all are below 128."""
    k = 0
    while k < len(one) and ((other[k] | HIGH) - one[k]) & HIGH == HIGH:
        k += 1
    return k == len(one)


@compiled
def undominated(order, words, compared):  # type: ignore[no-untyped-def]
    """Which states to keep; ``order`` sorts them by what is settled.

    Compared are those that proved useful, in the first half of a list, and the latest.
    """
    keep = np.zeros(len(words), np.bool_)
    known = np.zeros((compared, words.shape[1]), np.uint64)
    size, latest, half = 0, compared // 2, compared // 2
    for s in order:
        dominated = False
        for k in range(size):
            if _within(known[k], words[s]):
                dominated = True
                better = k // 2 if k < half else (k * 7919) % half
                for w in range(words.shape[1]):
                    known[k, w], known[better, w] = known[better, w], known[k, w]
                break
        if not dominated:
            keep[s] = True
            if size < compared:
                known[size] = words[s]
                size += 1
            else:
                known[latest] = words[s]
                latest = latest + 1 if latest + 1 < compared else half
    return keep
