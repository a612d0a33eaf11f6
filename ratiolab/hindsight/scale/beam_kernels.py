"""The compiled beam: one state expanded, one bucket of times after the other."""

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
    FREE_STATES,
    NODES,
    STAMP,
    SWEPT,
    WAITING,
    Beam,
    compiled,
    inlined,
    with_free_children,
    with_free_state,
    with_node,
    with_room_for_more,
)

FAR = np.int64(2) ** 60
MOST_GENERATIONS = 200
SWEEP = 16


@inlined
def regret(requests, guide, i, p):  # type: ignore[no-untyped-def]
    """Return what start p of a request costs above its cheapest start."""
    end = len(guide.level) - 1
    done = p + requests.output[i]
    low, high = min(p, end), min(done, end)
    cost = done - requests.arrival[i] + guide.moment[high] - guide.moment[low]
    cost += (requests.prompt[i] - p) * (guide.level[high] - guide.level[low])
    return cost - guide.least[i]


@compiled
def tabulate(requests, guide, waiting, count, i):  # type: ignore[no-untyped-def]
    """Write the least regrets of a request from the first buckets of the table on."""
    width, rows = guide.width, len(waiting.table)
    first, arrival = count[FIRST_ROW], requests.arrival[i]
    offset = requests.output[i] - arrival - guide.least[i]
    p = max((first + rows) * width, arrival)
    least = np.inf
    while p < len(guide.level) + width and p + offset < least:
        least = min(least, regret(requests, guide, i, p))
        p += width
    for b in range(rows - 1, -1, -1):
        p = (first + b) * width
        if p >= arrival - width:
            least = min(least, regret(requests, guide, i, max(p, arrival)))
            waiting.table[b, i] = max(0.0, least)
        else:
            waiting.table[b, i] = 0.0


@inlined
def future(guide, waiting, count, i, t):  # type: ignore[no-untyped-def]
    """Return the least regret of a request that does not start before t and its delay."""
    width, rows = guide.width, len(waiting.table)
    x = (t + guide.delay[i]) / width - count[FIRST_ROW]
    b = np.int64(x)
    if b >= rows - 1:
        return waiting.table[rows - 1, i] + (x - (rows - 1)) * width
    part = x - b
    return waiting.table[b, i] * (1 - part) + waiting.table[b + 1, i] * part


@compiled
def future_of_all(requests, guide, knobs, waiting, count, t):  # type: ignore[no-untyped-def]
    """Return the sums of future regrets, from now and from `ahead` later, of all known now."""
    place, known = t % len(waiting.sum_time), t + knobs.ahead
    if waiting.sum_time[place] != t:
        now, later = 0.0, 0.0
        for k in range(count[WAITING]):
            i = waiting.request[k]
            if requests.arrival[i] <= known:
                now += future(guide, waiting, count, i, t)
                later += future(guide, waiting, count, i, known)
        waiting.sum_time[place] = t
        waiting.sum_now[place], waiting.sum_later[place] = now, later
    return waiting.sum_now[place], waiting.sum_later[place]


@inlined
def price_at(guide, t):  # type: ignore[no-untyped-def]
    """Return the price of a token at a time."""
    b = (t - 1) // guide.width
    return guide.price[b] if 0 <= b < len(guide.price) else 0.0


@compiled
def sums_of_use(end, base, running, t, use, weighed, held):  # type: ignore[no-untyped-def]
    """Write the tokens held over times t + 1.. up to each end, and weighed by time minus t."""
    hold = np.int64(0)
    for k in range(running):
        hold += base[k]
    x, before, weight = np.int64(0), 0.0, 0.0
    for k in range(running):
        use[k], weighed[k], held[k] = before, weight, hold
        y, number = np.int64(end[k] - t), running - k
        level = np.float64(hold + number * t)
        first = y * (y + 1) / 2 - x * (x + 1) / 2
        second = y * (y + 1) * (2 * y + 1) / 6 - x * (x + 1) * (2 * x + 1) / 6
        before += level * (y - x) + number * first
        weight += level * first + number * second
        hold -= base[k]
        x = y
    use[running], weighed[running], held[running] = before, weight, 0


