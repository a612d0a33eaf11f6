"""The checker of bounds by labelling over paths, backward in time.

Claim: no schedule has a latency below ``bound``. All numbers are integers, scaled by U. The duals
give every item the weight W_t(m, r) and every time R_t, such that W_t(Q) <= R_t for what may be
held at t; in units of 1 / U both are rounded down, which keeps this, as a sum of integers that is
at most x is at most floor(x). With multipliers v_i <= min c_i, c_i(p) the latency of i started at p
plus the weights of its items, a schedule with starts p_i that holds Q_t at t has

    U latency = sum v - sum R + sum of (c_i(p_i) - v_i) + sum of (R_t - W_t(Q_t)),

and no term of the two last sums is negative; together they are its cost. A path starts in each
round any arrived requests that fit until all complete, whether they have run before or not. The
claim is proven when no path that starts each request of some set once costs at most

    B = U (bound - 1) - sum v + sum R.

Each pass goes through all layers backward in time, and keeps what may belong to a path of cost at
most B. Paid at layer t is the rho = c - v of all that started before t and what times up to t have
left of R, both counted from the end. Dropped are

- states for which paid, with the least later rho of watched requests that have not started, exceeds
  B; watched requests start once, equal ones in order;
- states that another replaces, with the same watched requests started, which holds no more at any
  later time and whose total, paid less all that what runs will pay, is no larger: what completes
  the former completes the latter, at no more cost;
- states whose total and rest, as some pass before has it of their part that it watched, exceed B,
  or for which it has none.

The rest of a state is a lower bound on the total still to pay after it: the least, over the sets
that may start in its layer, of their cost plus the rest of the successor. That is at least the rest
of every state of the next layer that has started the same watched requests and holds no more, as a
completion of the former completes the latter and costs as much. Hence the largest of these
counts. The pass of the state bounds its rest, too: by the least total of its successors, where a
replacement counts from the replacement on (`ratiolab.hindsight.certificates.path_bounds.Trail`).
Where the total stays within the limit so, all sets of starts that fit are tried, in depth. A rest
that brings the total above the limit says only that; so it is cut off there.

A single pass that watches no request may merge states of a layer, too: the merged one holds, at
each later time, the least that one of them holds, its total is the least of theirs, and only what
runs in all of them runs in it. A completion of one of them completes it, and adds as much to the
total. It has paid its total and the future payments of its running requests, which never fall:
these hold no more than it does, so they fit beside any completion. Hence no path is lost. The
solver may have merged other states: wider passes are tried, too.

Nothing else is left out, so the last pass must keep no path. Watched sets may only grow from pass
to pass. Nothing here is the solver's but the footprint.
"""

from functools import partial

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.certificates.path_bounds import Bounds, least_total, planted
from ratiolab.hindsight.certificates.path_states import Layer, by_two, exceeds, waits
from ratiolab.hindsight.certificates.path_walks import Costs, Walk
from ratiolab.machine_code import careful
from ratiolab.model.instance import Instance

WIDER = 1, 2, 4
"""Multiples of the width of a certificate that are tried. Its own is enough for seven of eight
records, and for three draws of 60 requests."""


