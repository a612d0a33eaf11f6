"""Compiled loops of the dynamic program over cells; `ratiolab.hindsight.cells.engine` drives them.

A *label* is a set of started requests, as bits, with the cells of the running requests that a later
request can still meet. Costs are integers in units of 1 / `ONE` rounds. Arrays are int64 unless a
docstring says otherwise.

A kernel stops when its buffers are full or its share of work is done, and returns where it stopped;
the caller enlarges the buffers and calls it again. Edges of the label under extension are then made
again; its successors that exist already are found again, so that nothing is counted twice.

Calls in loops list arrays one by one. A starred group would be a tuple, whose references numba
counts by atomic operations.
"""

from typing import Any, NamedTuple

import numpy as np

from ratiolab.machine_code import compiled, inner
from ratiolab.model.footprint import IntArray

ONE = 2**24
"""Units of a round of cost: multipliers are rounded down to whole units."""

CELL_BITS = 25
"""Bits of a cell's number in an entry of a label; the request's number stands above them."""

MOST_REQUESTS = 62
"""Most requests: a set of them is one signed word."""

FAR = 2**60
"""A cost that no label reaches."""

CELL = 2**CELL_BITS - 1
"""The bits of a cell's number."""

DONE, WORKED, FULL, NARROW, CROWDED, WIDE = range(6)
"""Why a kernel returned: no layer is left; its share of work is done; a buffer is full; a label has
no room for its running requests; the next layer has too many labels already, or at its end."""


class Problem(NamedTuple):
    """An instance as the kernels read it.

    Parameters
    ----------
    arrival, prompt, output : shape (n,).
    twin : for each request the one before it that is equal, or -1; it starts no later. Shape (n,).
    memory : tokens.
    """

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    twin: IntArray
    memory: int


class Costs(NamedTuple):
    """Reduced costs of starts at one cell width, in units.

    Parameters
    ----------
    cell : least reduced cost of a start within each cell, shape (n, cells).
    later : least reduced cost of a start at or after the begin of each cell, shape (n, cells).
    ahead : least reduced cost of such a start under the prices of what lies ahead.
    capacity : priced capacity of all rows.
    """

    cell: IntArray
    later: IntArray
    ahead: IntArray
    capacity: int


class Rows(NamedTuple):
    """Priced rows in order of time; see `weight_of`.

    Parameters
    ----------
    time, table : of each row; table 0 weighs tokens. Shape (rows,).
    price : price of a unit of weight, units of cost. Shape (rows,).
    weight : of the items of each table on a grid G, which rises in tokens and in rounds left. Shape
        (tables + 1, G + 1, G + 1).
    """

    time: IntArray
    table: IntArray
    price: IntArray
    weight: IntArray


class Labels(NamedTuple):
    """Labels of a level, block by block.

    Parameters
    ----------
    started : bits of the started requests.
    running : entries of the running requests, -1 after the last. int32, shape (capacity, most).
    left : earliest starts of these requests on any path to the label. int32, the same shape.
    cost, reduced : least cost, rounds, and least reduced cost of a path to the label.
    ended : least waiting, rounds, of the started requests that are no longer listed.
    rest, reduced_rest : bounds of both from the label to the end.
    coarse : the label of the coarser level that stands for this one, or -1 in the middle of a cell
        of that level.
    """

    started: IntArray
    running: Any
    left: Any
    cost: IntArray
    ended: IntArray
    reduced: IntArray
    rest: IntArray
    reduced_rest: IntArray
    coarse: IntArray


class Edges(NamedTuple):
    """Transitions between labels with their cost and reduced cost, in the order of their sources'
    extension."""

    source: IntArray
    target: IntArray
    cost: IntArray
    reduced: IntArray


class Guide(NamedTuple):
    """The surviving labels and transitions of the coarser level.

    Parameters
    ----------
    started, rest, reduced_rest : of each label.
    first : place of the first transition of each label, and one entry more.
    target, cost, reduced : of each transition.
    """

    started: IntArray
    rest: IntArray
    reduced_rest: IntArray
    first: IntArray
    target: IntArray
    cost: IntArray
    reduced: IntArray