@inlined
def used(end, running, t, use, weighed, held, y):  # type: ignore[no-untyped-def]
    """Return the tokens held over times t + 1..t + y, and weighed by time minus t."""
    k = 0
    while k < running and end[k] - t < y:
        k += 1
    x = np.int64(end[k - 1] - t) if k else np.int64(0)
    number = running - k
    if not number:
        return use[k], weighed[k]
    level = np.float64(held[k] + number * t)
    first = y * (y + 1) / 2 - x * (x + 1) / 2
    second = y * (y + 1) * (2 * y + 1) / 6 - x * (x + 1) * (2 * x + 1) / 6
    return use[k] + level * (y - x) + number * first, weighed[k] + level * first + number * second


@inlined
def earliest(end, base, running, peak, memory, s, o, p):  # type: ignore[no-untyped-def]
    """Return the first start from p on at which a request fits for good.

    ``peak[k]`` is the start from which a prompt of no tokens fits at the k-th end.
    """
    while True:
        own, need = p + o, p
        k = running - 1
        hold, number = np.int64(0), 0
        while k >= 0 and end[k] > own:
            hold += base[k]
            number += 1
            k -= 1
        if number and hold + number * own + s + o > memory:
            need = end[k + 1] + 1 - o  # until that end use only grows
        while k >= 0 and end[k] > p:
            x = peak[k] + s
            if x > p:
                need = max(need, min(np.int64(end[k]), x))
            k -= 1
        if need == p:
            return p
        p = need


