"""What completing the states of a walk costs at least: a bound for the next walk the same way.

A complete walk that remembers a set N keeps, at each layer, for each path of cost at most B that
starts each request of N once, a state X that has started the same of N, holds no more at any later
time, and has settled no more than what the path has come to. Let the rest of a state be a lower
bound of what any completion adds to its settled cost. From the last layer on it is the least, over
all sets of starts that fit, of what the step adds and of the rest of the state that follows, A.
The rest of A is at least that of *any* state X of its layer that has started the same of N and
holds no more: what completes A completes X, and adds as much. So it is the most of these. Where no
X is, or settled cost and rest exceed B, no path of cost at most B comes to A. A state kept has at
least as much rest as its bound says; states whose rest is too much stay in the tables, as they
bound what holds more.

Trying all sets of starts takes several times as long as the walk. What the walk has made of a state
says sooner how much its rest is at least, with the one X that replaced A
(`ratiolab.hindsight.paths.partials`). States with which that exceeds B, half of them or nearly
all, need no trying, and where it is right, trying ends with the first start that shows it.

A walk that merges states says what completing them costs, too, and it holds for whatever holds as
much: what completes one adds as much to what is settled, whether or not a path comes to it; and all
that it may start is made of it in the walk, unless that exceeds B. So a merged walk bounds a later
one that merges nothing. With 30 requests, draw 243 of `exact-ratios`, a walk back to the schedule
would keep more than fifty million states; merged to 150,000 a layer it keeps 3.5, and walks that
remember 5, 9, 13 and 17 then prove the optimum, of 5.3 million states at most. It does not bound
one that merges: no path within B comes to what no state fits, but what is merged is no path's.

A walk the same way that remembers more finds, of each of its states, the part in N, and bounds it
so: it needs no walk from the other side. All walks before it are asked, the last first. Where one
of them has bounded a state X of the next, X is missing there, and one that holds less may stand for
it, with less rest: with 40 requests, seed 2, target 8016 and sets of 0, 7, 11, 15 and 19, the last
two walks take 10.40 and 2.09 million states when only the walk before is asked, and .11 and .02.

When requests arrive together, walks back have few states: most choices are among small requests in
early rounds, and a walk back, which comes there last, knows what it has spent; a walk forward meets
them first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.paths import completion_kernels
from ratiolab.hindsight.paths.kernels import States
from ratiolab.hindsight.paths.partials import Partials
from ratiolab.hindsight.paths.starts import Starts
from ratiolab.hindsight.paths.trees import Layer, planted
from ratiolab.model.footprint import IntArray


@dataclass(frozen=True, eq=False)
class Completions:
    """Trees of the states of a complete walk by layer, with what completing each costs at least.

    Parameters
    ----------
    known : requests that the walk remembered. limit : B of the walk.
    layers : by layer; values are costs in units, times -1.
    before : what bounded the walk.
    """

    known: int
    limit: int
    layers: list[Layer]
    before: "Completions | None" = None

    def bound(self, states: States, rows: NDArray[np.int64], limit: int, layer: int) -> None:
        """Raise the bounds of the states of a layer of a walk the same way, by all walks before."""
        known = np.uint64(self.known)
        rows = _alike(states, rows, known)
        completion_kernels.guide(states, rows, limit, known, *self.layers[layer])
        if self.before is not None:
            self.before.bound(states, rows[states.low[rows] <= limit], limit, layer)


class Kept(NamedTuple):
    """Findings of a complete walk that its completions are made from.

    Parameters
    ----------
    layers : states. history : partial states of each step, where they are recorded; again : makes
        those of a step again. full : the memory, as packed tokens. guide : what bounded the walk.
    """

    layers: list[States]
    history: list[Partials | None]
    again: Callable[[States, int], Partials | None]
    starts: Starts
    full: NDArray[np.uint64]
    guide: Completions | None


def completions(kept: Kept, stop: Callable[[], bool] = lambda: False) -> Completions | None:
    """Return what completing the states of a complete walk costs at least; None when stopped."""
    layers, history, again, starts, full, guide = kept
    limit, remembered = starts.limit, np.uint64(starts.remembered)
    last = layers[-1]
    rest = np.where(last.mask == remembered, 0, limit + 1 - last.settled)
    after = planted(last.mask, -rest, last.tokens)
    found = [after]
    for t in range(len(layers) - 2, -1, -1):
        layer, partials = layers[t], history[t] or again(layers[t], t)
        if partials is None or stop():
            return None
        begun, least = partials.least(layers[t + 1].settled + rest, limit + 1)
        total = np.full(len(layer.low), limit + 1)
        total[begun] = np.maximum(layer.low[begun], least)
        rest = total - layer.settled
        rows = _alike(layer, np.flatnonzero(total <= limit), ~np.uint64(0))
        rest[rows] = completion_kernels.complete(
            (layer.mask[rows], layer.settled[rows], layer.tokens[rows], total[rows]),
            *_possible(starts, layer, rows, t),
            *(full, after, guide is not None),
            _before(guide, t, after),
        )
        after = planted(layer.mask, -rest, layer.tokens)
        found.append(after)
    return Completions(starts.remembered, limit, found[::-1], guide)


def _alike(states: States, rows: IntArray, known: np.uint64) -> IntArray:
    """Return rows in an order in which states follow others that hold alike."""
    keys = completion_kernels.likeness(states.mask, states.tokens, rows, known)
    order: IntArray = rows[np.argsort(keys)]
    return order


def _possible(starts: Starts, layer: States, rows: IntArray, t: int) -> tuple[Any, Any]:
    """Return the step from these states of layer t, and the starts that are possible then."""
    direction, step = starts.direction, starts.step(t)
    chosen = starts.at(t)
    bits, twins, due, excess = starts.bits(chosen, t)
    change = excess - step.tail[direction.first[chosen]]
    # those whose set of the started stays the same come last, and what is gained first
    order = np.lexsort((np.where(bits > 0, 0, change), bits == 0))
    tokens = direction.tokens[direction.first[chosen]]
    possible = tuple(each[order] for each in (bits, excess - due, change, tokens, twins))
    remembered = np.uint64(starts.remembered)
    spent = completion_kernels.spend(layer.cost[rows], layer.mask[rows], remembered, step.due)
    return (step.slack, starts.limit, spent), possible


def _before(guide: Completions | None, t: int, after: Layer) -> tuple[Any, ...]:
    """Return what a guide remembered, and its states of the layer after t."""
    if guide is None:
        return np.uint64(0), *after
    return np.uint64(guide.known), *guide.layers[t + 1]
