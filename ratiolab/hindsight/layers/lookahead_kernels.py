"""Compiled steps of looking ahead, which `lookahead` explains and proves."""

from typing import Any

import numpy as np
from numba import njit

from ratiolab.model.footprint import held

compiled: Any = njit(cache=True, nogil=True)
_held: Any = compiled(held)


@compiled
def offers(t, last, item_price, prompt, output, arrival, alive, memory):  # type: ignore[no-untyped-def]
    """What requests started at t or later may pay at t + 1, ..., last.

    Items of t + d in falling price: request, age, price and their number; and the most that items
    of so many tokens in all may pay, each item at most once.
    """
    n, span = len(prompt), last - t
    most = int(output.sum())
    request = np.zeros((span + 1, most), np.int64)
    ages = np.zeros((span + 1, most), np.int64)
    price = np.zeros((span + 1, most), np.int64)
    number = np.zeros(span + 1, np.int64)
    filled = np.zeros((span + 1, memory + 1), np.int64)
    for d in range(1, span + 1):
        k = 0
        for i in range(n):
            for age in range(1, min(d, output[i]) + 1):
                start, pays = t + d - age, item_price[i, age, t + d]
                if pays > 0 and start >= arrival[i] and alive[i, start]:
                    request[d, k], ages[d, k], price[d, k] = i, age, pays
                    k += 1
                    tokens = _held(prompt[i], age)
                    for room in range(memory, tokens - 1, -1):
                        filled[d, room] = max(filled[d, room], filled[d, room - tokens] + pays)
        order = np.argsort(-price[d, :k], kind="mergesort")
        request[d, :k], ages[d, :k] = request[d, :k][order], ages[d, :k][order]
        price[d, :k], number[d] = price[d, :k][order], k
    return request, ages, price, number, filled


@compiled
def look(  # type: ignore[no-untyped-def]
    started, bound, count, job, age,  # states before round t
    t, last, own, least, alive, item_price, paid,
    arrival, prompt, output, memory, limit, steps,
    offer_request, offer_age, offer_price, offers_at, filled,
    room,
):  # fmt: skip
    """Write how far each state is below the limit when it looks ahead; negative when above."""
    n, longest = len(prompt), output.max()
    usage = np.zeros(2 * longest + 2, np.int64)  # at t + d
    beside = np.zeros(longest + 1, np.int64)
    may = np.zeros((n, longest), np.bool_)  # start at t + x
    cheapest = np.zeros(n, np.int64)
    ends = np.zeros(job.shape[1], np.int64)
    target = np.zeros(longest + 1, np.int64)
    chosen = np.zeros(n, np.int64)
    for s in range(len(started)):
        usage[:], reach = 0, 0
        for k in range(count[s]):
            i = job[s, k]
            ends[k] = output[i] - age[s, k]
            reach = max(reach, ends[k])
            for d in range(1, ends[k] + 1):
                usage[d] += _held(prompt[i], age[s, k] + d)
        span = min(reach, last - t)
        left = limit - bound[s]
        for i in range(n):  # starts that fit beside the running requests
            may[i] = False
            if (started[s] >> np.uint64(i)) & np.uint64(1):
                continue
            cheapest[i] = least[i, t + span]
            for x in range(span):
                fits = t + x >= arrival[i] and alive[i, t + x]
                if fits and x + output[i] <= reach:
                    fits = usage[x + output[i]] + _held(prompt[i], output[i]) <= memory
                for k in range(count[s]):
                    if not fits:
                        break
                    if x < ends[k] <= x + output[i]:
                        fits = usage[ends[k]] + _held(prompt[i], ends[k] - x) <= memory
                may[i, x] = fits
                if fits:
                    cheapest[i] = min(cheapest[i], own[i, t + x])
            left -= cheapest[i] - least[i, t]
        for d in range(1, span + 1):  # what memory lets others pay
            target[d] = paid[t + d]
            for k in range(count[s]):
                if ends[k] >= d:
                    target[d] -= item_price[job[s, k], age[s, k] + d, t + d]
            short = target[d] - filled[d, memory - usage[d]]
            if short > 0:
                target[d] -= short
                left -= short
        if left >= 0:
            for i in range(n):
                for x in range(span):
                    may[i, x] = may[i, x] and own[i, t + x] - cheapest[i] <= left
        for d in range(1, span + 1):  # what sets that fit can pay
            if left < 0:
                break
            if target[d] <= 0:
                continue
            free = memory - usage[d]
            beside[:] = 0
            best, value, depth, q, taken = np.int64(0), np.int64(0), 0, 0, 0
            mask = np.uint64(0)
            while True:
                best, taken = max(best, value), taken + 1
                if best >= target[d] or taken > steps:
                    best = target[d]
                    break
                rest = filled[d, free - beside[0]]
                found = -1
                while q < offers_at[d] and value + rest > best:
                    i, grown = offer_request[d, q], offer_age[d, q]
                    if may[i, d - grown] and not (mask >> np.uint64(i)) & np.uint64(1):
                        tokens, fits = _held(prompt[i], grown), True
                        for k in range(output[i] - grown, -1, -1):
                            if usage[d + k] + beside[k] + tokens + k > memory:
                                fits = False
                                break
                        if fits:
                            found = q
                            break
                    q += 1
                if found >= 0:
                    chosen[depth], sign = found, 1
                    depth += 1
                elif depth > 0:
                    depth -= 1
                    found, sign = chosen[depth], -1
                else:
                    break
                i, grown = offer_request[d, found], offer_age[d, found]
                value += sign * offer_price[d, found]
                mask ^= np.uint64(1) << np.uint64(i)
                for older in range(grown, output[i] + 1):
                    beside[older - grown] += sign * _held(prompt[i], older)
                q = found + 1
            left -= target[d] - best
        room[s] = left
