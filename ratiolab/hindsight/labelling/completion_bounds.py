"""Completion bounds: lower bounds on the cost of completing a label, for later sweeps.

A complete sweep with critical set N keeps, in each layer, for each relaxed schedule of cost at most
B that starts each request of N once, a label X with the same requests of N started that holds no
more at any later time and has settled no more. The completion bound of a label is a lower bound on
what any completion adds to its settled cost. In the last layer it is zero. Before, it is the least,
over all sets of starts that fit, of what the step adds and of the bound of the label A that
follows. The bound of A is at least that of *any* label X of its layer with the same requests
started that holds no more, as what completes A completes X and adds as much. Hence the largest of
these counts. Where there is no X, or settled cost and bound exceed B, no relaxed schedule of cost
at most B comes to A. Labels whose bound is too large stay in the trees: they bound labels that hold
more.

Trying all sets of starts takes several times as long as the sweep. The `Ancestry` of a label gives
a bound sooner, and labels that exceed B by it need no trying.

All earlier sweeps are asked, the last first. Where one of them has pruned a label X of the next, X
is missing there, and another label that holds less may stand for it, with a smaller bound.

Source: Ibaraki's successive sublimation, as in Tanaka, Fujikuma and Araki (2009), Journal of
Scheduling 12.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.labelling import completion_kernels
from ratiolab.hindsight.labelling.completion_kernels import SEEN
from ratiolab.hindsight.labelling.label_kernels import MIX, Labels
from ratiolab.hindsight.labelling.label_pool import Ancestry, Extensions
from ratiolab.hindsight.labelling.label_trees import Layer, planted
from ratiolab.model.footprint import IntArray

OF_MASK, OF_TOKENS = np.uint64(0xFFFFFF0000000000), np.uint64(24)
"""Keys of labels: bits for the mask; and those of the tokens of eight times that are left out."""


@dataclass(frozen=True, eq=False)
class CompletionBounds:
    """Trees of the labels of a complete sweep by layer, with their completion bounds.

    Parameters
    ----------
    known : critical requests of the sweep, as bits.
    limit : B of the sweep.
    layers : by layer; values are costs in units, times -1.
    before : completion bounds of the sweep before, which pruned this sweep.
    """

    known: int
    limit: int
    layers: list[Layer]
    before: "CompletionBounds | None" = None

    def bound(self, labels: Labels, rows: NDArray[np.int64], limit: int, layer: int) -> None:
        """Raise the bounds of labels of a layer of a later sweep, by all sweeps before."""
        known = np.uint64(self.known)
        rows = _alike(labels, rows, known)
        columns = labels.mask, labels.tokens, labels.settled, labels.low
        trees, seen = self.layers[layer], np.zeros(SEEN, np.int64)
        completion_kernels.guide(*columns, rows, limit, known, *trees, seen)
        if self.before is not None:
            self.before.bound(labels, rows[labels.low[rows] <= limit], limit, layer)


class Kept(NamedTuple):
    """Findings of a complete sweep that its completions are made from.

    Parameters
    ----------
    layers : labels of each layer.
    history : partial labels of each step, where they are recorded.
    again : computes the partial labels of a step that are not recorded.
    starts : extensions of the sweep.
    full : the memory, as packed tokens.
    guide : completion bounds of the sweep before, which pruned this sweep.
    """

    layers: list[Labels]
    history: list[Ancestry | None]
    again: Callable[[Labels, int], Ancestry | None]
    starts: Extensions
    full: NDArray[np.uint64]
    guide: CompletionBounds | None


def completions(kept: Kept, stop: Callable[[], bool] = lambda: False) -> CompletionBounds | None:
    """Return the completion bounds of the labels of a complete sweep; None when stopped."""
    layers, history, again, starts, full, guide = kept
    limit, critical = starts.limit, np.uint64(starts.critical)
    last = layers[-1]
    rest = np.where(last.mask == critical, 0, limit + 1 - last.settled)
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
        step, possible = _possible(starts, layer, rows, t)
        bounds = np.zeros(len(rows), np.int64)
        completion_kernels.complete(
            (layer.mask[rows], layer.settled[rows], layer.tokens[rows], total[rows]),
            *(step, possible, full, after, guide is not None, _before(guide, t, after)),
            *(_scratch(len(possible[0]), len(full)), bounds),
        )
        rest[rows] = bounds
        after = planted(layer.mask, -rest, layer.tokens)
        found.append(after)
    return CompletionBounds(starts.critical, limit, found[::-1], guide)


def _alike(labels: Labels, rows: IntArray, known: np.uint64) -> IntArray:
    """Return rows in an order in which labels follow others that hold alike.

    Keys are alike for labels with like tokens and equal started known requests. In their order, the
    findings of one label bound its successors sooner.
    """
    keys = (labels.mask[rows] & known) * MIX & OF_MASK | labels.tokens[rows, 0] >> OF_TOKENS
    order: IntArray = rows[np.argsort(keys)]
    return order


def _possible(starts: Extensions, layer: Labels, rows: IntArray, t: int) -> tuple[Any, Any]:
    """Return the step from these labels of layer t, and the starts that are possible then."""
    direction, step = starts.direction, starts.step(t)
    chosen = starts.at(t)
    bits, twins, due, excess = starts.bits(chosen, t)
    change = excess - step.tail[direction.first[chosen]]
    # those whose set of the started stays the same come last, and what is gained first
    order = np.lexsort((np.where(bits > 0, 0, change), bits == 0))
    tokens = direction.tokens[direction.first[chosen]]
    possible = tuple(each[order] for each in (bits, excess - due, change, tokens, twins))
    critical = np.uint64(starts.critical)
    spent = layer.cost[rows]
    completion_kernels.spend(spent, layer.mask[rows], critical, step.due)
    return (step.slack, starts.limit, spent), possible


def _scratch(most: int, words: int) -> tuple[Any, ...]:
    """Return what `completion_kernels.complete` keeps for up to ``most`` starts: tokens, those of
    the next layer, masks, places of labels that have bounded others, and numbers."""
    tokens = np.zeros((most + 1, words), np.uint64), np.zeros(words, np.uint64)
    numbers = *(np.zeros(most + 1, np.int64) for _ in range(6)), np.full(most + 1, most)
    return *tokens, np.zeros(most + 1, np.uint64), np.full((most + 1, 2, SEEN + 1), -1), numbers


def _before(guide: CompletionBounds | None, t: int, after: Layer) -> tuple[Any, ...]:
    """Return the critical requests of a guide, and its labels of the layer after t."""
    if guide is None:
        return np.uint64(0), *after
    return np.uint64(guide.known), *guide.layers[t + 1]
