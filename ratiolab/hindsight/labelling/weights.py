"""Weights and multipliers in small integers, and the tables of a sweep in each direction.

`ratiolab.hindsight.labelling.sweep` says what they stand for.

Rounding. Duals over a denominator D give every item the weight W_t(m, r) and every time R_t, with
W_t(Q) <= R_t for every configuration Q. Over a smaller unit the weights floor(W_t U / D) sum to at
most W_t(Q) U / D, and to an integer, hence to at most floor(R_t U / D): these are potentials, too.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.relaxation.lagrangian import capacity_costs, item_costs
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

Words = NDArray[np.uint64]

MOST_REQUESTS = 64
"""A set of critical requests is one machine word."""

MOST_MEMORY = 127
"""Tokens are counted in seven bits of a byte."""

UNIT = 2**20
"""Costs are in parts of a round: few enough that 64 bits hold all products with duals."""

MOST_CELLS = 15 * 10**6
"""Pairs times layers of the tables of sweeps at most."""

LARGEST = 2**61
"""Sums stay below it, so that 64-bit integers never overflow."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of items and of times, rounded to multiples of 1 / unit, and a multiplier a request.

    Attributes
    ----------
    duals : what the weights are rounded from.
    unit : U; all costs are this many times those in rounds.
    weight : W_t(m, r) at times 0..T, shape (T + 1, M + 1, M + 1); zero at later times.
    capacity : R_t at times 0..T, shape (T + 1,).
    least : least cost of a start of each request, of all starts, shape (n,).
    """

    instance: Instance
    duals: Duals = field(repr=False)
    unit: int
    weight: IntArray = field(repr=False)
    capacity: IntArray = field(repr=False)
    least: IntArray = field(repr=False)

    @classmethod
    def of(cls, instance: Instance, duals: Duals, dense: list[IntArray] | None = None) -> "Weights":
        """Return the potentials that duals give.

        Parameters
        ----------
        dense : weights of the tables of the duals as matrices, if they are known.

        Raises
        ------
        OverflowError
            when numbers could exceed 64 bits.
        """
        memory = instance.memory
        dense = [table.dense(memory) for table in duals.tables] if dense is None else dense
        weight = item_costs(memory, duals, dense)
        capacity = np.array(capacity_costs(memory, duals), np.int64)
        unit = UNIT
        if max(int(weight.max()), int(capacity.max())) * unit > LARGEST:
            raise OverflowError("duals are too large for labels")
        weight = weight * unit // duals.denominator
        capacity = capacity * unit // duals.denominator
        found = cls(instance, duals, unit, weight, capacity, np.zeros(len(instance), np.int64))
        end = len(duals.memory) + int(instance.arrival.max()) + 1
        found.least[:] = [
            row[arrival:].min()
            for row, arrival in zip(found.costs(end), instance.arrival, strict=True)
        ]
        return found

    @property
    def horizon(self) -> int:
        """Return T, the last time with weights."""
        return len(self.capacity) - 1

    def costs(self, last: int) -> IntArray:
        """Return c_i(p) of starts p = 0..last, shape (n, last + 1); meaningless before arrivals."""
        instance = self.instance
        starts = np.arange(last + 1)
        total = self.unit * (starts + (instance.output - instance.arrival)[:, None])
        for i, (_, prompt, output) in enumerate(instance.requests):
            for age in range(1, output + 1):
                inside = starts[: max(0, self.horizon - age + 1)]
                total[i, inside] += self.weight[inside + age, held(prompt, age), output - age]
        return total


class Direction(NamedTuple):
    """Tables of sweeps in one direction; backward, time t is END - t, and ages are counted down.

    The pair (request i, age g < o_i) is the number ``first[i] + g``; at age 0 it starts now.

    Parameters
    ----------
    forward : whether time runs forward.
    end : END, the layer at which sweeps end.
    excess : rho of a start of each request at each layer, shape (n, END + 1), `NEVER` for none.
    pay : weight of a pair's next age at each time, shape (END + 2, pairs).
    tail : weight of all later ages of a pair together, if its next age is at that time.
    slack : R at each time, shape (END + 2,).
    tokens : packed tokens of each pair at the next time, the one after, ..., shape (pairs, words).
    first, owner, age, ends : of requests; and of pairs, whether the next age is the last.
    """

    forward: bool
    end: int
    excess: IntArray
    pay: IntArray
    tail: IntArray
    slack: IntArray
    tokens: Words
    first: IntArray
    owner: IntArray
    age: IntArray
    ends: NDArray[np.bool_]


NEVER = 2**62


def directions(
    potentials: Weights, multipliers: IntArray, limit: int
) -> tuple[Direction, Direction]:
    """Return the tables forward and backward, for relaxed schedules within a limit.

    Parameters
    ----------
    multipliers : v_i, none above the least cost of a start.
    limit : in units; starts that alone cost more are none.
    """
    instance, unit = potentials.instance, potentials.unit
    if (multipliers > potentials.least).any():
        raise ValueError("a multiplier exceeds the least cost of a start")
    arrival, prompt, output = (
        np.array(column) for column in (instance.arrival, instance.prompt, instance.output)
    )
    # after the last time with weights a start costs its latency: how late may it be?
    latest = (limit + multipliers) // unit - output + arrival
    last = max(potentials.horizon, int(arrival.max()), int(latest.max())) + 1
    cells = (last + int(output.max())) * int(output.sum())
    if cells > MOST_CELLS:
        raise OverflowError(f"{cells} pairs and layers are more than {MOST_CELLS}")
    rho = potentials.costs(last) - multipliers[:, None]
    starts = np.arange(last + 1)
    rho[(starts < arrival[:, None]) | (rho > limit)] = NEVER
    possible = np.where(rho < NEVER, starts + output[:, None], 0)
    end, longest = max(potentials.horizon, int(possible.max())), int(output.max())
    first = np.cumsum(output) - output
    owner = np.repeat(np.arange(len(instance)), output)
    age = np.arange(len(owner)) - first[owner]
    ends = age + 1 == output[owner]
    words = -(-longest // 8)
    forward = np.zeros((len(owner), 8 * words), np.uint8)
    backward = np.zeros_like(forward)
    pay = np.zeros((2, end + 2, len(owner)), np.int64)
    slack = np.zeros((2, end + 2), np.int64)
    inside = np.arange(1, potentials.horizon + 1)
    slack[0, inside] = potentials.capacity[inside]
    slack[1, end + 1 - inside] = potentials.capacity[inside]
    for pair, (i, g) in enumerate(zip(owner.tolist(), age.tolist(), strict=True)):
        s, o = int(prompt[i]), int(output[i])
        ages: Any = np.arange(g + 1, o + 1)
        forward[pair, : o - g] = held(s, ages)
        backward[pair, : o - g] = held(s, o + 1 - ages)
        pay[0, inside, pair] = potentials.weight[inside, held(s, g + 1), o - g - 1]
        pay[1, end + 1 - inside, pair] = potentials.weight[inside, held(s, o - g), g]
    excess = np.full((len(instance), end + 1), NEVER, np.int64)
    excess[:, : last + 1] = rho[:, : end + 1]
    mirrored = np.full_like(excess, NEVER)
    for i, o in enumerate(output.tolist()):
        mirrored[i, : end - o + 1] = excess[i, : end - o + 1][::-1]
    ahead, behind = (pack(tokens) for tokens in (forward, backward))
    tail = pay.copy()
    for pair in np.flatnonzero(~ends)[::-1]:
        tail[:, :-1, pair] += tail[:, 1:, pair + 1]

    def direction(forward: bool) -> Direction:
        k = 1 - forward
        return Direction(
            forward=forward,
            end=end,
            excess=excess if forward else mirrored,
            pay=pay[k],
            tail=tail[k],
            slack=slack[k],
            tokens=ahead if forward else behind,
            first=first,
            owner=owner,
            age=age,
            ends=ends,
        )

    return direction(True), direction(False)


def pack(tokens: NDArray[np.uint8]) -> Words:
    """Return rows of bytes as words, the first byte the lowest.

    >>> pack(np.array([[1, 2, 0, 0, 0, 0, 0, 0]], np.uint8)).tolist()
    [[513]]
    """
    return np.ascontiguousarray(tokens).view("<u8").astype(np.uint64)
