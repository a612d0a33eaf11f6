"""What is left to pay after a state at least: how passes back bound each other in the checker.

`ratiolab.hindsight.certificates.certify_paths` says why. The rest of a state of the last layer is
nothing if all watched requests have started. Before, it is at least what becomes of the state in
the pass (`ratiolab.hindsight.certificates.path_trails`). Where the total stays within the limit so,
all sets of starts that fit are tried, one after the other in depth: what the layer adds to the
total, and the most rest among those of the layer after it that have the same watched requests
started and hold no more. A rest that brings the total above the limit says only that; so it is cut
off there.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.hindsight.certificates.path_joins import Beside, least_total, planted
from ratiolab.hindsight.certificates.path_parts import by_two
from ratiolab.hindsight.certificates.path_states import Layer, compiled, exceeds, waits

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.path_walks import Walk


def rests(walk: "Walk", layers: list[Layer]) -> list[Beside]:
    """Return the states of a pass by layer, with the rest of each in place of its total, negated.

    Cost: some times that of the pass.
    """
    costs, side, limit, watched = walk.costs, walk.side, walk.limit, np.uint64(walk.watched)
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
            *(layer, floor, costs.capacity[side, t + 1], limit, watched, walk.waiting[:, t].copy()),
            *(columns, tokens, space, found[-1]),
            *(bool(earlier), np.uint64(known), earlier[t + 1] if earlier else found[-1]),
        )
        tried = by_two(partial(_rests, rest, walk.left, *asked), np.arange(len(rest)))
        walk.leave(walk.left - sum(tried))
        found.append(planted(layer.begun, -rest, layer.tokens))
    return found[::-1]


@compiled
def _rests(  # type: ignore[no-untyped-def]
    result,
    room,
    layer,
    floors,
    capacity,
    limit,
    watched,
    wait,
    columns,
    tokens,
    space,
    after,
    bounds,
    known,
    earlier,
    chosen,
):
    """Write the rests of these states of a layer, given those of the layer after it.

    Return the number of states that this has tried. More than there is ``room`` for are not tried,
    and the rests are unknown then.
    """
    rises, totals, bits, needs = columns
    count, length = tokens.shape
    waiting = np.zeros((128, 3), np.int64)
    held = np.zeros((count + 1, length), np.uint8)
    next_held = np.zeros(length, np.uint8)
    tried, added, safe = np.zeros((3, count + 1), np.int64)
    begun = np.zeros(count + 1, np.uint64)
    number = 0
    fitting = np.zeros(count, np.int64)
    for s in chosen:
        most, floor = limit + 1 - layer.total[s], floors[s]
        safe[0] = layer.paid[s] + waits(layer.begun[s], watched, wait)
        held[0], added[0], begun[0], tried[0] = layer.tokens[s], capacity, layer.begun[s], 0
        depth, new, fit = 0, True, 0
        if safe[0] > limit or floor >= most:
            result[s] = max(most, floor)
            continue
        for k in range(count):  # what does not fit beside what runs fits beside no more
            if safe[0] + rises[k] <= limit and not exceeds(layer.tokens[s], space[k]):
                fitting[fit] = k
                fit += 1
        while depth >= 0:
            if new:
                new = False
                number += 1
                if number > room:
                    return number
                for y in range(length - 1):
                    next_held[y] = held[depth, y + 1]
                next_held[length - 1] = 0
                left = most - added[depth]
                rest = -least_total(after, begun[depth], next_held, 0, -left - 1, waiting)
                if bounds and 0 <= rest < left:
                    want = begun[depth] & known
                    least = -least_total(earlier, want, next_held, 0, -left - 1, waiting)
                    rest = -1 if least < 0 else max(rest, least)
                if rest >= 0:
                    most = min(most, added[depth] + rest)
                if most <= floor:
                    break
            if tried[depth] == fit:
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
