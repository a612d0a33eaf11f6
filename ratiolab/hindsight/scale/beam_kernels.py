"""The compiled beam: one bucket of times after the other, one generation after the other."""

import numpy as np

from ratiolab.hindsight.scale.beam_state import (
    ARRIVED,
    BEST_NODE,
    BEST_TOTAL,
    BUCKET,
    DEEPEST,
    DONE,
    EXPANDED,
    FIRST_ROW,
    FREE_CHILD,
    FREE_CHILDREN,
    FREE_STATE,
    FREE_STATES,
    FRESH,
    MOST_ITEMS,
    MOST_RUNS,
    NODES,
    SWEPT,
    WAITING,
)
from ratiolab.hindsight.scale.expand_kernels import expand, future, tabulate, welcome
from ratiolab.machine_code import compiled, inner

MOST_GENERATIONS = 200

SWEEP = 16
"""Buckets between two looks for requests that every state has started."""

ODD = np.uint64(0x9E3779B97F4A7C15)


@inner
def release(states, count, at):  # type: ignore[no-untyped-def]
    """Drop one reference to a state, and free its slot with the last."""
    state = states[at]
    state.references -= 1
    if state.references == 0:
        state.following = count[FREE_STATE]
        count[FREE_STATE] = at
        count[FREE_STATES] += 1


@inner
def born(beam, child):  # type: ignore[no-untyped-def]
    """Return the slot of the state after a child's start, which holds one reference."""
    states, runs, items, count = beam.states, beam.runs, beam.items, beam.counts
    at, before = count[FREE_STATE], np.int64(child.parent)
    state, parent = states[at], states[before]
    count[FREE_STATE] = state.following
    count[FREE_STATES] -= 1
    i, p = np.int64(child.request), np.int64(child.start)
    request, number = beam.requests[i], count[NODES]
    node = beam.tree[number]
    node.before, node.request = parent.node, i
    count[NODES] += 1
    state.time, state.node, state.references = p, number, 1
    state.depth, state.total = parent.depth + 1, parent.total + p
    state.cost, state.key = child.cost, parent.key ^ request.letters
    done, kept, k = p + request.output, 0, 0
    while k < parent.running and runs[before, k].end <= p:
        k += 1
    while k < parent.running and runs[before, k].end <= done:
        runs[at, kept] = runs[before, k]
        kept += 1
        k += 1
    run = runs[at, kept]
    run.end, run.base = done, request.prompt - p
    kept += 1
    while k < parent.running:
        runs[at, kept] = runs[before, k]
        kept += 1
        k += 1
    state.running = kept
    for k in range(parent.started):
        items[at, k] = items[before, k]
    items[at, parent.started] = i
    state.started = parent.started + 1
    count[MOST_RUNS] = max(count[MOST_RUNS], kept)
    count[MOST_ITEMS] = max(count[MOST_ITEMS], state.started)
    count[DEEPEST] = max(count[DEEPEST], state.depth)
    return at


@inner
def sift(heap, size, k):  # type: ignore[no-untyped-def]
    """Let an entry of a heap sink to its place; the least score stands first."""
    score, child = heap[k].score, heap[k].child
    while True:
        least = 2 * k + 1
        if least >= size:
            break
        if least + 1 < size and heap[least + 1].score < heap[least].score:
            least += 1
        if heap[least].score >= score:
            break
        heap[k] = heap[least]
        k = least
    heap[k].score, heap[k].child = score, child


@inner
def fresh_regrets(beam, guide, arrived, t):  # type: ignore[no-untyped-def]
    """Return the future regrets, from t on, of all requests but the first to arrive.

    Sums of the bucket at hand are kept.
    """
    count, fresh = beam.counts, beam.fresh
    while count[FRESH] > arrived:
        j = count[FRESH] - 1
        i = beam.arrivals[j]
        row = beam.table[i]
        lost = future(beam.requests[i], row, count[FIRST_ROW], guide.width, t)
        fresh[j] = fresh[j + 1] + lost
        count[FRESH] = j
    return fresh[arrived]


