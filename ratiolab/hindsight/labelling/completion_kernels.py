"""Compiled loops of `ratiolab.hindsight.labelling.completion_bounds`.

Calls in loops list arrays one by one. A starred group would be a tuple, whose references numba
counts by atomic operations.
"""

from ratiolab.hindsight.labelling.label_kernels import BYTE, BYTES, HIGH, NONE, owed, within
from ratiolab.hindsight.labelling.label_trees import NOTHING, find, fit
from ratiolab.machine_code import compiled, inner

SEEN = 8
"""Labels asked first, as they have bounded others lately."""


@inner
def _seen(value, tokens, own, enough, seen):  # type: ignore[no-untyped-def]
    """Return the least value of those seen lately that fit, 1 if none does.

    A value of at most ``enough`` is returned at once.
    """
    best = 1
    for k in range(SEEN):
        place = seen[k]
        if place >= 0 and value[place] < best and within(tokens[place], own):
            best = value[place]
            seen[k], seen[k // 2] = seen[k // 2], place
            if best <= enough:
                break
    return best


@inner
def _see(place, seen):  # type: ignore[no-untyped-def]
    """Keep a place in the second half of those seen; it moves forward when it is used."""
    seen[SEEN // 2 + place % (SEEN // 2)] = place


@compiled
def guide(mask, held, settled, low, rows, limit, known, roots, tree, seen):  # type: ignore[no-untyped-def]
    """Raise the bounds of labels by completion bounds of a sweep with a smaller critical set.

    That is the largest bound, times -1 the least, of a label that holds no more. Within the limit
    any such label serves; beyond it, the first with enough. ``seen`` is scratch.
    """
    masks, value, tokens, least, cheapest, first, last, after = tree
    at, part = -1, NONE
    for k in range(len(rows)):
        s = rows[k]
        if k == 0 or mask[s] & known != part:
            part = mask[s] & known
            at = find(masks, part)
            for j in range(SEEN):
                seen[j] = -1
        if at < 0:
            low[s] = limit + 1
            continue
        # as in `_rest`, written out: with one call more this would take twice as long
        own, enough = held[s], settled[s] - limit - 1
        best = _seen(value, tokens, own, enough, seen)
        if best > enough:
            most = 0 if best > 0 else enough
            found, place = fit(
                value, tokens, least, cheapest, first, last, after,
                roots[at], roots[at + 1], own, most, enough, enough
            )  # fmt: skip
            if place >= 0:
                best = found
                _see(place, seen)
        bound = limit + 1 if best > 0 else settled[s] - best
        if bound > low[s]:
            low[s] = bound if bound < limit + 1 else limit + 1


@inner
def _rest(  # type: ignore[no-untyped-def]
    roots, masks, value, tokens, least, cheapest, first, last, after, need, own, few, enough, seen
):
    """Return the most that completing a label costs which holds no more, -1 if there is none.

    A value of ``enough`` or more is returned at once; where no label has more than ``few``, any
    value is returned.

    Parameters
    ----------
    roots, ..., after : the trees, whose values are costs times -1.
    seen : places of labels that have said enough lately, or -1, and then the place of their mask.
    """
    at = find(masks, need)
    if at < 0:
        return -1
    if seen[SEEN] != at:
        for k in range(SEEN):
            seen[k] = -1
        seen[SEEN] = at
    best, near = _seen(value, tokens, own, -enough, seen), -few - 1
    if best > -enough:
        most = 0 if best > 0 else near if near < best - 1 else best - 1
        found, place = fit(
            value, tokens, least, cheapest, first, last, after,
            roots[at], roots[at + 1], own, most, near, -enough
        )  # fmt: skip
        if place >= 0:
            best = found
            _see(place, seen)
    return -best


@inner
def _fits(tokens, held, full):  # type: ignore[no-untyped-def]
    """Return whether these tokens fit beside the held ones."""
    for w in range(len(tokens)):  # noqa: SIM110, a loop is what is compiled best
        if ((full[w] - tokens[w] | HIGH) - held[w]) & HIGH != HIGH:
            return False
    return True


@compiled
def complete(layer, step, starts, full, after, guided, before, scratch, rest):  # type: ignore[no-untyped-def]
    """Write the completion bound of each label of a layer, by trying all sets of starts.

    Between labels with equal starts, the label that holds more has at least as large a bound. Once
    a subset shows that a set is too expensive, the search skips the set and all sets that contain
    the set.

    Parameters
    ----------
    layer : mask, settled cost, tokens, and bound of each label as the sweep left it.
    step : slack and limit; and what those not started cost, of each label.
    starts : of each that is possible its bit, rise of the bound, rise of the settled cost, tokens,
        and requests that must have started; critical requests first.
    after : the trees of the next layer.
    guided : whether an earlier sweep with a smaller critical set left trees.
    before : that critical set, and the trees of its next layer.
    scratch : arrays by number of starts, as `ratiolab.hindsight.labelling.completion_bounds` makes
        them.
    rest : the bounds.
    """
    mask, settled, held, low = layer
    slack, limit, spent = step
    bit, rise, change, tokens, twin = starts
    # trees are unpacked once, as each time would take as long as looking up
    roots, (masks, value, kept, least_kept, cheapest, first, end, skip) = after
    known, roots_2, (masks_2, value_2, kept_2, least_2, cheap_2, first_2, end_2, skip_2) = before
    words, most = held.shape[1], len(bit)
    now, own, begun, seen, (place, cost, bound, least, gain, able, last) = scratch
    for s in range(len(mask)):
        best, floor = limit + 1 - settled[s], low[s] - settled[s]
        depth = -1 if spent[s] > limit else 0
        cost[0], bound[0], begun[0], place[0] = slack, spent[s], mask[s], 0
        for w in range(words):
            now[0, w] = held[s, w]
        fresh, count, free = True, 0, 0
        for k in range(most):  # what does not fit alone does not fit beside others
            if spent[s] + rise[k] <= limit and _fits(tokens[k], held[s], full):
                able[count] = k
                count += 1
                free += bit[k] != NONE
        gain[count] = 0
        for j in range(count - 1, -1, -1):
            change_j = change[able[j]]
            gain[j] = gain[j + 1] + (change_j if change_j < 0 else 0)
        while depth >= 0:
            if fresh:
                left = best - cost[depth]
                same = depth > 0 and begun[depth] == begun[depth - 1]
                least[depth] = least[depth - 1] if same else NOTHING
                if least[depth] < left:
                    for w in range(words):
                        after_it = now[depth, w + 1] << BYTES if w + 1 < words else NONE
                        own[w] = now[depth, w] >> BYTE | after_it
                    few = floor - cost[depth]
                    found = _rest(
                        roots, masks, value, kept, least_kept, cheapest, first, end, skip,
                        begun[depth], own, few, left, seen[last[depth], 0]
                    )  # fmt: skip
                    if found >= 0 and found > least[depth]:
                        least[depth] = found
                    if guided and 0 <= found < left:
                        need = begun[depth] & known
                        more = _rest(
                            roots_2, masks_2, value_2, kept_2, least_2, cheap_2, first_2, end_2,
                            skip_2, need, own, few, left, seen[last[depth], 1]
                        )  # fmt: skip
                        found = more if more < 0 or more > found else found
                        least[depth] = found if found > least[depth] else least[depth]
                    if found >= 0 and cost[depth] + found < best:
                        best = cost[depth] + found
                if best <= floor:  # no more can be said than the bound of the sweep says
                    break
                fresh = False
            ends = cost[depth] + gain[place[depth]] + least[depth] >= best
            if place[depth] == count or (ends and place[depth] >= free):
                depth -= 1
                continue
            k = able[place[depth]]
            place[depth] += 1
            if bound[depth] + rise[k] > limit or begun[depth] & bit[k]:
                continue
            if begun[depth] & twin[k] != twin[k] or not _fits(tokens[k], now[depth], full):
                continue
            for w in range(words):
                now[depth + 1, w] = now[depth, w] + tokens[k, w]
            cost[depth + 1] = cost[depth] + change[k]
            bound[depth + 1] = bound[depth] + rise[k]
            begun[depth + 1] = begun[depth] | bit[k]
            depth += 1
            place[depth], last[depth] = place[depth - 1], k
            fresh = True
        rest[s] = best if best > floor else floor


@compiled
def spend(spent, mask, critical, due):  # type: ignore[no-untyped-def]
    """Add to the cost of labels what critical requests that have not started are due."""
    for s in range(len(spent)):
        spent[s] += owed(due, critical & ~mask[s])