@compiled
def expand(requests, guide, knobs, states, children, waiting, count, at):  # type: ignore[no-untyped-def]
    """Put the best starts that a state can make next into the lists of children."""
    t, running = states.time[at], states.running[at]
    end, base = states.end[at], states.base[at]
    memory, horizon = requests.memory, guide.horizon
    peak = np.empty(running, np.int64)
    hold = np.int64(0)
    for k in range(running - 1, -1, -1):
        hold += base[k]
        peak[k] = hold + (running - k) * np.int64(end[k]) + end[k] - memory
    use, weighed = np.empty(running + 1), np.empty(running + 1)
    held = np.empty(running + 1, np.int64)
    sums_of_use(end, base, running, t, use, weighed, held)
    known = t + knobs.ahead
    now, later = future_of_all(requests, guide, knobs, waiting, count, t)
    count[STAMP] += 1
    stamp = count[STAMP]
    for k in range(states.started[at]):
        i = states.item[at, k]
        waiting.mark[i] = stamp
        if requests.arrival[i] <= known:
            now -= future(guide, waiting, count, i, t)
            later -= future(guide, waiting, count, i, t + knobs.ahead)
    score, cost = np.empty(knobs.children), np.empty(knobs.children)
    start = np.empty(knobs.children, np.int64)
    request = np.empty(knobs.children, np.int64)
    kept, seen, whole = 0, 0, 0.0
    for g in range(1, horizon + 1):
        whole += 1 - (g - 1) / horizon
    k, beyond = 0, count[ARRIVED]
    while seen < knobs.candidates:
        if k < count[WAITING]:
            i = waiting.request[k]
            k += 1
        elif not seen and known < FAR:
            k, known = 0, FAR  # all who arrive soon have started: whoever comes next
            continue
        elif not seen and beyond < len(requests.arrivals):
            i = requests.arrivals[beyond]
            beyond += 1
        else:
            break
        if waiting.mark[i] == stamp or requests.arrival[i] > known:
            continue
        seen += 1
        s, o = requests.prompt[i], requests.output[i]
        p = max(t, requests.arrival[i])
        p = earliest(end, base, running, peak, memory, s, o, p)
        from_zero, from_one = 0.0, 0.0
        if p > t:
            from_zero, from_one = used(end, running, t, use, weighed, held, p - t)
        idle = guide.room * (p - t) - from_zero
        unit = price_at(guide, (p + t) // 2 + 1 if p > t else t + 1)
        spent = states.cost[at] + unit * guide.weight * idle + regret(requests, guide, i, p)
        rest = now + (later - now) * (p - t) / knobs.ahead
        if waiting.present[i]:
            rest -= future(guide, waiting, count, i, p)
        upto_zero, upto_one = used(end, running, t, use, weighed, held, p - t + horizon)
        zero = upto_zero - from_zero
        one = upto_one - from_one - (p - t) * zero
        committed = zero * (1 + 1 / horizon) - one / horizon
        soon = guide.room * whole - committed - guide.credit[i]
        value = spent + rest + price_at(guide, p + 1) * guide.weight * soon
        if kept < knobs.children:
            place = kept
            kept += 1
        elif value < score[kept - 1]:
            place = kept - 1
        else:
            continue
        while place and score[place - 1] > value:
            score[place], cost[place] = score[place - 1], cost[place - 1]
            start[place], request[place] = start[place - 1], request[place - 1]
            place -= 1
        score[place], cost[place], start[place], request[place] = value, spent, p, i
    for k in range(kept):
        c = count[FREE_CHILD]
        count[FREE_CHILD] = children.following[c]
        children.score[c], children.cost[c] = score[k], cost[k]
        children.start[c], children.request[c] = start[k], request[k]
        children.parent[c] = at
        b = min(start[k] // knobs.bucket, len(children.head) - 1)
        children.following[c] = children.head[b]
        children.head[b] = c
    states.references[at] += kept


@compiled
def release(states, count, at):  # type: ignore[no-untyped-def]
    """Drop one reference to a state, and free its slot with the last."""
    states.references[at] -= 1
    if states.references[at] == 0:
        states.free[count[FREE_STATES]] = at
        count[FREE_STATES] += 1


@compiled
def born(requests, states, children, tree, waiting, count, child):  # type: ignore[no-untyped-def]
    """Return the slot of the state after a child's start, which holds one reference."""
    count[FREE_STATES] -= 1
    at, before = states.free[count[FREE_STATES]], children.parent[child]
    i, p = children.request[child], children.start[child]
    node = count[NODES]
    count[NODES] += 1
    tree.before[node], tree.request[node], tree.start[node] = states.node[before], i, p
    states.time[at], states.node[at] = p, node
    states.depth[at] = states.depth[before] + 1
    states.total[at] = states.total[before] + p
    states.cost[at] = children.cost[child]
    states.key[at] = states.key[before] ^ requests.letters[i]
    states.references[at] = 1
    done, kept, put = p + requests.output[i], 0, False
    for k in range(states.running[before]):
        if states.end[before, k] <= p:
            continue
        if not put and states.end[before, k] > done:
            states.end[at, kept], states.base[at, kept] = done, requests.prompt[i] - p
            kept, put = kept + 1, True
        states.end[at, kept], states.base[at, kept] = states.end[before, k], states.base[before, k]
        kept += 1
    if not put:
        states.end[at, kept], states.base[at, kept] = done, requests.prompt[i] - p
        kept += 1
    states.running[at] = kept
    number = states.started[before]
    states.item[at, :number] = states.item[before, :number]
    states.item[at, number] = i
    states.started[at] = number + 1
    return at


@compiled
def welcome(requests, guide, waiting, count, known):  # type: ignore[no-untyped-def]
    """Let those wait who arrive by a time."""
    before, n = count[ARRIVED], len(requests.arrivals)
    while count[ARRIVED] < n and requests.arrival[requests.arrivals[count[ARRIVED]]] <= known:
        i = requests.arrivals[count[ARRIVED]]
        count[ARRIVED] += 1
        k = count[WAITING]
        while k and waiting.request[k - 1] > i:
            waiting.request[k] = waiting.request[k - 1]
            k -= 1
        waiting.request[k] = i
        waiting.present[i] = True
        count[WAITING] += 1
        tabulate(requests, guide, waiting, count, i)
    if count[ARRIVED] > before:
        waiting.sum_time[:] = -1


@compiled
def sweep(states, waiting, count):  # type: ignore[no-untyped-def]
    """Forget those whom every state has started."""
    number = np.zeros(len(waiting.mark), np.int64)
    live = 0
    for at in range(len(states.references)):
        if states.references[at] > 0:
            live += 1
            for k in range(states.started[at]):
                number[states.item[at, k]] += 1
    kept = 0
    for k in range(count[WAITING]):
        i = waiting.request[k]
        if number[i] == live:
            waiting.present[i] = False
        else:
            waiting.request[kept] = i
            kept += 1
    if kept == count[WAITING]:
        return
    count[WAITING] = kept
    waiting.sum_time[:] = -1
    for at in range(len(states.references)):
        if states.references[at] > 0:
            kept = 0
            for k in range(states.started[at]):
                if number[states.item[at, k]] < live:
                    states.item[at, kept] = states.item[at, k]
                    kept += 1
            states.started[at] = kept


@compiled
def advance(requests, guide, knobs, beam, width, budget):  # type: ignore[no-untyped-def]
    """Go on until the beam is done or has expanded so many states; return it.

    ``width`` states are kept of each bucket and generation: a generation are the children that a
    bucket holds before any of them is expanded.
    """
    states, children, tree, waiting, seen, count = beam
    upto = count[EXPANDED] + budget
    n, rows = len(requests.arrivals), len(waiting.table)
    mask = np.uint64(len(seen) - 1)
    odd = np.uint64(0x9E3779B97F4A7C15)
    while count[EXPANDED] < upto:
        key = count[BUCKET]
        while key < len(children.head) and children.head[key] < 0:
            key += 1
        count[BUCKET] = key
        if key == len(children.head):
            count[DONE] = 1
            break
        last = (key + 1) * knobs.bucket
        row = (key * knobs.bucket) // guide.width
        if row - count[FIRST_ROW] > rows // 2 and (count[FIRST_ROW] + rows) * guide.width < len(
            guide.level
        ):
            count[FIRST_ROW] = row - 1
            waiting.sum_time[:] = -1
            for k in range(count[WAITING]):
                tabulate(requests, guide, waiting, count, waiting.request[k])
        welcome(requests, guide, waiting, count, last + knobs.ahead)
        if key - count[SWEPT] >= SWEEP:
            sweep(states, waiting, count)
            count[SWEPT] = key
        generation = 0
        while children.head[key] >= 0:
            size, c = 0, children.head[key]
            while c >= 0:
                size, c = size + 1, children.following[c]
            pending = np.empty(size, np.int64)
            score = np.empty(size)
            c = children.head[key]
            for k in range(size):
                pending[k], score[k] = c, children.score[c]
                c = children.following[c]
            children.head[key] = -1
            generation += 1
            kept = 0
            for k in np.argsort(score):
                c = pending[k]
                at = children.parent[c]
                i, p = children.request[c], children.start[c]
                if kept < width and generation <= MOST_GENERATIONS:
                    bits = (states.key[at] ^ requests.letters[i]) ^ (np.uint64(p + 1) * odd)
                    place = (bits ^ (bits >> np.uint64(29))) & mask
                    if seen[place] != bits:
                        seen[place] = bits
                        kept += 1
                        count[EXPANDED] += 1
                        states = with_free_state(states, count)
                        states = with_room_for_more(
                            states, states.running[at] + 1, states.started[at] + 1
                        )
                        tree = with_node(tree, count)
                        new = born(requests, states, children, tree, waiting, count, c)
                        depth = states.depth[new]
                        count[DEEPEST] = max(count[DEEPEST], depth)
                        if depth == n:
                            if states.total[new] < count[BEST_TOTAL]:
                                count[BEST_TOTAL] = states.total[new]
                                count[BEST_NODE] = states.node[new]
                        else:
                            children = with_free_children(children, count, knobs.children)
                            expand(requests, guide, knobs, states, children, waiting, count, new)
                        release(states, count, new)
                release(states, count, at)
                children.following[c] = count[FREE_CHILD]
                count[FREE_CHILD] = c
    return Beam(states, children, tree, waiting, seen, count)
