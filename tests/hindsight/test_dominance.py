"""Labels that replace others hold no more at any time, and come first by settled cost."""

import numpy as np
import pytest

from ratiolab.hindsight.labelling import label_kernels
from ratiolab.hindsight.labelling.label_kernels import Labels
from ratiolab.model import stream

COUNT = 300


def layer(seed: int, words: int, masks: int) -> Labels:
    """Labels that hold little of so many words, and remember one of so many sets."""
    rng = stream(seed, "cases")
    held = rng.integers(0, 6, (COUNT, words))
    states = Labels.empty(COUNT, 1, words, 8)
    tokens = states.tokens.view(np.uint8)
    tokens[:] = np.repeat(held, 8, axis=1) + (rng.random(tokens.shape) < 0.1)
    states.mask[:] = rng.integers(0, masks, COUNT)
    states.settled[:] = rng.integers(0, 50, COUNT)
    return states


@pytest.mark.parametrize("words", [1, 2, 3, 6])
@pytest.mark.parametrize("masks", [1, 5])
def test_of_states_compared_with_all_those_stay_that_no_cheaper_one_replaces(
    words: int, masks: int
) -> None:
    states = layer(words, words, masks)
    order = np.lexsort((states.settled, states.mask))
    by = label_kernels.undominated(states, order, 2 * COUNT)
    tokens, mask = states.tokens.view(np.uint8).astype(int), states.mask.tolist()
    replaced = 0
    for place, s in enumerate(order.tolist()):
        before = [r for r in order[:place].tolist() if mask[r] == mask[s]]
        better = [r for r in before if (tokens[r] <= tokens[s]).all()]
        assert by[place] in better if better else by[place] == -1
        replaced += bool(better)
    assert 0 < replaced < COUNT


def test_of_states_compared_with_few_those_that_go_are_replaced_by_better_ones() -> None:
    states = layer(0, 3, 1)
    order = np.argsort(states.settled, kind="stable")
    tokens = states.tokens.view(np.uint8).astype(int)
    counts = []
    for compared in (2, 8, 32):
        by = label_kernels.undominated(states, order, compared)
        gone = np.flatnonzero(by >= 0)
        assert (tokens[by[gone]] <= tokens[order[gone]]).all()
        assert (states.settled[by[gone]] <= states.settled[order[gone]]).all()
        counts.append(len(gone))
    assert 0 < counts[0] < counts[2]
