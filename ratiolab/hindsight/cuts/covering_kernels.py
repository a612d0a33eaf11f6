"""Compiled: weights of items that separate amounts in memory from all configurations.

The program. Amounts a lie in what configurations can cover when min sum of l_Q over feasible
multisets Q, with sum over Q of l_Q count_Q(i) >= a_i for each item i, is at most 1. Its dual,
max a @ w over w >= 0 with w(Q) <= 1 for every Q, has the separating weights. The revised simplex
method solves it by columns: a heaviest configuration under the duals enters, or a surplus.

The end. With z the weight of the heaviest configuration under duals w >= 0, w / z is feasible for
the dual program, so its value lies between a @ w / z and a @ w (Farley 1990, A note on bounding a
class of linear programming problems, Oper. Res. 38). The search ends when this is narrow: what is
left of it, lifting gains with less work.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.cuts.configuration_kernels import heaviest_into

ZERO = 1e-9
"""Values below are rounding."""


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
