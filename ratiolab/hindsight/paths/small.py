"""The optimum of a few requests by a walk that remembers all of them, without compiled code.

`ratiolab.hindsight.paths.walk` explains states, costs and dominance. Compiling its loops takes
longer than such a walk; here they are operations on arrays of all states of a layer. A walk that
remembers everybody leaves only schedules, so that nothing has to be joined. Which direction has
fewer states differs by a factor of ten either way: both go on in turns, the smaller one first, and
the first to arrive ends the other.
"""

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.paths.potentials import Direction
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

MOST_STATES = 2_500_000
"""States at which the walk gives up: some seconds."""

MOST_BYTES = 2**28
"""What it takes at most."""

COMPARED = 16
"""States against which another is compared."""

HIGH = np.uint64(0x8080808080808080)
BYTE, BYTES = np.uint64(8), np.uint64(56)


class Small(NamedTuple):
    """Findings of the walk: least cost or the limit plus one, starts of the cheapest, states.

    ``forward`` is the direction that arrived.
    """

    least: int
    starts: list[int]
    states: int
    forward: bool


class _Layer(NamedTuple):
    """States as columns, as in `ratiolab.hindsight.paths.kernels.States`.

    Columns of ``pairs`` without a request hold the number of pairs, which pays nothing.
    """

    cost: IntArray
    low: IntArray
    settled: IntArray
    mask: IntArray
    parent: IntArray
    pairs: NDArray[np.int64]
    tokens: NDArray[np.uint64]

    def take(self, rows: IntArray) -> "_Layer":
        return _Layer._make(column[rows] for column in self)


def small_walk(
    instance: Instance,
    sides: Sequence[Direction],
    limit: int,
    stop: Callable[[], bool],
    width: int = MOST_STATES,
) -> Small | None:
    """Find the cheapest schedule of cost at most a limit; None when it gave up.

    Parameters
    ----------
    sides : directions to walk in. limit : in units. stop : asked once a layer; True gives up.
    width : states that a layer keeps; what it leaves out may have been cheaper.
    """
    walks = [_walk(instance, direction, limit, width) for direction in sides]
    states = [0] * len(walks)
    while sum(states) <= MOST_STATES and not stop():
        turn = states.index(min(states))
        try:
            states[turn] += next(walks[turn])
        except StopIteration as end:
            least, starts = end.value
            return Small(least, starts, sum(states), sides[turn].forward)
    return None


def _walk(
    instance: Instance, direction: Direction, limit: int, width: int
) -> Generator[int, None, tuple[int, list[int]]]:
    """Yield the states of each layer; return the least cost and the starts, if there are any."""
    n, count = len(instance), len(direction.owner)
    most = instance.memory // (int(instance.prompt.min()) + 1)
    memory = np.full(8 * direction.tokens.shape[1], instance.memory, np.uint8)
    full = memory.view("<u8").astype(np.uint64)
    following = np.append(np.where(direction.ends, count, np.arange(1, count + 1)), count)
    order = np.argsort(instance.output, kind="stable").tolist()
    kinds = list(instance.requests)
    before = [range(i) if direction.forward else range(i + 1, n) for i in range(n)]
    twin = [sum(1 << j for j in before[i] if kinds[j] == kinds[i]) for i in range(n)]
    least = np.minimum.accumulate(direction.excess[:, ::-1], axis=1)[:, ::-1]
    due = np.minimum(least, limit + 1)
    none = np.zeros(1, np.int64)
    layer = _Layer(
        *(none, none, none, none, none),
        np.full((1, max(1, most)), count),
        np.zeros((1, len(full)), np.uint64),
    )
    begun: list[tuple[IntArray, IntArray]] = []
    for t in range(direction.end):
        pay = np.append(direction.pay[t + 1], 0)
        missing = (layer.mask[:, None] >> np.arange(n) & 1) == 0
        low = layer.cost + (missing * due[:, t]).sum(axis=1)
        alive = np.flatnonzero(low <= limit)
        old = layer.take(alive)
        slack = int(direction.slack[t + 1])
        layer = old._replace(
            cost=old.cost + slack - pay[old.pairs].sum(axis=1),
            low=low[alive],
            settled=old.settled + slack,
            parent=alive,
            pairs=np.sort(following[old.pairs], axis=1),
        )
        for i in order:
            excess, pair = int(direction.excess[i, t]), int(direction.first[i])
            if excess > limit:
                continue
            rise, tokens = excess - int(due[i, t]), direction.tokens[pair]
            fits = ((full - tokens | HIGH) - layer.tokens) & HIGH == HIGH
            right = (layer.low + rise <= limit) & (layer.mask & (twin[i] | 1 << i) == twin[i])
            new = layer.take(np.flatnonzero(right & fits.all(axis=1)))
            if not direction.ends[pair]:
                new.pairs[:, -1] = pair + 1
                new.pairs.sort(axis=1)
            new = new._replace(
                cost=new.cost + excess - int(direction.pay[t + 1, pair]),
                low=new.low + rise,
                settled=new.settled + excess - int(direction.tail[t + 1, pair]),
                mask=new.mask | 1 << i,
                tokens=new.tokens + tokens,
            )
            layer = _Layer._make(map(np.concatenate, zip(layer, new, strict=True)))
        shifted = layer.tokens >> BYTE
        shifted[:, :-1] |= layer.tokens[:, 1:] << BYTES
        missing = (layer.mask[:, None] >> np.arange(n) & 1) == 0
        low = layer.cost + (missing * due[:, t + 1]).sum(axis=1)
        layer = layer._replace(tokens=shifted, low=low)
        layer = _undominated(layer.take(np.flatnonzero(low <= limit)))
        if len(layer.low) > width:
            layer = layer.take(np.argpartition(layer.low, width)[:width])
        begun.append((layer.mask, layer.parent))
        yield len(layer.cost)
    done = np.where(layer.mask == 2**n - 1, layer.cost, limit + 1)
    if done.min(initial=limit + 1) > limit:
        return limit + 1, []
    starts = _starts(begun, int(done.argmin()), n)
    if not direction.forward:
        latest = (direction.end - instance.output).tolist()
        starts = [p - t for p, t in zip(latest, starts, strict=True)]
    return int(done.min()), starts


def _undominated(layer: _Layer) -> _Layer:
    """Return states that none before them, as far as compared, replaces."""
    layer = layer.take(np.lexsort((layer.settled, layer.mask)))
    rows = np.arange(len(layer.cost))
    for k in range(COMPARED):
        # those that settled least replace most, then those next to one
        mask = layer.mask[rows]
        other = np.arange(1, len(rows))
        one = other - 1 - k // 2
        if k % 2:
            one = np.searchsorted(mask, mask)[1:] + k // 2
        alike = (one >= 0) & (one < other)
        one, other = one[alike], other[alike]
        alike = mask[one] == mask[other]
        one, other = rows[one[alike]], rows[other[alike]]
        if not len(one):
            continue
        lower = ((layer.tokens[other] | HIGH) - layer.tokens[one]) & HIGH == HIGH
        rows = np.setdiff1d(rows, other[lower.all(axis=1)], assume_unique=True)
    return layer.take(rows)


def _starts(begun: list[tuple[IntArray, IntArray]], row: int, n: int) -> list[int]:
    """Return the layer in which each request begins on the way to a state of the last."""
    starts = [0] * n
    for t in range(len(begun) - 1, -1, -1):
        mask, parent = begun[t]
        before = int(parent[row])
        new = int(mask[row]) & ~int(begun[t - 1][0][before]) if t else int(mask[row])
        for i in range(n):
            if new >> i & 1:
                starts[i] = t
        row = before
    return starts
