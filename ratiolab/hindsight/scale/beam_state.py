"""Data of the compiled beam: requests, prices, states, their children, and waiting requests.

Requests are numbered by rising volume, times counted from the first arrival. Related values form a
record, so that one array holds them: compiled functions take few arguments, and what is read
together lies together.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray

FloatArray = NDArray[np.float64]
Records = NDArray[np.void]

REQUEST = np.dtype(
    [
        *((name, np.int64) for name in ("arrival", "prompt", "output", "mark")),
        *((name, np.float64) for name in ("delay", "credit", "least")),
        ("letters", np.uint64),
    ]
)
"""A request, and what guides its start.

``mark`` is the stamp of the last expanded state that has started it, ``delay``
by how many rounds it is expected to start later than it could, ``credit`` its tokens weighed over
the next rounds, ``least`` its cheapest cost, and ``letters`` are random bits: those of a set are
their exclusive or.
"""

STATE = np.dtype(
    [
        *((name, np.int64) for name in ("time", "depth", "node", "references", "total")),
        *((name, np.int64) for name in ("running", "started", "arrived", "following")),
        ("cost", np.float64),
        ("key", np.uint64),
    ]
)
"""A state: last start, number of requests started, leaf in the tree, children that wait (and 1
while it is expanded), sum of starts; how many run, and how many of the waiting requests are started
here, and how many had arrived when it was expanded; next free slot;
 regrets and priced idle memory so far; bits of the set of requests started.
