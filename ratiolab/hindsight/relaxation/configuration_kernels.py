"""Compiled dynamic programs over the configurations of
`ratiolab.hindsight.relaxation.configurations`.

Items come in falling r. A state (c, S) is a prefix of c items with S tokens now; an item (m, r)
may follow when S + m + (c + 1) r <= M.

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

from ratiolab.machine_code import compiled, inner

NEVER = -(2**60)

ZERO = 1e-9
"""Values below are rounding."""


@compiled
def heaviest_into(m, r, weight, memory, best, took, counts):  # type: ignore[no-untyped-def]
    """Return the largest weight of a feasible multiset; write the count of each item.

    ``best`` and ``took`` are scratch arrays: the weight of a state, and whether an item leads
    there from the items before and itself. Their size says how many items a multiset may have.
    Weights are at least 0; integers count exactly while sums are below 2^53.
    """
    most, least = len(best) - 1, memory
    for q in range(len(m)):
        least = m[q] if m[q] < least else least
    for c in range(most + 1):
        for total in range(memory + 1):
            best[c, total] = -1.0
    best[0, 0] = 0.0
    for q in range(len(m)):
        last = (memory - m[q]) // r[q] if r[q] else most
        last = most if most < last else last
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
    for q in range(len(m)):
        counts[q] = 0
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
def raise_weights(  # type: ignore[no-untyped-def]
    table, cap, m, r, known_m, known_r, levels, size, before, after
):
    """Raise a monotone table, item after item in this order, as far as no multiset exceeds cap.

    Level r has the items (m, r) at which the table rises, or once did: what a raised item below
    them lends is never less. Raising an item changes ``before`` down from its level, ``after``
    above.

    Parameters
    ----------
    known_m, known_r : the items at which the table rises.
    levels : scratch: tokens, and weights, of the items of each level, whose number is ``size``.
    before : scratch, `NEVER` but for 0 at no tokens. ``before[r]`` will be the best weight of items
        of level r and above that reach a state, S + c r <= M.
    after : scratch, 0. ``after[r]`` will be that of items below level r that may follow a state,
        S + c (r - 1) <= M.
    """
    memory, most = len(table) - 1, before.shape[1] - 2
    for k in range(len(known_m)):
        weight = table[known_m[k], known_r[k]]
        _enter(levels, size, known_m[k], known_r[k], weight)
    _down(before, levels, size, len(size) - 1)
    _up(after, levels, size, np.int64(0))
    for i in range(len(m)):
        old, new = table[m[i], r[i]], cap
        fits = memory // (m[i] + r[i])
        for copies in range(1, (fits if fits < most else most) + 1):
            room = (cap - _beside(before, after, m[i], r[i], copies)) // copies
            new = room if room < new else new
            if new <= old:
                break
        if new > old:
            for tokens in range(m[i], memory + 1):
                for rounds in range(r[i], memory - tokens + 1):
                    if table[tokens, rounds] < new:
                        table[tokens, rounds] = new
            _enter(levels, size, m[i], r[i], new)
            _down(before, levels, size, r[i])
            _up(after, levels, size, r[i])


@inner
def _beside(before, after, m, r, copies):  # type: ignore[no-untyped-def]
    """Return the largest weight that fits beside copies of an item."""
    memory, own, beside = before.shape[2] - 1, copies * m, np.int64(0)
    for c in range(before.shape[1] - copies):
        for total in range(memory - (c + copies) * r - own + 1):
            weight = before[r, c, total] + after[r, c + copies, total + own]
            beside = weight if weight > beside else beside
    return beside


@inner
def _enter(levels, size, m, r, weight):  # type: ignore[no-untyped-def]
    """Enter an item of a level, in place of items that hold more and weigh at most as much."""
    kept = 0
    for k in range(size[r]):
        if levels[0, r, k] < m or levels[1, r, k] > weight:
            levels[0, r, kept], levels[1, r, kept] = levels[0, r, k], levels[1, r, k]
            kept += 1
    levels[0, r, kept], levels[1, r, kept] = m, weight
    size[r] = kept + 1


@inner
def _down(before, levels, size, first):  # type: ignore[no-untyped-def]
    most, memory = before.shape[1] - 1, before.shape[2] - 1
    for r in range(first, -1, -1):
        for c in range(1, most + 1):
            last = memory - c * (r + 1)
            for total in range(memory - c * r + 1):
                before[r, c, total] = before[r + 1, c, total] if total <= last else NEVER
        for k in range(size[r]):
            m, weight = levels[0, r, k], levels[1, r, k]
            for c in range(1, most + 1):
                for total in range(m, memory - c * r + 1):
                    other = before[r, c - 1, total - m] + weight
                    if before[r, c, total] < other:
                        before[r, c, total] = other


@inner
def _up(after, levels, size, first):  # type: ignore[no-untyped-def]
    most, memory = after.shape[1] - 1, after.shape[2] - 1
    for r in range(first, len(size)):
        for c in range(most + 1):
            for total in range(memory - c * r + 1):
                after[r + 1, c, total] = after[r, c, total]
        for k in range(size[r]):
            m, weight = levels[0, r, k], levels[1, r, k]
            for c in range(most - 1, -1, -1):
                for total in range(memory - (c + 1) * r - m + 1):
                    other = after[r + 1, c + 1, total + m] + weight
                    if after[r + 1, c, total] < other:
                        after[r + 1, c, total] = other


@compiled
def separating_weights(  # type: ignore[no-untyped-def]
    m, r, amount, memory, least, part, most_pivots, inverse, vectors, scratch
):
    """Find weights w with w(Q) <= 1 for all configurations, amount @ w > 1 + least.

    Items come in falling r. The excess of amount @ w over 1 is at least this part of the most
    possible, up to rounding, unless pivots run out; then no weights are found.

    Parameters
    ----------
    inverse : scratch, zeros, shape (n, n).
    vectors : scratch, five rows of n zeros; the first is the weights that are found.
    scratch : of `heaviest_into`.

    Returns
    -------
    whether weights are found.
    """
    n = len(m)
    # row i of the inverse of the basis belongs to its column i; at first copies of one item each
    weight, value, cost, direction, row = vectors
    best, took, counts = scratch
    for i in range(n):
        cost[i] = 1.0
        copies = memory // (m[i] + r[i])
        inverse[i, i] = 1.0 / (copies if copies < len(best) else len(best) - 1)
        value[i] = inverse[i, i] * amount[i]
    for _ in range(most_pivots):
        for i in range(n):
            weight[i] = 0.0
            direction[i] = 0.0
        for i in range(n):
            if cost[i]:
                for j in range(n):
                    weight[j] += inverse[i, j]
        total, surplus = 0.0, 0
        for i in range(n):
            total += weight[i] * amount[i]
            surplus = i if weight[i] < weight[surplus] else surplus
        if total <= 1 + least:
            return False
        price = 0.0
        if weight[surplus] < -ZERO:
            for i in range(n):
                direction[i] -= inverse[i, surplus]
        else:
            for i in range(n):
                weight[i] = weight[i] if weight[i] > 0.0 else 0.0
            heaviest = heaviest_into(m, r, weight, memory, best, took, counts)
            wanted = part * (total - 1)
            wanted = least if least > wanted else wanted
            if total - heaviest >= heaviest * wanted or heaviest <= 1 + ZERO:
                for i in range(n):
                    weight[i] /= heaviest
                return True
            price = 1.0
            for i in range(n):
                if counts[i]:
                    for j in range(n):
                        direction[j] += counts[i] * inverse[j, i]
        leaving, step = -1, np.inf
        for i in range(n):
            if direction[i] > ZERO and value[i] < step * direction[i]:
                leaving, step = i, (value[i] if value[i] > 0.0 else 0.0) / direction[i]
        if leaving < 0:
            return False
        for i in range(n):
            value[i] -= step * direction[i]
            row[i] = inverse[leaving, i] / direction[leaving]
        value[leaving] = step
        cost[leaving] = price
        for i in range(n):
            if direction[i] != 0.0:
                for j in range(n):
                    inverse[i, j] -= direction[i] * row[j]
        for j in range(n):
            inverse[leaving, j] = row[j]
    return False
