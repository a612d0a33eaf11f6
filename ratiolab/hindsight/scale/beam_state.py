"""What the compiled beam keeps: requests, prices, states, their children, and who waits.

Requests are numbered by rising volume, times counted from the first arrival.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ratiolab.model.footprint import IntArray

compiled: Any = njit(cache=True, nogil=True, error_model="numpy")
inlined: Any = njit(cache=True, nogil=True, error_model="numpy", inline="always")
"""Within another compiled function: no references to arrays are counted on each call."""

FloatArray = NDArray[np.float64]


class Requests(NamedTuple):
    """The columns of an instance in order of volume, and who arrives when.

    Parameters
    ----------
    arrivals : requests in order of arrival.
    letters : random bits of each request; those of a set are their exclusive or.
    """

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    memory: int
    arrivals: IntArray
    letters: NDArray[np.uint64]


class Guide(NamedTuple):
    """Prices of memory, and what they say of a start.

    Parameters
    ----------
    price : of a token in each bucket of ``width`` times.
    level, moment : sums over times 0..T of the price and of price times time.
    least : cheapest cost of each request.
    room : tokens that the prices expect to be used.
    delay : rounds by which each request is expected to start later than it could.
    credit : tokens weighed over the next rounds that a start of each request uses.
    weight, horizon : of idle memory, and rounds after a start for which memory counts.
    """

    price: FloatArray
    level: FloatArray
    moment: FloatArray
    least: FloatArray
    width: int
    room: float
    delay: FloatArray
    credit: FloatArray
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


class States(NamedTuple):
    """States in slots; a slot with no references is free.

    Parameters
    ----------
    time, depth, node, references, total : last start, requests started, leaf in the tree, children
        that wait (and 1 while it is expanded), sum of starts.
    cost, key : regrets and priced idle memory so far, and the bits of the set of requests started.
    running, end, base : how many run, when each ends in rising order, and what it holds at time 0
        were it to hold as many tokens fewer as rounds earlier.
    started, item : how many requests have been started that still count as waiting, and which.
    free : slots that are free, the first ``counts[FREE_STATES]`` of them.
    """

    time: IntArray
    depth: IntArray
    node: IntArray
    references: IntArray
    total: IntArray
    cost: FloatArray
    key: NDArray[np.uint64]
    running: IntArray
    end: NDArray[np.int32]
    base: NDArray[np.int32]
    started: IntArray
    item: NDArray[np.int32]
    free: IntArray


class Children(NamedTuple):
    """Starts that states may make next, in lists by bucket of time.

    Parameters
    ----------
    score, cost, start, request, parent, following : of each child; the last is the next in its
        list or the next free child, -1 at the end.
    head : first child of the list of each bucket.
    """

    score: FloatArray
    cost: FloatArray
    start: IntArray
    request: IntArray
    parent: IntArray
    following: IntArray
    head: IntArray


class Tree(NamedTuple):
    """Every start that was kept, and the one before it."""

    before: NDArray[np.int32]
    request: NDArray[np.int32]
    start: NDArray[np.int32]


class Waiting(NamedTuple):
    """Requests that arrived and that some state has not started, shared by all states.

    Parameters
    ----------
    request : those, in rising volume; ``counts[WAITING]`` of them.
    present : whether a request is among them.
    table : least regret of each request at starts from each of a few buckets on.
    sum_time, sum_now, sum_later : sums over all of them of regrets from a time on and from a little
        later on, by time modulo size.
    mark : scratch, of requests that a state has started.
    """

    request: IntArray
    present: NDArray[np.bool_]
    table: NDArray[np.float32]
    sum_time: IntArray
    sum_now: FloatArray
    sum_later: FloatArray
    mark: IntArray


class Beam(NamedTuple):
    """All of it, as a search that pauses hands it over."""

    states: States
    children: Children
    tree: Tree
    waiting: Waiting
    seen: NDArray[np.uint64]
    counts: IntArray


(
    FREE_STATES,
    FREE_CHILD,
    NODES,
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
    DEEPEST,
    COUNTS,
) = range(15)
"""Places in ``counts``."""


@compiled
def longer(array, size):  # type: ignore[no-untyped-def]
    """Return a copy with room for more along the first axis."""
    shape = (size, *array.shape[1:])
    grown = np.zeros(shape, array.dtype)
    grown[: len(array)] = array
    return grown


@compiled
def wider(array, size):  # type: ignore[no-untyped-def]
    """Return a copy of a matrix with room for more along the second axis."""
    grown = np.zeros((array.shape[0], size), array.dtype)
    grown[:, : array.shape[1]] = array
    return grown


@compiled
def with_free_state(states, count):  # type: ignore[no-untyped-def]
    """Return states of which one at least is free."""
    if count[FREE_STATES] > 0:
        return states
    old = len(states.time)
    size = 2 * old
    free = longer(states.free, size)
    for i in range(old, size):
        free[count[FREE_STATES]] = i
        count[FREE_STATES] += 1
    return States(
        longer(states.time, size),
        longer(states.depth, size),
        longer(states.node, size),
        longer(states.references, size),
        longer(states.total, size),
        longer(states.cost, size),
        longer(states.key, size),
        longer(states.running, size),
        longer(states.end, size),
        longer(states.base, size),
        longer(states.started, size),
        longer(states.item, size),
        free,
    )


@compiled
def with_room_for_more(states, runs, items):  # type: ignore[no-untyped-def]
    """Return states that hold at least so many running and started requests."""
    end, base, item = states.end, states.base, states.item
    if end.shape[1] < runs:
        end, base = wider(end, 2 * runs), wider(base, 2 * runs)
    if item.shape[1] < items:
        item = wider(item, 2 * items)
    return States(
        states.time,
        states.depth,
        states.node,
        states.references,
        states.total,
        states.cost,
        states.key,
        states.running,
        end,
        base,
        states.started,
        item,
        states.free,
    )


@compiled
def with_free_children(children, count, needed):  # type: ignore[no-untyped-def]
    """Return children of which so many at least are free."""
    free, c = 0, count[FREE_CHILD]
    while c >= 0 and free < needed:
        free, c = free + 1, children.following[c]
    if free == needed:
        return children
    old = len(children.score)
    size = 2 * old + needed
    following = longer(children.following, size)
    for i in range(old, size):
        following[i] = count[FREE_CHILD]
        count[FREE_CHILD] = i
    return Children(
        longer(children.score, size),
        longer(children.cost, size),
        longer(children.start, size),
        longer(children.request, size),
        longer(children.parent, size),
        following,
        children.head,
    )


@compiled
def with_node(tree, count):  # type: ignore[no-untyped-def]
    """Return a tree with room for one more start."""
    if count[NODES] < len(tree.before):
        return tree
    size = 2 * len(tree.before)
    return Tree(longer(tree.before, size), longer(tree.request, size), longer(tree.start, size))
