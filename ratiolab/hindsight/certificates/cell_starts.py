"""Compiled loops of the checker of certificates by cells: the starts that a cell may see.

`ratiolab.hindsight.certificates.certify_cells` explains and proves them. Each loop goes through the
labels of a layer from a given one on and writes what it finds to the rows of a buffer. It returns
the first label that it has not finished, the rows, and the nodes of its search trees.
"""

from typing import Any, NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.cell_costs import UNIT, UNIT_BITS
from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray, held

REQUEST_BITS = 6
"""Bits of a request in an entry of a label; the number of its cell stands above them."""

REQUEST = 2**REQUEST_BITS - 1
"""The bits of a request."""

tokens = careful(held)


class Requests(NamedTuple):
    """Columns of an instance; ``twin`` is the equal request before each one, or -1."""

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    twin: IntArray
    memory: int


class Labels(NamedTuple):
    """Labels of a layer, or rows of a buffer that become labels.

    Parameters
    ----------
    key : an integer; equal labels have equal keys.
    source : label of the layer before that a row extends.
    started : bits of the started requests.
    entry : cell and request of starts that may hold memory, ascending, -1 after the last.
    left : earliest start of each of them, round.
    above : label of the coarser level, or -1 in the middle of one of its cells.
    cost, reduced : waiting, rounds, and reduced cost so far, units.
    ended : waiting of the started requests without an entry, rounds.
    rest, spare : least that both can still rise.
    """

    key: IntArray
    source: IntArray
    started: IntArray
    above: IntArray
    cost: IntArray
    reduced: IntArray
    rest: IntArray
    spare: IntArray
    ended: IntArray
    entry: Any
    left: Any

    @classmethod
    def room(cls, size: int, most: int) -> "Labels":
        """Return room for ``size`` labels of ``most`` entries."""
        columns = (np.empty(size, np.int64) for _ in range(9))
        return cls(*columns, *(np.empty((size, most), np.int32) for _ in range(2)))


class Guide(NamedTuple):
    """Labels and transitions of a level that are left, in the order of their sources."""

    started: IntArray
    rest: IntArray
    spare: IntArray
    first: IntArray
    target: IntArray
    cost: IntArray
    reduced: IntArray


@careful
def load(requests, labels, k, width, who, last, end, total):  # type: ignore[no-untyped-def]
    """Unpack the entries of a label, and return how many there are.

    Parameters
    ----------
    who, last, end : request, last round of its cell, and end if it started as early as possible.
    total : what all of them certainly hold at that end.
    """
    count = 0
    while count < labels.entry.shape[1] and labels.entry[k, count] >= 0:
        i = labels.entry[k, count] & REQUEST
        who[count] = i
        last[count] = ((labels.entry[k, count] >> REQUEST_BITS) + 1) * width - 1
        end[count] = labels.left[k, count] + requests.output[i]
        count += 1
    for q in range(count):
        total[q] = certain(requests, who, last, end, count, end[q])
    return count


@careful
def certain(requests, who, last, end, count, time):  # type: ignore[no-untyped-def]
    """Return the tokens that requests certainly hold at a time."""
    total = 0
    for q in range(count):
        if last[q] < time <= end[q]:
            total += tokens(requests.prompt[who[q]], time - last[q])
    return total


@careful
def push(requests, who, last, end, count, total, after, i, final, left):  # type: ignore[no-untyped-def]
    """Add a request with a latest start, and write the tokens certainly held at each end.

    They are ``total`` without it, ``after`` with it.
    """
    who[count], last[count], end[count] = i, final, left + requests.output[i]
    for q in range(count):
        after[q] = total[q]
        if final < end[q] <= end[count]:
            after[q] += tokens(requests.prompt[i], end[q] - final)
    after[count] = certain(requests, who, last, end, count + 1, end[count])


@careful
def earliest(requests, who, last, end, count, total, i, begin, final):  # type: ignore[no-untyped-def]
    """Return the first round from begin to final at which memory may admit a request, or -1.

    Each end of another request that lies ahead forbids starts so early that memory overflows then,
    and its own end forbids those for which it overflows at that time.
    """
    prompt, output, memory = requests.prompt[i], requests.output[i], requests.memory
    start, clear = begin, 0  # the first `clear` others, in a circle, forbid nothing
    q = 0
    while start <= final:
        if clear < count:
            if start < end[q] <= start + output:
                over = total[q] + tokens(prompt, end[q] - start) - memory
                if over > 0:
                    start, clear = min(start + over, end[q]), 0
            clear += 1
            q = q + 1 if q + 1 < count else 0
            continue
        own, beside, further = start + output, 0, 2**62
        for r in range(count):
            if end[r] >= own:
                further = min(further, end[r])
                if last[r] < own:
                    beside += tokens(requests.prompt[who[r]], own - last[r])
        if beside + tokens(prompt, output) <= memory:
            return start
        start, clear = further + 1 - output, 0  # until then the others hold no less
    return -1


