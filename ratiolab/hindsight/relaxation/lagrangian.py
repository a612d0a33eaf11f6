"""Duals of memory and of configuration cuts, and the exact bound that they prove.

The bound. Let u_t >= 0 be duals of the memory rows and v_{k,t} >= 0 of cuts (table k at time t),
t = 1..T, all zero beyond T. For every feasible schedule, adding dual times (row - right side),
which is at most 0, and then letting every request choose its start alone,

    latency >= sum over i of min over p >= a_i of c_i(p) - M sum_t u_t - sum_{k,t} v_{k,t} cap_k,
    c_i(p) = p + o_i - a_i + sum over ages g = 1..o_i of
             [u_{p+g} (s_i + g) + sum_k v_{k,p+g} W_k(s_i + g, o_i - g)].

The tail. A start p >= T has all its ages beyond T, where duals are zero: c_i(p) = p + o_i - a_i
grows with p, so the minimum over all p >= a_i is one over a_i <= p <= max(T, a_i). No horizon
of the schedules is assumed: T only says where duals end.

Replicas. Each replica keeps to its own memory M_r, and to the largest weight under a table of what
fits M_r. In all they keep to the sums, which take the places of M and cap_k.

Any duals prove a bound; good ones are duals of a linear program. Here they are integers over
one denominator D, so that D times the bound is an integer, found without rounding; since latency
is an integer, the bound is rounded up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.model import Instance, IntArray, held

DENOMINATOR = 10**9
"""Duals are rounded down to multiples of 1 / DENOMINATOR."""

LARGEST_VALUE = 2**62
"""Bound on intermediate values, so that 64-bit integers never overflow."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Starts of each class of equal requests up to the horizon, and their items over time.

    Parameters
    ----------
    horizon : T; times 1..T have rows. Starts reach from the arrival to max(T, arrival).
    group, start, cost : class, start and latency of each column, shape (columns,).
    first : first column of each class.
    multiplicity : requests of each class.
    column, time, m, r : column c is the item (m, r) at this time, times up to T; by column, then
        time; shape (entries,).
    """

    instance: Instance
    horizon: int
    group: IntArray = field(repr=False)
    start: IntArray = field(repr=False)
    cost: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    multiplicity: IntArray = field(repr=False)
    column: IntArray = field(repr=False)
    time: IntArray = field(repr=False)
    m: IntArray = field(repr=False)
    r: IntArray = field(repr=False)


def columns(instance: Instance, horizon: int) -> Columns:
    """Build all columns of an instance, O(n T) of them with O(n T o) entries.

    >>> columns(Instance("one", 9, [1], [2], [2]), horizon=3).start.tolist()
    [1, 2, 3]
    """
    keys = np.column_stack([instance.arrival, instance.prompt, instance.output])
    distinct, multiplicity = np.unique(keys, axis=0, return_counts=True)
    arrival, prompt, output = distinct.T
    width = np.maximum(horizon, arrival) - arrival + 1
    first = np.cumsum(width) - width
    group = np.repeat(np.arange(len(distinct)), width)
    start = np.arange(width.sum()) - first[group] + arrival[group]
    rounds = np.clip(horizon - start, 0, output[group])
    column = np.repeat(np.arange(len(start)), rounds)
    age = np.arange(rounds.sum()) - np.repeat(np.cumsum(rounds) - rounds, rounds) + 1
    return Columns(
        instance=instance,
        horizon=horizon,
        group=group,
        start=start,
        cost=start + output[group] - arrival[group],
        first=first,
        multiplicity=multiplicity,
        column=column,
        time=start[column] + age,
        m=held(prompt[group[column]], age),
        r=output[group[column]] - age,
    )


def item_costs(memory: int, duals: Duals, dense: Sequence[IntArray]) -> IntArray:
    """Return the dual cost of items (m, r) at times 0..T, scaled, shape (T + 1, M + 1, M + 1).

    ``dense`` holds the weights of each table as a matrix.
    """
    item_cost = np.zeros((len(duals.memory) + 1, memory + 1, memory + 1), np.int64)
    item_cost[1:] = np.array(duals.memory)[:, None, None] * np.arange(memory + 1)[:, None]
    for table, begin, end, dual in duals.cuts:
        item_cost[begin:end] += dual * dense[table]
    return item_cost


def capacity_costs(memory: int, duals: Duals) -> list[int]:
    """Return the sums of dual times right side of times 0..T, scaled, shape (T + 1,)."""
    most = [0] + [dual * memory for dual in duals.memory]
    for table, begin, end, dual in duals.cuts:
        for time in range(begin, end):
            most[time] += dual * duals.tables[table].cap
    return most


def reduced_costs(columns: Columns, duals: Duals, dense: Sequence[IntArray]) -> IntArray:
    """Return latency plus duals of each column, times the denominator, shape (columns,).

    Raises
    ------
    OverflowError
        when values could exceed `LARGEST_VALUE`.
    """
    memory = columns.instance.memory
    rounds, latency = int(columns.instance.output.max()), int(columns.cost.max())
    most = max(capacity_costs(memory, duals)) * rounds + latency * duals.denominator
    if most > LARGEST_VALUE:
        raise OverflowError("duals are too large for 64-bit integers")
    item_cost = item_costs(memory, duals, dense)
    total = columns.cost * duals.denominator
    np.add.at(total, columns.column, item_cost[columns.time, columns.m, columns.r])
    return total


def scaled_bound(
    columns: Columns, duals: Duals, reduced: IntArray, allowed: Sequence[int] = ()
) -> int:
    """Return the lower bound that these duals prove times their denominator, exactly.

    ``reduced`` are the `reduced_costs`. Over the denominator and rounded up it bounds latency.

    Parameters
    ----------
    allowed : what replicas together allow of each table, the memory first; by default one replica.
    """
    least = np.minimum.reduceat(reduced, columns.first)
    value: int = sum(
        count * cost
        for count, cost in zip(columns.multiplicity.tolist(), least.tolist(), strict=True)
    )
    if not allowed:
        return value - sum(capacity_costs(columns.instance.memory, duals))
    paid = allowed[0] * sum(duals.memory)
    paid += sum(dual * (end - begin) * allowed[k] for k, begin, end, dual in duals.cuts)
    return value - paid
