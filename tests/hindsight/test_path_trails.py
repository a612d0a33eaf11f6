"""What the checker of paths knows of a state from what became of it."""

import numpy as np

from ratiolab.hindsight.certificates.path_bounds import Trail

NEVER = 99


def test_a_state_comes_to_the_least_of_what_it_became() -> None:
    trail = Trail(np.array([3, 5]), np.array([10, 12]))
    trail.made(np.array([0, 1]), np.array([8, 11]))
    assert trail.least(np.array([20, 30, 15, 40]), NEVER).tolist() == [15, 30]
    assert trail.came.tolist() == [3, 5]
    trail.left(np.array([2, 0]))
    assert trail.least(np.array([15, 20]), NEVER).tolist() == [15, NEVER]


def test_what_replaces_a_state_counts_from_then_on_and_at_the_difference_of_totals() -> None:
    """The other has made a start before, which the one that it replaces never made."""
    trail = Trail(np.array([0, 1]), np.array([10, 12]))
    trail.made(np.array([0]), np.array([8]))
    trail.replaced(np.array([1]), np.array([0]))
    trail.left(np.array([0, 2]))
    trail.made(np.array([0]), np.array([9]))
    assert trail.least(np.array([20, 15, 18]), NEVER).tolist() == [15, 20]
    assert trail.number == 4


def test_a_state_replaced_by_what_was_made_of_it_and_dropped_states_come_to_an_end() -> None:
    trail = Trail(np.array([0, 1]), np.array([10, 12]))
    trail.made(np.array([0]), np.array([9]))
    trail.replaced(np.array([0]), np.array([2]))
    trail.left(np.array([1, 2]))
    trail.left(np.array([1]))
    assert trail.least(np.array([30]), NEVER).tolist() == [30, NEVER]
    assert trail.least(np.array([200]), NEVER).tolist() == [NEVER, NEVER]
