"""Compiled: what completing a state costs at least; `ratiolab.hindsight.paths.completions`."""

import numpy as np

from ratiolab.hindsight.paths.join_kernels import NOTHING, cheapest_fit
from ratiolab.hindsight.paths.kernels import (
    BYTE,
    BYTES,
    HIGH,
    NONE,
    compiled,
    owed,
)


@compiled
def _rest(tree, roots, need, own, enough):  # type: ignore[no-untyped-def]
    """Return the most that completing a state costs which holds no more, -1 if there is none.

    The values of the tree are costs times -1. What is above ``enough`` is returned at once.
    """
    return -cheapest_fit(tree, roots, need, own, 0, -enough - 1)


@compiled
def guide(states, rows, limit, known, roots, tree):  # type: ignore[no-untyped-def]
    """Raise the bounds of states by what completing them costs a walk that remembered less."""
    for s in rows:
        rest = _rest(
            tree, roots, states.mask[s] & known, states.tokens[s], limit - states.settled[s]
        )
        low = limit + 1 if rest < 0 else states.settled[s] + rest
        states.low[s] = min(limit + 1, max(states.low[s], low))


@compiled
def _fits(tokens, held, full):  # type: ignore[no-untyped-def]
    """Return whether these tokens fit beside those that are held."""
    for w in range(len(tokens)):  # noqa: SIM110, a loop is what is compiled best
        if ((full[w] - tokens[w] | HIGH) - held[w]) & HIGH != HIGH:
            return False
    return True


@compiled
def complete(layer, step, starts, full, after, guided, before):  # type: ignore[no-untyped-def]
    """Return what completing each state of a layer costs at least, by trying all sets of starts.

    Where more is held and as much has started, no less rest can be said: a set is not looked up,
    and sets that contain it are left out, once what a subset of it says shows them to be too dear.

    Parameters
    ----------
    layer : mask, settled cost, tokens, and bound of each state as the walk left it.
    step : slack and limit; and what those not started cost, of each state.
    starts : of each that is possible its bit, rise of the bound, rise of the settled cost, tokens,
        and requests that must have started; those that are remembered first.
    after : the trees of the next layer. guided, before : whether there are trees of a walk that
        remembered less, its remembered set, and those of the next layer.
    """
    mask, settled, held, low = layer
    slack, limit, spent = step
    bit, rise, change, tokens, twin = starts
    roots, tree = after
    known, known_roots, known_tree = before
    words, most = held.shape[1], len(bit)
    now = np.zeros((most + 1, words), np.uint64)
    place, cost, bound, least, gain = np.zeros((5, most + 1), np.int64)
    begun = np.zeros(most + 1, np.uint64)
    own = np.zeros(words, np.uint64)
    rest = np.zeros(len(mask), np.int64)
    able = np.zeros(most, np.int64)
    for s in range(len(mask)):
        best, floor = limit + 1 - settled[s], low[s] - settled[s]
        depth = -1 if spent[s] > limit else 0
        now[0], cost[0], bound[0], begun[0], place[0] = held[s], slack, spent[s], mask[s], 0
        fresh, count, free = True, 0, 0
        for k in range(most):  # what does not fit alone does not fit beside others
            if spent[s] + rise[k] <= limit and _fits(tokens[k], held[s], full):
                able[count] = k
                count += 1
                free += bit[k] != NONE
        gain[count] = 0
        for j in range(count - 1, -1, -1):
            gain[j] = gain[j + 1] + min(0, change[able[j]])
        while depth >= 0:
            if fresh:
                left = best - cost[depth]
                same = depth > 0 and begun[depth] == begun[depth - 1]
                least[depth] = least[depth - 1] if same else NOTHING
                if least[depth] < left:
                    for w in range(words):
                        following = now[depth, w + 1] << BYTES if w + 1 < words else NONE
                        own[w] = now[depth, w] >> BYTE | following
                    found = _rest(tree, roots, begun[depth], own, left)
                    least[depth] = max(least[depth], found) if found >= 0 else least[depth]
                    if guided and 0 <= found < left:
                        more = _rest(known_tree, known_roots, begun[depth] & known, own, left)
                        found = -1 if more < 0 else max(found, more)
                        least[depth] = max(least[depth], found)
                    if found >= 0:
                        best = min(best, cost[depth] + found)
                if best <= floor:  # no more can be said than the bound of the walk says
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
            place[depth] = place[depth - 1]
            fresh = True
        rest[s] = max(best, floor)
    return rest


@compiled
def spend(cost, mask, remembered, due):  # type: ignore[no-untyped-def]
    """Return the cost of states with what remembered requests that have not started are due."""
    spent = cost.copy()
    for s in range(len(cost)):
        spent[s] += owed(due, remembered & ~mask[s])
    return spent
