"""What completing a state costs, as compiled, against its definition in plain loops."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from relaxed_schedules import backward

from ratiolab.hindsight.labelling import completion_bounds, completion_kernels
from ratiolab.hindsight.labelling.label_trees import Layer
from ratiolab.hindsight.labelling.sweep import sweep


def bytes_of(words: Any) -> Any:
    """Return tokens at each time, one a byte."""
    return np.ascontiguousarray(words, "<u8").view(np.uint8)


def most_rest(layer: Layer, mask: int, tokens: Any) -> int | None:
    """Return the most rest of the states of a layer that hold no more; None if there are none."""
    masks, values, held, _, _, first, last, _ = layer.tree
    for group in np.flatnonzero(masks == mask):
        begin = first[layer.roots[group]]
        states = slice(begin, last[layer.roots[group]])
        less = (bytes_of(held[states]).reshape(len(held[states]), -1) <= tokens).all(axis=1)
        found = [-int(value) for value in values[states][less] if value <= 0]
        return max(found, default=None)
    return None


class Definition:
    """The least over all sets of starts; how often a set has no state, and a larger one has."""

    def __init__(self) -> None:
        self.sets = self.grown = 0

    def __call__(
        self, layer: Any, step: Any, starts: Any, full: Any, after: Any, guided: Any, before: Any
    ) -> Any:
        mask, settled, held, low = layer
        slack, limit, spent = step
        bits, rise, change, tokens, twins = starts
        known, trees = before[0], (Layer(*after), Layer(*before[1:]))
        each = bytes_of(tokens).reshape(len(bits), 8 * tokens.shape[1])
        rest = []
        for s in range(len(mask)):
            best, missing = limit + 1 - settled[s], list[set[int]]()
            for number in range(len(bits) + 1 if spent[s] <= limit else 0):
                for some in combinations(range(len(bits)), number):
                    chosen = list(some)
                    begun = np.uint64(mask[s])
                    possible = spent[s] + rise[chosen].sum() <= limit
                    for k in chosen:
                        possible &= not begun & bits[k] and begun & twins[k] == twins[k]
                        begun |= bits[k]
                    now = bytes_of(held[s]).astype(int) + each[chosen].sum(axis=0)
                    if not possible or (now > bytes_of(full)).any():
                        continue
                    self.sets += 1
                    own = np.append(now[1:], 0)
                    found = most_rest(trees[0], int(begun), own)
                    if found is not None and guided:
                        other = most_rest(trees[1], int(begun & known), own)
                        found = None if other is None else max(found, other)
                    if found is None:
                        missing.append(set(chosen))
                        continue
                    self.grown += any(less < set(chosen) for less in missing)
                    best = min(best, slack + int(change[chosen].sum()) + found)
            rest.append(max(best, low[s] - settled[s]))
        return np.array(rest, np.int64)


@pytest.mark.parametrize("remembered", [(0,), (1,), (0, 5), (2, 7)])
def test_completing_a_state_costs_what_the_definition_says(
    remembered: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, definition, compared = completion_kernels.complete, Definition(), 0

    def both(*given: Any) -> Any:
        nonlocal compared
        found = compiled(*given)
        np.testing.assert_array_equal(found, definition(*given))
        compared += len(found)
        return found

    monkeypatch.setattr(completion_kernels, "complete", both)
    for seed in range(24):
        instance, back, limit = backward(seed)
        guide = None
        for known in remembered:
            some = known & (2 ** len(instance) - 1)
            swept = sweep(
                instance, back, limit, 10**6, overflow="lower", critical=some, guide=guide
            )
            assert swept is not None
            assert swept.kept is not None
            guide = completion_bounds.completions(swept.kept)
    assert definition.sets > compared > 200
    assert definition.grown  # no state for a set says nothing of the sets that contain it