@careful
def close(found, row, count):  # type: ignore[no-untyped-def]
    """End the entries of a row, and write its key."""
    key = found.started[row] * 6364136223846793005 + found.above[row]
    for q in range(count):
        key = (key ^ found.entry[row, q]) * 3935559000370003845
        key ^= key >> 31
    for q in range(count, found.entry.shape[1]):
        found.entry[row, q], found.left[row, q] = -1, 0
    found.key[row] = key ^ key >> 29


@careful
def keep(found, row, kept, code, end, output, boundary):  # type: ignore[no-untyped-def]
    """Write an entry if its request certainly holds memory after a boundary; return their number.

    No more fit than memory holds at the boundary; leaving out more would only weaken the label.
    """
    if end <= boundary or kept == found.entry.shape[1]:
        return kept
    found.entry[row, kept], found.left[row, kept] = code, end - output
    return kept + 1


@careful
def early(requests, labels, k):  # type: ignore[no-untyped-def]
    """Return the waiting of the entries of a label if each starts as early as it can."""
    waiting = 0
    for q in range(labels.entry.shape[1]):
        if labels.entry[k, q] < 0:
            break
        waiting += labels.left[k, q] - requests.arrival[labels.entry[k, q] & REQUEST]
    return waiting


@careful
def delay(requests, labels, source, found, rows, width, limit):  # type: ignore[no-untyped-def]
    """Raise the waiting of rows whose entries cannot all start as early as they can.

    Rows that then exceed the limit become no labels: they have started -1. Rows that have started
    all requests become one label, without entries.

    Parameters
    ----------
    labels, source : what each row extends.
    """
    full = 2 ** len(requests.arrival) - 1
    for row in range(rows):
        if found.started[row] < 0:
            continue
        k, least = source[row], early(requests, found, row)
        ended = labels.ended[k] + early(requests, labels, k) - least
        ended += found.cost[row] - labels.cost[k]
        over = late = 0
        for q in range(found.entry.shape[1]):
            code = found.entry[row, q]
            if code < 0:
                break
            i = code & REQUEST
            time = found.left[row, q] + requests.output[i]
            late += ((code >> REQUEST_BITS) + 1) * width - 1 - requests.arrival[i]
            total = -requests.memory
            for x in range(found.entry.shape[1]):
                if found.entry[row, x] < 0:
                    break
                j, first = found.entry[row, x] & REQUEST, found.left[row, x]
                if first + requests.output[j] >= time:
                    total += tokens(requests.prompt[j], time - first)
            over = max(over, total)
        found.cost[row] = max(found.cost[row], ended + least + over)
        found.ended[row] = max(ended, found.cost[row] - late)
        if found.cost[row] + found.rest[row] > limit:
            found.started[row] = -1
        elif found.started[row] == full:
            close(found, row, 0)