@inner
def weight_of(rows, r, tokens, left, memory):  # type: ignore[no-untyped-def]
    """Return the weight in a row of a request that holds ``tokens`` with ``left`` rounds to go.

    `ratiolab.hindsight.relaxation.configurations` explains the grid.
    """
    table, size = rows.table[r], rows.weight.shape[1]
    if table == 0:
        return tokens
    return rows.weight[table, size * tokens // (memory + 1), size * left // (memory + 1)]


@compiled
def price_table(problem, rows, width, cells):  # type: ignore[no-untyped-def]
    """Return the price that a request pays which starts in a cell, from each row on.

    Returns
    -------
    units, shape (n, cells, rows + 1).
    """
    n, count = len(problem.arrival), len(rows.time)
    table = np.zeros((n, cells, count + 1), np.int64)
    for i in range(n):
        for cell in range(cells):
            right = (cell + 1) * width - 1
            end = max(problem.arrival[i], cell * width) + problem.output[i]
            for r in range(count - 1, -1, -1):
                t = rows.time[r]
                table[i, cell, r] = table[i, cell, r + 1]
                if right < t <= end:
                    tokens = problem.prompt[i] + t - right
                    weight = weight_of(rows, r, tokens, end - t, problem.memory)
                    table[i, cell, r] += rows.price[r] * weight
    return table


@inner
def held_at(problem, entries, lefts, count, time, width):  # type: ignore[no-untyped-def]
    """Return the tokens that requests certainly hold at a time, whichever round they started in."""
    total = 0
    for q in range(count):
        i, cell = entries[q] >> CELL_BITS, entries[q] & CELL
        right = (cell + 1) * width - 1
        if right < time <= lefts[q] + problem.output[i]:
            total += problem.prompt[i] + time - right
    return total


@inner
def earliest(problem, entries, lefts, count, i, start, last, width):  # type: ignore[no-untyped-def]
    """Return the first start in a range of rounds at which memory may admit a request, or -1.

    Other requests hold at least `held_at`. Between their ends that only grows, so that only
    ends are examined. At an end, a request fits if it starts after it, or so late that it holds
    less then.
    """
    prompt, output, memory = problem.prompt[i], problem.output[i], problem.memory
    while start <= last:
        own, after, moved = start + output, FAR, False
        for q in range(count):
            end = lefts[q] + problem.output[entries[q] >> CELL_BITS]
            if start < end <= own:
                others = held_at(problem, entries, lefts, count, end, width)
                excess = others + prompt + end - start - memory
                if excess > 0:
                    start, moved = min(start + excess, end), True
                    break
            if end >= own:
                after = min(after, end)
        if moved:
            continue
        others = held_at(problem, entries, lefts, count, own, width)
        if others + prompt + output <= memory:
            return start
        start = after + 1 - output  # its own end comes after that of another
    return -1


@compiled
def serial(problem, order, release):  # type: ignore[no-untyped-def]
    """Return the starts when each request in this order starts as early as memory allows.

    None starts before its ``release``, shape (n,).
    """
    n = len(order)
    starts = np.empty(n, np.int64)
    entries, lefts = np.empty(n, np.int64), np.empty(n, np.int64)
    for count in range(n):
        i = order[count]
        start = earliest(problem, entries, lefts, count, i, release[i], np.int64(FAR), np.int64(1))
        starts[i] = lefts[count] = start
        entries[count] = i << CELL_BITS | start
    return starts


@inner
def running_after(problem, entries, lefts, count, boundary, kept, kept_lefts):  # type: ignore[no-untyped-def]
    """Write the requests that certainly hold memory after a boundary; return how many."""
    number = 0
    for q in range(count):
        if lefts[q] + problem.output[entries[q] >> CELL_BITS] > boundary:
            kept[number], kept_lefts[number] = entries[q], lefts[q]
            number += 1
    return number


@inner
def with_delays(problem, entries, lefts, count, since, boundary, width, cost, ended):  # type: ignore[no-untyped-def]
    """Return the least waiting of all started requests at a boundary, and of the ended ones.

    Running requests that all start at their earliest may hold more than the memory. A request that
    starts a round later holds one token less, so that they wait a round more for each token too
    many. In turn, no running request waits longer than its cell allows, and ended ones have waited
    for what remains.

    Parameters
    ----------
    since : requests that ended until then are in ``ended``.
    cost : least waiting of all if each starts at its earliest.
    """
    early = late = most = 0
    for q in range(count):
        i, cell = entries[q] >> CELL_BITS, entries[q] & CELL
        end, wait = lefts[q] + problem.output[i], lefts[q] - problem.arrival[i]
        if end <= boundary:
            if end > since:
                ended += wait
            continue
        early += wait
        late += (cell + 1) * width - 1 - problem.arrival[i]
        tokens = 0  # at this end, if all start at their earliest
        for x in range(count):
            j = entries[x] >> CELL_BITS
            if lefts[x] + problem.output[j] >= end:
                tokens += problem.prompt[j] + end - lefts[x]
        most = max(most, tokens)
    cost = max(cost, ended + early + max(0, most - problem.memory))
    return cost, max(ended, cost - late)


@inner
def place_of(labels, table, begin, used, started, entries, count, coarse):  # type: ignore[no-untyped-def]
    """Return the slot of the hash table that has this label of the current block, or is free.

    Entries of earlier blocks, below ``begin``, count as free.
    """
    mask = len(table) - 1
    code = started * 0x1E3779B97F4A7C15 + coarse
    for q in range(count):
        code = (code ^ entries[q]) * 0x56E8FEB86659FD93
        code ^= code >> 29
    code ^= code >> 32
    slot = code & mask
    while True:
        k = table[slot]
        if k < begin or k >= used:
            return slot
        if labels.started[k] == started and labels.coarse[k] == coarse:
            same = True
            for q in range(labels.running.shape[1]):
                if labels.running[k, q] != (entries[q] if q < count else -1):
                    same = False
                    break
            if same:
                return slot
        slot = (slot + 1) & mask


@inner
def put(labels, table, begin, used, started, entries, lefts, count, coarse, cost, ended, reduced):  # type: ignore[no-untyped-def]
    """Return the number of a label, which is ``used`` when it is new, and keep its least costs."""
    slot = place_of(labels, table, begin, used, started, entries, count, coarse)
    k = table[slot]
    if begin <= k < used:
        labels.cost[k] = min(labels.cost[k], cost)
        labels.ended[k] = min(labels.ended[k], ended)
        labels.reduced[k] = min(labels.reduced[k], reduced)
        for q in range(count):
            labels.left[k, q] = min(labels.left[k, q], lefts[q])
        return k
    table[slot] = used
    labels.started[used] = started
    for q in range(labels.running.shape[1]):
        labels.running[used, q] = entries[q] if q < count else -1
        labels.left[used, q] = lefts[q]
    labels.cost[used], labels.ended[used], labels.reduced[used] = cost, ended, reduced
    labels.coarse[used] = coarse
    labels.rest[used] = labels.reduced_rest[used] = 0
    return used


@compiled
def rehash(labels, table, begin, used):  # type: ignore[no-untyped-def]
    """Enter the labels from ``begin`` up to ``used``, without ``used``, in a new hash table."""
    entries, lefts = np.empty((2, labels.running.shape[1]), np.int64)
    for k in range(begin, used):
        count = unpacked(labels, k, entries, lefts)
        slot = place_of(
            labels, table, begin, k, labels.started[k], entries, count, labels.coarse[k]
        )
        table[slot] = k


@inner
def lagrangian_rest(prices, later, started, entries, count, row, end):  # type: ignore[no-untyped-def]
    """Return the Lagrangian bound of the rest, units: unstarted requests in the room left over.

    Parameters
    ----------
    later : least reduced cost of each request from the boundary on.
    row : first row after it.
    end : priced capacity of the rows from ``row`` on.
    """
    total = -end
    for i in range(len(later)):
        if not started >> i & 1:
            total += later[i]
    for q in range(count):
        i, cell = entries[q] >> CELL_BITS, entries[q] & CELL
        if cell < prices.shape[1]:
            total += prices[i, cell, row]
    return total


@inner
def unpacked(labels, k, entries, lefts):  # type: ignore[no-untyped-def]
    """Write the running requests of a label to ``entries``, and return how many there are."""
    count = 0
    while count < labels.running.shape[1] and labels.running[k, count] >= 0:
        entries[count], lefts[count] = labels.running[k, count], labels.left[k, count]
        count += 1
    return count


@inner
def wasted(labels, k, costs, limit):  # type: ignore[no-untyped-def]
    """Return whether no path of interest leads through a label."""
    if (labels.cost[k] + labels.rest[k]) * ONE > limit:
        return True
    return labels.reduced[k] + labels.reduced_rest[k] - costs.capacity > limit


@compiled
def extend_first(  # type: ignore[no-untyped-def]
    problem,
    times,
    capacities,
    prices,
    costs,
    labels,
    edges,
    table,
    cursor,
    width,
    most,
    limit,
    share,
):
    """Extend the labels of the coarsest level, layer by layer.

    Parameters
    ----------
    capacities : priced capacity of the rows from each one on, units. Shape (rows + 1,).
    cursor : layer; the next label to extend; the begin of the next layer; labels; edges; least
        cost and least reduced cost of a complete path; labels from which the next layer is crowded.
        Changed in place.
    width : rounds of a cell.
    most : labels of a layer.
    limit : largest cost of interest, units.
    share : complete sets of starts to look at in this call.
    """
    n, slots = len(problem.arrival), labels.running.shape[1]
    full = 2**n - 1
    room, edge_room = len(labels.started), len(edges.source)
    inside, outside, least = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    own, least_own, outside_own = np.zeros((3, n), np.int64)
    candidates, choice = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    # of the requests chosen up to each depth: bounds, set, cost, reduced cost, entries
    value, reduced = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    chosen, cost = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    spent, count = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    entries, kept = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    lefts, kept_lefts = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    m, k, begin, used, edge = cursor[0], cursor[1], cursor[2], cursor[3], cursor[4]
    work = row = 0
    while True:
        left, boundary = m * width, (m + 1) * width
        while row < len(times) and times[row] <= boundary:
            row += 1
        for i in range(n):
            least[i] = outside[i] = costs.ahead[i, min(m + 1, costs.ahead.shape[1] - 1)]
            least_own[i] = outside_own[i] = costs.later[i, min(m + 1, costs.later.shape[1] - 1)]
            if problem.arrival[i] < boundary:
                wait = max(problem.arrival[i], left) - problem.arrival[i]
                inside[i] = wait * ONE + (prices[i, m, row] if m < prices.shape[1] else 0)
                own[i] = costs.cell[i, min(m, costs.cell.shape[1] - 1)]
                least[i] = min(inside[i], outside[i])
                least_own[i] = min(own[i], outside_own[i])
        while k < begin:
            if work > share:
                cursor[1], cursor[3], cursor[4] = k, used, edge
                return WORKED
            started = labels.started[k]
            if started == full or wasted(labels, k, costs, limit):
                k += 1
                continue
            first_edge = edge
            count[0] = unpacked(labels, k, entries, lefts)
            value[0] = labels.cost[k] * ONE - capacities[row]
            for q in range(count[0]):
                i, cell = entries[q] >> CELL_BITS, entries[q] & CELL
                if cell < prices.shape[1]:
                    value[0] += prices[i, cell, row]
            reduced[0] = labels.reduced[k] - costs.capacity
            number = 0
            for i in range(n):
                if not started >> i & 1:
                    value[0] += least[i]
                    reduced[0] += least_own[i]
                    if problem.arrival[i] < boundary:
                        candidates[number] = i
                        number += 1
            chosen[0], cost[0], spent[0] = started, labels.cost[k], labels.reduced[k]
            choice[0] = depth = 0
            while depth >= 0:
                d = depth
                if d < number:  # leave the next candidate out, then let it start
                    if choice[d] == 2:
                        depth -= 1
                        continue
                    choice[d] += 1
                    i = candidates[d]
                    value[d + 1] = value[d] - least[i] + outside[i]
                    reduced[d + 1] = reduced[d] - least_own[i] + outside_own[i]
                    chosen[d + 1], cost[d + 1] = chosen[d], cost[d]
                    spent[d + 1], count[d + 1] = spent[d], count[d]
                    if choice[d] == 2:
                        value[d + 1] += inside[i] - outside[i]
                        reduced[d + 1] += own[i] - outside_own[i]
                    if value[d + 1] > limit or reduced[d + 1] > limit:
                        continue
                    if choice[d] == 2:
                        twin = problem.twin[i]
                        if twin >= 0 and not chosen[d] >> twin & 1:
                            continue
                        start = earliest(
                            problem, entries, lefts, count[d], i,
                            max(problem.arrival[i], left), boundary - 1, width
                        )  # fmt: skip
                        if start < 0:
                            continue
                        value[d + 1] += (start - max(problem.arrival[i], left)) * ONE
                        if value[d + 1] > limit:
                            continue
                        chosen[d + 1] |= 1 << i
                        cost[d + 1] += start - problem.arrival[i]
                        spent[d + 1] += own[i]
                        entries[count[d]], lefts[count[d]] = i << CELL_BITS | m, start
                        count[d + 1] += 1
                    choice[d + 1] = 0
                    depth += 1
                    continue
                depth -= 1
                work += 1
                total, ended = with_delays(
                    problem, entries, lefts, count[d], left, boundary, width,
                    cost[d], labels.ended[k]
                )  # fmt: skip
                kept_count = rest = rest_reduced = 0
                if chosen[d] != full:
                    kept_count = running_after(
                        problem, entries, lefts, count[d], boundary, kept, kept_lefts
                    )
                    for i in range(n):
                        if not chosen[d] >> i & 1:
                            rest_reduced += outside_own[i]
                            rest += max(0, boundary - problem.arrival[i])
                    units = lagrangian_rest(
                        prices, outside, chosen[d], kept, kept_count, row, capacities[row]
                    )
                    rest = max(rest, -(-units // ONE))
                if (total + rest) * ONE > limit:
                    continue
                if spent[d] + rest_reduced - costs.capacity > limit:
                    continue
                if kept_count > slots or used >= room or edge >= edge_room or used > cursor[7]:
                    cursor[1], cursor[3], cursor[4] = k, used, first_edge
                    if used > cursor[7]:
                        return CROWDED
                    return NARROW if kept_count > slots else FULL
                new = put(
                    labels, table, begin, used, chosen[d], kept, kept_lefts, kept_count, 0,
                    total, ended, spent[d]
                )  # fmt: skip
                if new == used:
                    labels.rest[new], labels.reduced_rest[new] = rest, rest_reduced
                    used += 1
                edges.source[edge], edges.target[edge] = k, new
                edges.cost[edge] = cost[d] - labels.cost[k]
                edges.reduced[edge] = spent[d] - labels.reduced[k]
                edge += 1
                if chosen[d] == full:
                    cursor[5] = min(cursor[5], total)
                    cursor[6] = min(cursor[6], spent[d] - costs.capacity)
            k += 1
        m += 1
        cursor[0], cursor[1], cursor[2], cursor[3], cursor[4] = m, begin, used, used, edge
        if used == begin:
            return DONE
        if used - begin > most:
            return WIDE
        begin = used


@compiled
def extend(  # type: ignore[no-untyped-def]
    problem, costs, guide, labels, edges, table, cursor, width, most, limit, share
):
    """Extend the labels of a finer level, by two cells at a time.

    The requests that a surviving transition of the coarser level starts in its cell are split over
    the halves of that cell. Labels between the halves have no coarser one.

    Parameters
    ----------
    cursor : as in `extend_first`; layers are those of the coarser level.
    """
    n, slots = len(problem.arrival), labels.running.shape[1]
    full = 2**n - 1
    room, edge_room = len(labels.started) - 1, len(edges.source) - 1
    split, half = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    stay, stay_spent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    own, part_of = np.zeros((2, n), np.int64), np.zeros(n, np.int64)
    cost, spent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    entries, lefts = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    # entries in the order of their cells, and those that run after each half
    path, path_lefts = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    kept, kept_lefts = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    late, late_lefts = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    m, k, begin, used, edge = cursor[0], cursor[1], cursor[2], cursor[3], cursor[4]
    work = 0
    while True:
        left, middle, right = 2 * m * width, (2 * m + 1) * width, (2 * m + 2) * width
        while k < begin:
            if work > share:
                cursor[1], cursor[3], cursor[4] = k, used, edge
                return WORKED
            started, above = labels.started[k], labels.coarse[k]
            if above < 0 or started == full:
                k += 1
                continue
            first_edge = edge
            known = unpacked(labels, k, entries, lefts)
            unpacked(labels, k, path, path_lefts)
            for up in range(guide.first[above], guide.first[above + 1]):
                y = guide.target[up]
                after, rest, rest_reduced = guide.started[y], guide.rest[y], guide.reduced_rest[y]
                if (labels.cost[k] + guide.cost[up] + rest) * ONE > limit:
                    continue
                if labels.reduced[k] + guide.reduced[up] + rest_reduced - costs.capacity > limit:
                    continue
                number = 0
                for i in range(n):
                    if (after & ~started) >> i & 1:
                        split[number] = i
                        number += 1
                stay[number] = stay_spent[number] = 0
                for d in range(number - 1, -1, -1):
                    i = split[d]
                    stay[d] = stay[d + 1] + max(0, left - problem.arrival[i])
                    own[0, d] = costs.cell[i, min(2 * m, costs.cell.shape[1] - 1)]
                    own[1, d] = costs.cell[i, min(2 * m + 1, costs.cell.shape[1] - 1)]
                    stay_spent[d] = stay_spent[d + 1] + min(own[0, d], own[1, d])
                cost[0], spent[0] = labels.cost[k], labels.reduced[k]
                half[0] = depth = 0
                while depth >= 0:
                    d = depth
                    if d < number:
                        if half[d] == 2:
                            depth -= 1
                            continue
                        part, i = half[d], split[d]
                        half[d] += 1
                        part_of[i] = part
                        cell, begins = 2 * m + part, middle if part else left
                        if problem.arrival[i] >= begins + width:
                            continue
                        wait = max(problem.arrival[i], begins) - problem.arrival[i]
                        if (cost[d] + wait + stay[d + 1] + rest) * ONE > limit:
                            continue
                        spent[d + 1] = spent[d] + own[part, d]
                        if spent[d + 1] + stay_spent[d + 1] + rest_reduced > limit + costs.capacity:
                            continue
                        twin = problem.twin[i]
                        if twin >= 0 and not started >> twin & 1 and part_of[twin] > part:
                            continue
                        start = earliest(
                            problem, entries, lefts, known + d, i,
                            max(problem.arrival[i], begins), begins + width - 1, width
                        )  # fmt: skip
                        if start < 0:
                            continue
                        cost[d + 1] = cost[d] + start - problem.arrival[i]
                        if (cost[d + 1] + stay[d + 1] + rest) * ONE > limit:
                            continue
                        entries[known + d], lefts[known + d] = i << CELL_BITS | cell, start
                        half[d + 1] = 0
                        depth += 1
                        continue
                    depth -= 1
                    work += 1
                    between, first, all_ = started, known, known
                    early, early_spent = labels.cost[k], labels.reduced[k]
                    for part in range(1, 3):  # those of each half
                        for e in range(d):
                            if half[e] != part:
                                continue
                            path[all_], path_lefts[all_] = entries[known + e], lefts[known + e]
                            all_ += 1
                            if part == 1:
                                first = all_
                                between |= 1 << split[e]
                                early += cost[e + 1] - cost[e]
                                early_spent += own[0, e]
                    middle_cost, middle_ended = with_delays(
                        problem, path, path_lefts, first, left, middle, width,
                        early, labels.ended[k]
                    )  # fmt: skip
                    total, ended = with_delays(
                        problem, path, path_lefts, all_, middle, right, width,
                        middle_cost + cost[d] - early, middle_ended
                    )  # fmt: skip
                    if (total + rest) * ONE > limit:
                        continue
                    kept_count = late_count = 0
                    if between != full:
                        kept_count = running_after(
                            problem, path, path_lefts, first, middle, kept, kept_lefts
                        )
                    if after != full:
                        late_count = running_after(
                            problem, path, path_lefts, all_, right, late, late_lefts
                        )
                    narrow = max(kept_count, late_count) > slots
                    if narrow or used >= room or edge >= edge_room or used > cursor[7]:
                        cursor[1], cursor[3], cursor[4] = k, used, first_edge
                        if used > cursor[7]:
                            return CROWDED
                        return NARROW if narrow else FULL
                    new = put(
                        labels, table, begin, used, after, late, late_lefts, late_count, y,
                        total, ended, spent[d]
                    )  # fmt: skip
                    if new == used:
                        labels.rest[new], labels.reduced_rest[new] = rest, rest_reduced
                        used += 1
                    if after == full:
                        cursor[5] = min(cursor[5], total)
                        cursor[6] = min(cursor[6], spent[d] - costs.capacity)
                    source = k
                    if between != full:
                        source = put(
                            labels, table, begin, used, between, kept, kept_lefts, kept_count,
                            -1, middle_cost, middle_ended, early_spent
                        )  # fmt: skip
                        used += source == used
                        edges.source[edge], edges.target[edge] = k, source
                        edges.cost[edge] = early - labels.cost[k]
                        edges.reduced[edge] = early_spent - labels.reduced[k]
                        edge += 1
                    else:
                        early, early_spent = labels.cost[k], labels.reduced[k]
                    edges.source[edge], edges.target[edge] = source, new
                    edges.cost[edge] = cost[d] - early
                    edges.reduced[edge] = spent[d] - early_spent
                    edge += 1
            k += 1
        m += 1
        cursor[0], cursor[1], cursor[2], cursor[3], cursor[4] = m, begin, used, used, edge
        if used == begin:
            return DONE
        if used - begin > most:
            return WIDE
        begin = used


@inner
def by_source(labels, edges):  # type: ignore[no-untyped-def]
    """Return the places of edges in the order of their sources, and where each source begins."""
    first = np.zeros(labels + 1, np.int64)
    for e in range(len(edges)):
        first[edges[e] + 1] += 1
    for k in range(labels):
        first[k + 1] += first[k]
    fill, order = first[:-1].copy(), np.empty(len(edges), np.int64)
    for e in range(len(edges)):
        order[fill[edges[e]]] = e
        fill[edges[e]] += 1
    return first, order


@inner
def within(labels, edges, e, k, capacity, limit):  # type: ignore[no-untyped-def]
    """Return whether a path through an edge of a label may be within both limits."""
    y = edges.target[e]
    if labels.rest[y] == FAR or (labels.cost[k] + edges.cost[e] + labels.rest[y]) * ONE > limit:
        return False
    reduced = labels.reduced[k] + edges.reduced[e] + labels.reduced_rest[y]
    return reduced - capacity <= limit


@inner
def settle(labels, edges, first, order, capacity, limit, done, k):  # type: ignore[no-untyped-def]
    """Raise the rest of a label to the least over its edges that are within both limits.

    It becomes `FAR` where there is none, or where the label itself exceeds a limit.
    """
    rest = reduced = FAR
    for place in range(first[k], first[k + 1]):
        e = order[place]
        if within(labels, edges, e, k, capacity, limit):
            y = edges.target[e]
            rest = min(rest, edges.cost[e] + labels.rest[y])
            reduced = min(reduced, edges.reduced[e] + labels.reduced_rest[y])
    done[k] = 1
    labels.rest[k] = max(labels.rest[k], rest)
    labels.reduced_rest[k] = max(labels.reduced_rest[k], reduced)
    if rest == FAR or (
        (labels.cost[k] + labels.rest[k]) * ONE > limit
        or labels.reduced[k] + labels.reduced_rest[k] - capacity > limit
    ):
        labels.rest[k] = labels.reduced_rest[k] = FAR


@compiled
def settled(labels, edges, full, capacity, limit):  # type: ignore[no-untyped-def]
    """Compute the rest of all labels backward, and return the guide of the next level.

    Labels of a block come in any order: a label between the halves waits for its successors.
    """
    n = len(labels.started)
    first, order = by_source(n, edges.source)
    done = np.zeros(n, np.int64)
    for k in range(n - 1, -1, -1):
        if labels.started[k] == full:
            done[k] = 1
            continue
        if labels.coarse[k] < 0:
            for place in range(first[k], first[k + 1]):
                y = edges.target[order[place]]
                if not done[y]:
                    if labels.started[y] == full:
                        done[y] = 1
                    else:
                        settle(labels, edges, first, order, capacity, limit, done, y)
        if not done[k]:
            settle(labels, edges, first, order, capacity, limit, done, k)
    number, alive = np.full(n, -1, np.int64), 0
    for k in range(n):
        if labels.rest[k] < FAR:
            number[k] = alive
            alive += 1
    seen, at = np.full(n, -1, np.int64), np.empty(n, np.int64)
    starts, kept = np.zeros(alive + 1, np.int64), np.empty(len(order), np.int64)
    total = 0
    for k in range(n):
        if number[k] < 0:
            continue
        for place in range(first[k], first[k + 1]):
            e = order[place]
            y = edges.target[e]
            if not within(labels, edges, e, k, capacity, limit):
                continue
            if seen[y] == k:
                edges.cost[at[y]] = min(edges.cost[at[y]], edges.cost[e])
                edges.reduced[at[y]] = min(edges.reduced[at[y]], edges.reduced[e])
                continue
            seen[y], at[y] = k, e
            kept[total] = e
            total += 1
        starts[number[k] + 1] = total
    return number, starts, kept[:total]
