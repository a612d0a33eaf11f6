"""Completion bounds of states: how backward passes bound each other in the checker.

`ratiolab.hindsight.certificates.certify_paths` says why. The rest of a state of the last layer is
nothing if all watched requests have started. Before, it is at least what becomes of the state in
the pass (`ratiolab.hindsight.certificates.path_bounds.Trail`). Where the total stays within the
limit so, all sets of starts that fit are tried, one after the other in depth: what the layer adds
to the total, and the most rest among those of the layer after it that have the same watched
requests started and hold no more. A rest that brings the total above the limit says only that; so
it is cut off there.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.hindsight.certificates.path_bounds import Bounds, least_total, planted
from ratiolab.hindsight.certificates.path_states import Layer, by_two, compiled, exceeds, waits

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.path_walks import Walk


def rests(walk: "Walk", layers: list[Layer]) -> list[Bounds]:
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


@compiled
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
                next_held[:-1] = held[depth, 1:]
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
