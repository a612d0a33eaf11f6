"""Compiled dynamic programs over configurations, which `configurations` explains.

Items come in falling r. A state (c, S) is a prefix of c items with S tokens now; an item (m, r)
may follow when S + m + (c + 1) r <= M. Weights are int64 or float64.
"""

from typing import Any

import numpy as np
from numba import njit

compiled: Any = njit(cache=True)
NEVER = -(2**60)


@compiled
def heaviest(m, r, weight, memory):  # type: ignore[no-untyped-def]
    """Largest weight of a feasible multiset of these items, and how often it holds each."""
    n = len(m)
    most = memory // m.min()
    best = np.full((n + 1, most + 1, memory + 1), NEVER, weight.dtype)
    best[0, 0, 0] = 0
    for q in range(n):
        best[q + 1] = best[q]
        for c in range(1, most + 1):
            for total in range(m[q], memory - c * r[q] + 1):
                value = best[q + 1, c - 1, total - m[q]] + weight[q]
                if value > best[q + 1, c, total]:
                    best[q + 1, c, total] = value
    c = total = 0
    for count in range(most + 1):
        for tokens in range(memory + 1):
            if best[n, count, tokens] > best[n, c, total]:
                c, total = count, tokens
    largest = best[n, c, total]
    counts = np.zeros(n, np.int64)
    q = n
    while q > 0:
        if best[q, c, total] == best[q - 1, c, total]:
            q -= 1
        else:
            counts[q - 1] += 1
            c, total = c - 1, total - m[q - 1]
    return largest, counts


@compiled
def minimal(table):  # type: ignore[no-untyped-def]
    """Items of a monotone table that weigh more than both their lesser neighbours, r falling."""
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
def _halves(m, r, weight, memory, most):  # type: ignore[no-untyped-def]
    """Best weight of the first q items that reach (c, S), and of the others that may follow it."""
    n = len(m)
    before = np.full((n + 1, most + 1, memory + 1), NEVER)
    after = np.zeros((n + 1, most + 1, memory + 1), np.int64)
    before[0, 0, 0] = 0
    for q in range(n):
        before[q + 1] = before[q]
        for c in range(1, most + 1):
            for total in range(m[q], memory - c * r[q] + 1):
                value = before[q + 1, c - 1, total - m[q]] + weight[q]
                if value > before[q + 1, c, total]:
                    before[q + 1, c, total] = value
    for q in range(n - 1, -1, -1):
        after[q] = after[q + 1]
        for c in range(most - 1, -1, -1):
            for total in range(memory - (c + 1) * r[q] - m[q] + 1):
                value = after[q, c + 1, total + m[q]] + weight[q]
                if value > after[q, c, total]:
                    after[q, c, total] = value
    return before, after


@compiled
def raise_weights(table, cap, m, r, memory):  # type: ignore[no-untyped-def]
    """Raise a monotone table, item after item in this order, as far as no multiset exceeds cap."""
    most = memory // m.min()
    known_m, known_r = minimal(table)
    weight = np.array([table[known_m[q], known_r[q]] for q in range(len(known_m))], np.int64)
    before, after = _halves(known_m, known_r, weight, memory, most)
    for i in range(len(m)):
        old = table[m[i], r[i]]
        q = 0
        while q < len(known_r) and known_r[q] >= r[i]:
            q += 1
        new = cap
        for copies in range(1, memory // (m[i] + r[i]) + 1):
            beside = 0
            own = copies * m[i]
            for c in range(most - copies + 1):
                for total in range(memory - (c + copies) * r[i] - own + 1):
                    value = before[q, c, total] + after[q, c + copies, total + own]
                    if value > beside:
                        beside = value
            new = min(new, (cap - beside) // copies)
            if new <= old:
                break
        if new > old:
            for rounds in range(r[i], memory):
                for tokens in range(m[i], memory - rounds + 1):
                    table[tokens, rounds] = max(table[tokens, rounds], new)
            known_m, known_r = minimal(table)
            weight = np.array([table[known_m[k], known_r[k]] for k in range(len(known_m))])
            before, after = _halves(known_m, known_r, weight, memory, most)