@careful
def start_sets(  # type: ignore[no-untyped-def]
    requests,
    labels,
    used,
    at,
    found,
    own,
    later,
    outside,
    certainly,
    cell,
    width,
    rows,
    capacity,
    limit,
    most,
):
    """Find the sets of requests that may start in a cell of the first level.

    Parameters
    ----------
    own, later : least reduced cost of a start in the cell and after it, units; shape (n,).
    outside, certainly, rows : under the prices of what lies ahead: least reduced cost of a start
        after the cell, `RowCosts.certain`, and priced capacity of the rows after the cell.
    capacity : priced capacity of all rows, units.
    limit : most rounds of waiting.
    most : nodes after which to return.
    """
    n, full = len(own), 2 ** len(own) - 1
    size, top = n + labels.entry.shape[1], limit * UNIT
    begin, boundary = cell * width, (cell + 1) * width
    entries = np.empty((3, size), np.int64)
    who, last, end = entries[0], entries[1], entries[2]
    total = np.empty((n + 1, size), np.int64)
    inside, gap, gap_reduced = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    ahead, ahead_reduced = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    candidate, place = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    bound, reduced = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    cost, spent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    begun, wait = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for i in range(n):
        if requests.arrival[i] < boundary:
            inside[i] = max(0, begin - requests.arrival[i]) * UNIT
            if cell < certainly.shape[1]:
                inside[i] += certainly[i, cell, 0]
            gap[i] = max(0, outside[i] - inside[i])  # the least that leaving it out adds
            gap_reduced[i] = max(0, later[i] - own[i])
    row = nodes = 0
    for k in range(at, used):
        if labels.started[k] == full:
            continue
        if nodes > most:
            return k, row, nodes
        first_row = row
        known = load(requests, labels, k, width, who, last, end, total[0])
        cost[0], spent[0] = labels.cost[k], labels.reduced[k]
        begun[0], wait[0] = labels.started[k], 0
        bound[0], reduced[0] = cost[0] * UNIT - rows, spent[0] - capacity
        for q in range(known):
            its = labels.entry[k, q] >> REQUEST_BITS
            if its < certainly.shape[1] and cell - its < certainly.shape[2]:
                bound[0] += certainly[who[q], its, cell - its]
        number = 0
        for i in range(n):
            if not begun[0] >> i & 1:
                bound[0] += outside[i] - gap[i]
                reduced[0] += later[i] - gap_reduced[i]
                wait[0] += max(0, boundary - requests.arrival[i])
                if requests.arrival[i] < boundary:
                    candidate[number] = i
                    number += 1
        ahead[number] = ahead_reduced[number] = 0
        for x in range(number - 1, -1, -1):
            ahead[x] = ahead[x + 1] + gap[candidate[x]]
            ahead_reduced[x] = ahead_reduced[x + 1] + gap_reduced[candidate[x]]
        d, fresh, place[0] = 0, True, 0
        while d >= 0:
            if fresh:  # the set without any other candidate
                nodes += 1
                if nodes > most:
                    return k, first_row, nodes
                fresh = False
                units = bound[d] + ahead[place[d]]
                every = begun[d] == full
                rest = 0 if every else max(wait[d], -((cost[d] * UNIT - units) >> UNIT_BITS))
                spare = reduced[d] + ahead_reduced[place[d]] + capacity - spent[d]
                if units <= top and cost[d] + rest <= limit and spent[d] + spare - capacity <= top:
                    if row == len(found.key):
                        return k, first_row, nodes
                    kept = 0
                    for q in range(known + d):
                        i = who[q]
                        code = (last[q] // width) << REQUEST_BITS | i
                        output = requests.output[i]
                        kept = keep(found, row, kept, code, end[q], output, boundary)
                    found.started[row], found.above[row], found.source[row] = begun[d], 0, k
                    found.cost[row], found.reduced[row] = cost[d], spent[d]
                    found.rest[row], found.spare[row] = rest, spare
                    close(found, row, kept)
                    row += 1
            if place[d] == number:
                d -= 1
                continue
            i, further = candidate[place[d]], place[d] + 1
            place[d] = further
            least, least_reduced = bound[d], reduced[d]
            bound[d] += gap[i]
            reduced[d] += gap_reduced[i]
            if bound[d] > top or reduced[d] > top:
                place[d] = number  # no set without it is of interest
            least += gap[i] - (outside[i] - inside[i])
            least_reduced += gap_reduced[i] - (later[i] - own[i])
            if least > top or least_reduced > top:
                continue
            twin = requests.twin[i]
            if twin >= 0 and not begun[d] >> twin & 1:
                continue
            lower = max(requests.arrival[i], begin)
            count = known + d
            start = earliest(requests, who, last, end, count, total[d], i, lower, boundary - 1)
            if start < 0 or least + (start - lower) * UNIT > top:
                continue
            push(requests, who, last, end, count, total[d], total[d + 1], i, boundary - 1, start)
            bound[d + 1], reduced[d + 1] = least + (start - lower) * UNIT, least_reduced
            cost[d + 1] = cost[d] + start - requests.arrival[i]
            spent[d + 1] = spent[d] + own[i]
            wait[d + 1] = wait[d] - max(0, boundary - requests.arrival[i])
            begun[d + 1] = begun[d] | 1 << i
            place[d + 1] = further
            d, fresh = d + 1, True
    return used, row, nodes


@careful
def split_sets(  # type: ignore[no-untyped-def]
    requests,
    labels,
    used,
    at,
    half,
    found,
    guide,
    reduced_costs,
    cell,
    width,
    capacity,
    limit,
    most,
):
    """Split what coarser transitions start over the halves of their cell.

    Row by row, ``half`` gets the label between the halves and ``found`` the one after them; it has
    started -1 if all have started before.

    Parameters
    ----------
    reduced_costs : least of a start in each cell of this level, see `RowCosts.cells`.
    cell : the cell of the coarser level.
    width : rounds of a half.
    """
    n = len(requests.arrival)
    full, size, top = 2**n - 1, n + labels.entry.shape[1], limit * UNIT
    left, middle, right = 2 * cell * width, (2 * cell + 1) * width, (2 * cell + 2) * width
    entries = np.empty((3, size), np.int64)
    who, last, end = entries[0], entries[1], entries[2]
    total = np.empty((n + 1, size), np.int64)
    split, tried = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    stay, stay_spent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    cost, spent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    own = np.empty((2, n), np.int64)
    for i in range(n):
        for part in range(2):
            place = 2 * cell + part
            if place < reduced_costs.shape[1]:
                own[part, i] = reduced_costs[i, place]
            else:
                own[part, i] = (place * width - requests.arrival[i]) * UNIT
    row = nodes = 0
    for k in range(at, used):
        above, started = labels.above[k], labels.started[k]
        if started == full:
            continue
        if nodes > most:
            return k, row, nodes
        first_row = row
        known = load(requests, labels, k, width, who, last, end, total[0])
        cost[0], spent[0] = labels.cost[k], labels.reduced[k]
        for e in range(guide.first[above], guide.first[above + 1]):
            y = guide.target[e]
            rest, spare, after = guide.rest[y], guide.spare[y], guide.started[y]
            if (
                cost[0] + guide.cost[e] + rest > limit
                or spent[0] + guide.reduced[e] + spare - capacity > top
            ):
                continue
            number = 0
            for i in range(n):
                if (after & ~started) >> i & 1:
                    split[number] = i
                    number += 1
            stay[number], stay_spent[number] = 0, spare - capacity
            for x in range(number - 1, -1, -1):
                i = split[x]
                stay[x] = stay[x + 1] + max(0, left - requests.arrival[i])
                stay_spent[x] = stay_spent[x + 1] + min(own[0, i], own[1, i])
            tried[0] = d = 0
            while d >= 0:
                if d == number:
                    nodes += 1
                    if nodes > most:
                        return k, first_row, nodes
                    if row == len(found.key):
                        return k, first_row, nodes
                    between, early, early_spent = started, cost[0], spent[0]
                    for x in range(d):
                        if tried[x] == 1:
                            between |= 1 << split[x]
                            early += cost[x + 1] - cost[x]
                            early_spent += spent[x + 1] - spent[x]
                    first = second = 0
                    for part in range(3):  # known ones, then those of each half
                        for q in range(known + d):
                            if part != (tried[q - known] if q >= known else 0):
                                continue
                            code = (last[q] // width) << REQUEST_BITS | who[q]
                            output = requests.output[who[q]]
                            if part < 2:
                                first = keep(half, row, first, code, end[q], output, middle)
                            second = keep(found, row, second, code, end[q], output, right)
                    half.started[row], half.above[row], half.source[row] = between, -1, k
                    half.cost[row], half.reduced[row] = early, early_spent
                    half.rest[row] = half.spare[row] = 0
                    close(half, row, first)
                    found.started[row] = after if between != full else -1
                    found.above[row] = y
                    found.cost[row], found.reduced[row] = cost[d], spent[d]
                    found.rest[row], found.spare[row] = rest, spare
                    close(found, row, second)
                    row += 1
                    d -= 1
                    continue
                if tried[d] == 2:
                    d -= 1
                    continue
                i, part = split[d], tried[d]
                tried[d] += 1
                begin = middle if part else left
                lower, final = max(requests.arrival[i], begin), begin + width - 1
                others = stay[d + 1] + rest
                if lower > final or cost[d] + lower - requests.arrival[i] + others > limit:
                    continue
                if spent[d] + own[part, i] + stay_spent[d + 1] > top:
                    continue
                if part == 0 and requests.twin[i] >= 0:
                    waits = False  # for an equal request that starts in the second half
                    for x in range(d):
                        if split[x] == requests.twin[i] and tried[x] == 2:
                            waits = True
                    if waits:
                        continue
                count = known + d
                start = earliest(requests, who, last, end, count, total[d], i, lower, final)
                if start < 0:
                    continue
                cost[d + 1] = cost[d] + start - requests.arrival[i]
                if cost[d + 1] + others > limit:
                    continue
                spent[d + 1] = spent[d] + own[part, i]
                push(requests, who, last, end, count, total[d], total[d + 1], i, final, start)
                tried[d + 1] = 0
                d += 1
    return used, row, nodes