"""

RUN = np.dtype([("end", np.int32), ("base", np.int32)])
"""A run: its end, and what it holds at time 0 were it to hold a token fewer each round earlier."""

CHILD = np.dtype(
    [
        *((name, np.float64) for name in ("score", "cost")),
        *((name, np.int32) for name in ("start", "request", "parent", "following")),
    ]
)
"""A start that a state may make next; ``following`` is the next child in its list, or -1."""

NODE = np.dtype([("before", np.int32), ("request", np.int32)])
"""A start that was kept, and the node before it."""

PENDING = np.dtype([("score", np.float64), ("child", np.int64)])
"""An entry of the heap of children."""

MOMENT = np.dtype([("time", np.int64), ("now", np.float64), ("later", np.float64)])
"""Sums over all waiting requests of least regrets from a time on, and from a little later on."""


MEMOS = 64
"""Starts whose part of the score is kept while a state is expanded; a power of 2."""

MEMO = np.dtype(
    [
        *((name, np.int64) for name in ("stamp", "start")),
        *((name, np.float64) for name in ("spent", "value", "unit")),
    ]
)
"""Parts of the score that a start adds, whichever request starts: idle memory before it; that,
regrets of waiting requests and memory idle afterwards; and what a token that is used afterwards
takes off.
"""


class Guide(NamedTuple):
    """Prices of memory, and how idle memory counts.

    Parameters
    ----------
    price : price of a token in each bucket of ``width`` times.
    sums : sums over times 0..T of the price and of price times time, shape (T + 1, 2).
    room : tokens that the prices expect to be used.
    memory : tokens that there are.
    weight, horizon : of idle memory, and rounds after a start for which memory counts.
    """

    price: FloatArray
    sums: FloatArray
    width: int
    room: float
    memory: int
    weight: float
    horizon: int


class Knobs(NamedTuple):
    """How far the beam looks.

    Parameters
    ----------
    bucket : rounds whose states compete with one another.
    candidates : waiting requests of least volume that a state tries to start.
    children : the best of them that it keeps.
    ahead : rounds from now within which arrivals are candidates.
    """

    bucket: int
    candidates: int
    children: int
    ahead: int


class Beam(NamedTuple):
    """All that a beam keeps, as a search that pauses hands it over.

    Parameters
    ----------
    requests, arrivals : `REQUEST` of each, and requests in order of arrival.
    states, runs, items : `STATE` of each slot; its `RUN` in order of ends, shape (slots, runs);
        requests that it has started and that wait in other states, shape (slots, items).
    children, heads : `CHILD`, in a list for each bucket of times that begins at its head, or -1.
    tree : `NODE` of every start that was kept.
    heap : scratch, of the children of a bucket.
    fresh : future regrets of all from one on, in order of arrival, in the bucket at hand.
    waiting : requests that arrived and that some state has not started, in rising volume,
        ``counts[WAITING]`` of them.
    table : least regret of each request at starts from each of a few buckets on, shape (n, rows).
    sums : `MOMENT` of times modulo the size.
    seen : keys of states that were kept, by their bits.
    """

    requests: Records
    arrivals: IntArray
    states: Records
    runs: Records
    items: NDArray[np.int32]
    children: Records
    heads: NDArray[np.int32]
    tree: Records
    heap: Records
    fresh: FloatArray
    waiting: IntArray
    table: NDArray[np.float32]
    sums: Records
    seen: NDArray[np.uint64]
    counts: IntArray


(
    FREE_STATE,
    FREE_STATES,
    FREE_CHILD,
    FREE_CHILDREN,
    NODES,
    MOST_RUNS,
    MOST_ITEMS,
    WAITING,
    ARRIVED,
    BUCKET,
    FIRST_ROW,
    STAMP,
    EXPANDED,
    BEST_TOTAL,
    BEST_NODE,
    DONE,
    SWEPT,
    FRESH,
    DEEPEST,
    COUNTS,
) = range(20)
"""Places in ``counts``."""


class Room(NamedTuple):
    """Scratch of the expansion of a state, which compiles sooner when it makes no arrays.

    Parameters
    ----------
    end, base, peak, profile : of what runs.
    memos, best : `MEMO` of starts, and the best children.
    number : of each request the states that have started it.
    """

    end: IntArray
    base: IntArray
    peak: IntArray
    profile: FloatArray
    memos: Records
    best: Records
    number: IntArray

    @classmethod
    def of(cls, beam: Beam, children: int) -> "Room":
        """Return room for a beam and the number of children that its states keep."""
        columns = beam.runs.shape[1] + 1
        end, base, peak = np.zeros((3, columns), np.int64)
        return cls(
            *(end, base, peak),
            np.zeros((columns, 4)),
            np.zeros(MEMOS, MEMO),
            np.zeros(children, CHILD),
            np.zeros(len(beam.requests), np.int64),
        )


def with_room(beam: Beam, width: int, children: int) -> Beam:
    """Return a beam with room for a generation of states with children."""
    count = beam.counts
    if count[FREE_STATES] <= width:
        states = _longer(beam.states, 2 * len(beam.states) + width)
        _link(states, len(beam.states), count, FREE_STATE, FREE_STATES)
        size = len(states)
        beam = beam._replace(
            states=states, runs=_longer(beam.runs, size), items=_longer(beam.items, size)
        )
    if count[FREE_CHILDREN] < (width + 1) * children:
        longer = _longer(beam.children, 2 * len(beam.children) + width * children)
        _link(longer, len(beam.children), count, FREE_CHILD, FREE_CHILDREN)
        beam = beam._replace(children=longer, heap=np.zeros(len(longer), PENDING))
    if count[NODES] + width >= len(beam.tree):
        beam = beam._replace(tree=_longer(beam.tree, 2 * len(beam.tree) + width))
    if count[MOST_RUNS] + 1 >= beam.runs.shape[1]:
        beam = beam._replace(runs=_wider(beam.runs, 2 * beam.runs.shape[1]))
    if count[MOST_ITEMS] + 1 >= beam.items.shape[1]:
        beam = beam._replace(items=_wider(beam.items, 2 * beam.items.shape[1]))
    return beam


def _link(records: Records, first: int, count: IntArray, head: int, free: int) -> None:
    """Put records from one on into the list of free ones."""
    new = np.arange(first, len(records))
    records["following"][new] = np.append(new[1:], count[head])
    count[head], count[free] = first, count[free] + len(new)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a copy with room for more along the first axis."""
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _wider(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a copy with room for more along the second axis."""
    grown = np.zeros((len(array), size), array.dtype)
    grown[:, : array.shape[1]] = array
    return grown