@inner
def gather(beam, guide, key, t):  # type: ignore[no-untyped-def]
    """Make the children of a bucket a heap; return their number.

    Their scores do not count requests that arrived after their parents were expanded, which makes
    children that come after a long pause look better than they are.
    """
    heap, children = beam.heap, beam.children
    size, c = 0, np.int64(beam.heads[key])
    while c >= 0:
        child = children[c]
        arrived = beam.states[child.parent].arrived
        heap[size].score = child.score + fresh_regrets(beam, guide, arrived, t)
        heap[size].child = c
        size, c = size + 1, np.int64(child.following)
    beam.heads[key] = -1
    for k in range(size // 2 - 1, -1, -1):
        sift(heap, size, k)
    return size


@inner
def is_new(beam, child):  # type: ignore[no-untyped-def]
    """Return whether no state with this set of requests and last start was kept, as far as known.

    Bits of older states make room for newer ones.
    """
    seen = beam.seen
    bits = beam.states[child.parent].key ^ beam.requests[child.request].letters
    bits ^= np.uint64(child.start + 1) * ODD
    place = (bits ^ (bits >> np.uint64(29))) & np.uint64(len(seen) - 1)
    if seen[place] == bits:
        return False
    seen[place] = bits
    return True


@inner
def sweep(beam, number):  # type: ignore[no-untyped-def]
    """Forget requests that every state has started; ``number`` is scratch."""
    states, items, waiting, count = beam.states, beam.items, beam.waiting, beam.counts
    for i in range(len(beam.requests)):
        number[i] = 0
    live = 0
    for at in range(len(states)):
        if states[at].references > 0:
            live += 1
            for k in range(states[at].started):
                number[items[at, k]] += 1
    for j in range(count[ARRIVED], len(beam.arrivals)):
        number[beam.arrivals[j]] = 0  # a request that is yet to arrive would be started again
    kept = 0
    for k in range(count[WAITING]):
        i = waiting[k]
        if number[i] < live:
            waiting[kept] = i
            kept += 1
    if kept == count[WAITING]:
        return
    count[WAITING] = kept
    for k in range(len(beam.sums)):
        beam.sums[k].time = -1
    for at in range(len(states)):
        if states[at].references > 0:
            kept = 0
            for k in range(states[at].started):
                if number[items[at, k]] < live:
                    items[at, kept] = items[at, k]
                    kept += 1
            states[at].started = kept


@inner
def enter(beam, guide, knobs, room, key):  # type: ignore[no-untyped-def]
    """Bring the table of regrets and the waiting requests up to a bucket of times."""
    count, width, rows = beam.counts, guide.width, beam.table.shape[1]
    row = key * knobs.bucket // width
    far = (count[FIRST_ROW] + rows) * width < len(guide.sums)
    if far and row - count[FIRST_ROW] > rows // 2:
        count[FIRST_ROW] = row - 1
        for k in range(len(beam.sums)):
            beam.sums[k].time = -1
        for k in range(count[WAITING]):
            tabulate(beam, guide, beam.waiting[k])
    welcome(beam, guide, (key + 1) * knobs.bucket + knobs.ahead)
    if key - count[SWEPT] >= SWEEP:
        sweep(beam, room.number)
        count[SWEPT] = key
    count[FRESH] = count[ARRIVED]
    beam.fresh[count[ARRIVED]] = 0.0


@compiled
def advance(beam, guide, knobs, room, width, budget):  # type: ignore[no-untyped-def]
    """Go on until the beam is done, lacks room, or has expanded ``most`` states.

    ``width`` states are kept of each bucket and generation: a generation are the children that a
    bucket holds before any of them is expanded. ``room`` is scratch.
    """
    states, children, heads, count = beam.states, beam.children, beam.heads, beam.counts
    heap, n = beam.heap, len(beam.requests)
    if count[BUCKET] < 0:
        count[BUCKET] = 0
        state = states[count[FREE_STATE]]
        at = count[FREE_STATE]
        count[FREE_STATE] = state.following
        count[FREE_STATES] -= 1
        state.node, state.references = -1, 1
        state.time = beam.requests[beam.arrivals[0]].arrival
        welcome(beam, guide, state.time + knobs.ahead)
        expand(beam, guide, knobs, room, at)
        state.references -= 1
    upto = count[EXPANDED] + budget
    while count[EXPANDED] < upto:
        key = count[BUCKET]
        while key < len(heads) and heads[key] < 0:
            key += 1
        count[BUCKET] = key
        if key == len(heads):
            count[DONE] = 1
            break
        enter(beam, guide, knobs, room, key)
        generation = 0
        while heads[key] >= 0:
            if (
                count[FREE_STATES] <= width
                or count[FREE_CHILDREN] < (width + 1) * knobs.children
                or count[NODES] + width >= len(beam.tree)
                or count[MOST_RUNS] + 1 >= beam.runs.shape[1]
                or count[MOST_ITEMS] + 1 >= beam.items.shape[1]
            ):
                return
            size, kept = gather(beam, guide, key, key * knobs.bucket), 0
            generation += 1
            while size:
                c, child = heap[0].child, children[heap[0].child]
                size -= 1
                heap[0] = heap[size]
                if kept < width and generation <= MOST_GENERATIONS:
                    sift(heap, size, np.int64(0))  # int64 as elsewhere: compiled once
                    if is_new(beam, child):
                        kept += 1
                        count[EXPANDED] += 1
                        at = born(beam, child)
                        state = states[at]
                        if state.depth < n:
                            expand(beam, guide, knobs, room, at)
                        elif state.total < count[BEST_TOTAL]:
                            count[BEST_TOTAL], count[BEST_NODE] = state.total, state.node
                        release(states, count, at)
                release(states, count, np.int64(child.parent))
                child.following = count[FREE_CHILD]
                count[FREE_CHILD] = c
                count[FREE_CHILDREN] += 1