def require_no_path(
    certificate: PathCertificate, instance: Instance, items: list[list[list[int]]], paid: list[int]
) -> None:
    """Raise `ValueError` unless the passes prove the bound of a certificate.

    The check takes at most `effort.most_states` states at each width that it tries.

    Parameters
    ----------
    items : dual cost of request i at age g = 1, 2, ..., output at times 1..T,
        ``items[i][g-1][t-1]``.
    paid : R_t at times 1..T.

    Raises
    ------
    ValueError
        when they do not, or checking would take too long.
    """
    n, unit, denominator = len(instance), certificate.unit, certificate.duals.denominator
    multipliers, passes, width = certificate.multipliers, certificate.passes, certificate.width
    if unit < 1 or len(multipliers) != n or not 1 <= len(passes) <= effort.MOST_PASSES:
        raise ValueError(f"paths need a unit, {n} multipliers, 1 to {effort.MOST_PASSES} passes")
    if width and (width < 0 or passes != (0,)):
        raise ValueError(f"width {width}: only a single pass that watches no request merges states")
    known = 0
    for number, watched in enumerate(passes):
        if not 0 <= watched < 2**n or known & ~watched:
            raise ValueError(f"pass {number}: {watched} is no set with all that was watched before")
        known = watched
    weight = [[[x * unit // denominator for x in row] for row in own] for own in items]
    capacity = [x * unit // denominator for x in paid]
    limit = unit * (certificate.bound - 1) - sum(multipliers) + sum(capacity)
    costs = Costs(instance, unit, multipliers, weight, capacity, limit)
    least = _least(certificate, instance, costs, limit)
    if limit >= 0 and least <= limit:
        latency = (sum(multipliers) - sum(capacity) + least) / unit
        raise ValueError(f"bound {certificate.bound} is claimed, a path costs {latency:.3f}")


def _least(certificate: PathCertificate, instance: Instance, costs: Costs, limit: int) -> int:
    """Return the least cost that is left by the last of the passes."""
    passes, least = certificate.passes, -1
    for factor in WIDER if certificate.width else (1,):
        left = effort.most_states()  # a width that fails takes nothing from the next
        behind: list[tuple[int, list[Bounds]]] = []
        for number, watched in enumerate(passes, 1):
            follow = number < len(passes)
            walk = Walk(instance, costs, watched, limit, left, behind, factor * certificate.width)
            layers = walk.run(follow=follow)
            done = layers[-1].paid[layers[-1].begun == np.uint64(watched)]
            least = int(done.min(initial=limit + 1))
            if follow:
                behind = [(watched, rests(walk, layers)), *behind]
            left = walk.left
        if least > limit:
            break
    return least


def rests(walk: Walk, layers: list[Layer]) -> list[Bounds]:
    """Return the states of a pass by layer, with the rest of each in place of its total, negated.

    Cost: some times that of the pass.
    """
    costs, limit, watched = walk.costs, walk.limit, np.uint64(walk.watched)
    last = layers[-1]
    rest = np.where(last.begun == watched, 0, limit + 1 - last.total)
    found = [planted(last.begun, -rest, last.tokens)]
    known, earlier = walk.rests[0] if walk.rests else (0, [])
    for t in range(costs.end - 1, -1, -1):
        layer, trail = layers[t], walk.follow(layers[t], t)
        total = np.full(len(layer.total), limit + 1)
        total[trail.came] = trail.least(layers[t + 1].total + rest, limit + 1)
        floor = np.maximum(layer.safe, total) - layer.total
        starts = [walk.start(i, t) for i in walk.possible(t)]
        starts.sort(
            key=lambda one: (not one.bit, 0 if one.bit else one.rho - one.price - one.later)
        )
        count = len(starts)
        tokens = np.zeros((count, costs.longest), np.uint8)
        space = np.zeros((count, costs.longest), np.uint8)
        for k, start in enumerate(starts):
            tokens[k], space[k] = start.tokens, start.space
        columns = (
            np.array([start.rho - start.wait for start in starts], np.int64),
            np.array([start.rho - start.price - start.later for start in starts], np.int64),
            np.array([start.bit for start in starts], np.uint64),
            np.array([start.before for start in starts], np.uint64),
        )
        rest = np.zeros(len(layer.paid), np.int64)
        asked = (
            *(layer, floor, (costs.capacity[t + 1], limit, watched)),
            *(walk.waiting[:, t].copy(), columns, tokens, space, found[-1]),
            (bool(earlier), np.uint64(known), earlier[t + 1] if earlier else found[-1]),
        )
        tried = by_two(partial(_rests, rest, walk.left, *asked), np.arange(len(rest)))
        walk.leave(walk.left - sum(tried))
        found.append(planted(layer.begun, -rest, layer.tokens))
    return found[::-1]


@careful
def _rests(  # type: ignore[no-untyped-def]
    result, room, layer, floors, step, wait, columns, tokens, space, after, before, chosen
):
    """Write the rests of these states of a layer, given those of the layer after it.

    A state that holds more has at least as much rest: sets are left out where a part of them, with
    all that they watch, shows them to be too dear. Watched requests come first. Return the number
    of sets looked up; more than there is ``room`` for are not, and the rests are unknown then.
    """
    capacity, limit, watched = step
    bounds, known, earlier = before
    rises, totals, bits, needs = columns
    count, length = tokens.shape
    waiting = np.zeros((128, 3), np.int64)
    held = np.zeros((count + 1, length), np.uint8)
    next_held = np.zeros(length, np.uint8)
    tried, added, safe, least, gain = np.zeros((5, count + 1), np.int64)
    begun = np.zeros(count + 1, np.uint64)
    number, fitting = 0, np.zeros(count, np.int64)
    for s in chosen:
        most, floor = limit + 1 - layer.total[s], floors[s]
        safe[0] = layer.paid[s] + waits(layer.begun[s], watched, wait)
        held[0], added[0], begun[0], tried[0] = layer.tokens[s], capacity, layer.begun[s], 0
        depth, new, fit, first = 0, True, 0, 0
        if safe[0] > limit or floor >= most:
            result[s] = max(most, floor)
            continue
        for k in range(count):  # what does not fit beside what runs fits beside no more
            if safe[0] + rises[k] <= limit and not exceeds(layer.tokens[s], space[k]):
                fitting[fit] = k
                fit += 1
                first += bits[k] > 0
        gain[fit] = 0
        for k in range(fit - 1, -1, -1):
            gain[k] = gain[k + 1] + min(0, totals[fitting[k]])
        while depth >= 0:
            left = most - added[depth]
            if new:
                same = depth > 0 and begun[depth] == begun[depth - 1]
                least[depth] = least[depth - 1] if same else -1
            if new and (least[depth] < 0 or least[depth] < left):
                number += 1
                if number > room:
                    return number
                for y in range(len(next_held) - 1):
                    next_held[y] = held[depth, y + 1]
                rest = -least_total(after, begun[depth], next_held, 0, 0, -left - 1, waiting)[0]
                least[depth] = max(least[depth], rest)
                if bounds and 0 <= rest < left:
                    want = begun[depth] & known
                    more = -least_total(earlier, want, next_held, 0, 0, -left - 1, waiting)[0]
                    rest = -1 if more < 0 else max(rest, more)
                    least[depth] = max(least[depth], rest)
                if rest >= 0:
                    most = min(most, added[depth] + rest)
                if most <= floor:
                    break
            new = False
            # without a state that says so, larger sets may still be possible, and nothing is known
            dear = least[depth] >= 0 and added[depth] + gain[tried[depth]] + least[depth] >= most
            if tried[depth] == fit or (dear and tried[depth] >= first):
                depth -= 1
                continue
            k = fitting[tried[depth]]
            tried[depth] += 1
            if safe[depth] + rises[k] > limit or begun[depth] & bits[k]:
                continue
            if begun[depth] & needs[k] != needs[k] or exceeds(held[depth], space[k]):
                continue
            held[depth + 1] = held[depth] + tokens[k]
            added[depth + 1] = added[depth] + totals[k]
            safe[depth + 1] = safe[depth] + rises[k]
            begun[depth + 1] = begun[depth] | bits[k]
            depth += 1
            tried[depth] = tried[depth - 1]
            new = True
        result[s] = max(most, floor)
    return number
