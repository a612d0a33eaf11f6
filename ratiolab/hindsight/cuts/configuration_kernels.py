"""Compiled dynamic programs over configurations; `ratiolab.hindsight.cuts.configurations` explains.

Items come in falling r. A state (c, S) is a prefix of c items with S tokens now; an item (m, r)
may follow when S + m + (c + 1) r <= M. Weights are int64 or float64.

The program. Amounts a lie in what configurations can cover when min sum of l_Q over feasible
multisets Q, with sum over Q of l_Q count_Q(i) >= a_i for each item i, is at most 1. Its dual,
max a @ w over w >= 0 with w(Q) <= 1 for every Q, has the separating weights. The revised simplex
method solves it by columns: a heaviest configuration under the duals enters, or a surplus.

The end. With z the weight of the heaviest configuration under duals w >= 0, w / z is feasible for
the dual program, so its value lies between a @ w / z and a @ w (Farley 1990, A note on bounding a
class of linear programming problems, Oper. Res. 38). The search ends when this is narrow: lifting
gains the remainder with less work.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled

NEVER = -(2**60)

ZERO = 1e-9
"""Values below are rounding."""


@compiled
def heaviest(m, r, weight, memory):  # type: ignore[no-untyped-def]
    """Return the largest weight of a feasible multiset of items, and the count of each."""
    most = memory // m.min()
    best = np.zeros((most + 1, memory + 1), weight.dtype)
    took = np.zeros((len(m), most + 1, memory + 1), np.bool_)
    counts = np.zeros(len(m), np.int64)
    return heaviest_into(m, r, weight, memory, best, took, counts), counts


@compiled
def heaviest_into(m, r, weight, memory, best, took, counts):  # type: ignore[no-untyped-def]
    """Return the largest weight of a feasible multiset; write the count of each item.

    ``best`` and ``took`` are scratch arrays: the weight of a state, and whether an item leads
    there from the items before and itself. Weights are at least 0.
    """
    most, least = len(best) - 1, m.min()
    best[:] = -1
    best[0, 0] = 0
    for q in range(len(m)):
        last = min(most, (memory - m[q]) // r[q]) if r[q] else most
        for c in range(1, last + 1):
            for total in range((c - 1) * least + m[q], memory - c * r[q] + 1):
                value = best[c - 1, total - m[q]]
                better = value >= 0 and value + weight[q] > best[c, total]
                took[q, c, total] = better
                if better:
                    best[c, total] = value + weight[q]
    c = total = 0
    for count in range(most + 1):
        for tokens in range(count * least, memory + 1):
            if best[count, tokens] > best[c, total]:
                c, total = count, tokens
    largest = best[c, total]
    counts[:] = 0
    q = len(m) - 1
    while c:
        inside = (c - 1) * least + m[q] <= total <= memory - c * r[q]
        if inside and took[q, c, total]:
            counts[q] += 1
            c, total = c - 1, total - m[q]
        else:
            q -= 1
    return largest


@compiled
def minimal(table):  # type: ignore[no-untyped-def]
    """Return items that weigh more than both their lesser neighbours, r falling."""
    m, r = [0], [0]
    m.pop()
    r.pop()
    memory = len(table) - 1
    for rounds in range(memory, -1, -1):
        for tokens in range(1, memory - rounds + 1):
            own = table[tokens, rounds]
            if own > table[tokens - 1, rounds] and (rounds == 0 or own > table[tokens, rounds - 1]):
                m.append(tokens)
                r.append(rounds)
    return np.array(m), np.array(r)


@compiled
def raise_weights(table, cap, m, r, memory):  # type: ignore[no-untyped-def]
    """Raise a monotone table, item after item in this order, as far as no multiset exceeds cap.

    Level r has the items (m, r) at which the table rises, or once did: what a raised item below
    them lends is never less. ``before[r]`` is the best weight of items of level r and above that
    reach a state, S + c r <= M, ``after[r]`` that of items below level r that may follow one,
    S + c (r - 1) <= M. Raising an item changes ``before`` down from its level, ``after`` above.
    """
    top = max(r.max(), 0)
    known_m, known_r = minimal(table)
    if len(known_r):
        top = max(top, known_r.max())
    level_m = np.zeros((top + 1, memory + 1), np.int64)
    level_weight = np.zeros((top + 1, memory + 1), np.int64)
    size = np.zeros(top + 1, np.int64)
    for k in range(len(known_m)):
        weight = table[known_m[k], known_r[k]]
        _enter(level_m, level_weight, size, known_m[k], known_r[k], weight)
    most = memory // m.min()
    before = np.full((top + 2, most + 2, memory + 1), NEVER)
    before[:, 0, 0] = 0
    after = np.zeros((top + 2, most + 2, memory + 1), np.int64)
    _down(before, level_m, level_weight, size, top, memory)
    _up(after, level_m, level_weight, size, 0, memory)
    for i in range(len(m)):
        old, new = table[m[i], r[i]], cap
        for copies in range(1, memory // (m[i] + r[i]) + 1):
            new = min(new, (cap - _beside(before[r[i]], after[r[i]], m[i], r[i], copies)) // copies)
            if new <= old:
                break
        if new > old:
            for tokens in range(m[i], memory + 1):
                for rounds in range(r[i], memory - tokens + 1):
                    table[tokens, rounds] = max(table[tokens, rounds], new)
            _enter(level_m, level_weight, size, m[i], r[i], new)
            _down(before, level_m, level_weight, size, r[i], memory)
            _up(after, level_m, level_weight, size, r[i], memory)


@compiled
def _beside(before, after, m, r, copies):  # type: ignore[no-untyped-def]
    """Return the largest weight that fits beside copies of an item."""
    memory, own, beside = before.shape[1] - 1, copies * m, 0
    for c in range(len(before) - copies):
        for total in range(memory - (c + copies) * r - own + 1):
            beside = max(beside, before[c, total] + after[c + copies, total + own])
    return beside


@compiled
def _enter(level_m, level_weight, size, m, r, weight):  # type: ignore[no-untyped-def]
    """Enter an item of a level, in place of items that hold more and weigh at most as much."""
    kept = 0
    for k in range(size[r]):
        if level_m[r, k] < m or level_weight[r, k] > weight:
            level_m[r, kept], level_weight[r, kept] = level_m[r, k], level_weight[r, k]
            kept += 1
    level_m[r, kept], level_weight[r, kept] = m, weight
    size[r] = kept + 1


@compiled
def _down(before, level_m, level_weight, size, first, memory):  # type: ignore[no-untyped-def]
    for r in range(first, -1, -1):
        now, most = before[r], before.shape[1] - 1
        for c in range(1, most + 1):
            last = memory - c * (r + 1)
            for total in range(memory - c * r + 1):
                now[c, total] = before[r + 1, c, total] if total <= last else NEVER
        for k in range(size[r]):
            m, weight = level_m[r, k], level_weight[r, k]
            for c in range(1, most + 1):
                for total in range(m, memory - c * r + 1):
                    now[c, total] = max(now[c, total], now[c - 1, total - m] + weight)


@compiled
def _up(after, level_m, level_weight, size, first, memory):  # type: ignore[no-untyped-def]
    for r in range(first, len(size)):
        now, most = after[r + 1], after.shape[1] - 1
        for c in range(most + 1):
            for total in range(memory - c * r + 1):
                now[c, total] = after[r, c, total]
        for k in range(size[r]):
            m, weight = level_m[r, k], level_weight[r, k]
            for c in range(most - 1, -1, -1):
                for total in range(memory - (c + 1) * r - m + 1):
                    now[c, total] = max(now[c, total], now[c + 1, total + m] + weight)


@compiled
def separating_weights(m, r, amount, memory, least, part, most_pivots):  # type: ignore[no-untyped-def]
    """Return weights w with w(Q) <= 1 for all configurations, amount @ w > 1 + least, or zeros.

    Items come in falling r. The excess of amount @ w over 1 is at least this part of the most
    possible, up to rounding, unless pivots run out; then no weights are found.
    """
    n = len(m)
    # row i of the inverse of the basis belongs to its column i; at first copies of one item each
    inverse = np.zeros((n, n))
    cost = np.ones(n)
    value = np.zeros(n)
    for i in range(n):
        inverse[i, i] = 1.0 / (memory // (m[i] + r[i]))
        value[i] = inverse[i, i] * amount[i]
    weight, none, direction = np.zeros(n), np.zeros(n), np.zeros(n)
    counts = np.zeros(n, np.int64)
    most = memory // m.min()
    best = np.zeros((most + 1, memory + 1))
    took = np.zeros((n, most + 1, memory + 1), np.bool_)
    for _ in range(most_pivots):
        weight[:] = 0.0
        for i in range(n):
            if cost[i]:
                weight += inverse[i]
        total = (weight * amount).sum()
        if total <= 1 + least:
            return none
        direction[:] = 0.0
        price = 0.0
        surplus = weight.argmin()
        if weight[surplus] < -ZERO:
            direction -= inverse[:, surplus]
        else:
            weight = np.maximum(weight, 0.0)
            heaviest = heaviest_into(m, r, weight, memory, best, took, counts)
            enough = total - heaviest >= heaviest * max(least, part * (total - 1))
            if enough or heaviest <= 1 + ZERO:
                return weight / heaviest
            price = 1.0
            for i in range(n):
                if counts[i]:
                    direction += counts[i] * inverse[:, i]
        leaving, step = -1, np.inf
        for i in range(n):
            if direction[i] > ZERO and value[i] < step * direction[i]:
                leaving, step = i, max(value[i], 0.0) / direction[i]
        if leaving < 0:
            return none
        value -= step * direction
        value[leaving] = step
        cost[leaving] = price
        row = inverse[leaving] / direction[leaving]
        for i in range(n):
            if direction[i] != 0.0:
                inverse[i] -= direction[i] * row
        inverse[leaving] = row
    return none
