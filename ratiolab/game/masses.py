"""Masses of configurations under lengths in random order, and least expected costs against them."""

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

from ratiolab.game.configurations import DONE, Arena, Configuration
from ratiolab.game.rules import Lengths
from ratiolab.model.footprint import IntArray

NUDGE = 1e-7
"""Weight of multisets that the adversary does not use: a policy must end on them, too."""


def orders(configuration: Configuration, lengths: Lengths) -> int:
    """Return in how many of the n! orders of some lengths a configuration can be reached.

    Each completed request takes one of the equal lengths. Then the requests with the largest bound
    choose first: whatever exceeds their bound exceeds all other bounds.
    """
    number = 1
    left = list(lengths)
    for sort in configuration:
        if sort.state == DONE:
            number *= left.count(sort.bound)
            if number == 0:
                return 0
            left.remove(sort.bound)
    bounds = sorted((sort.bound for sort in configuration if sort.state != DONE), reverse=True)
    for taken, bound in enumerate(bounds):
        number *= sum(length > bound for length in left) - taken
        if number <= 0:
            return 0
    return number


class Masses:
    """Masses of the configurations of a game, in orders, for each multiset of a list."""

    def __init__(self, board: Arena, multisets: Sequence[Lengths]) -> None:
        self.board, self.multisets = board, tuple(multisets)
        self.orders = np.array(
            [[orders(c, lengths) for c in board.configurations] for lengths in multisets], np.int64
        )
        inner = np.flatnonzero(board.unfinished > 0)
        self.inner, self.starts = inner, np.searchsorted(board.owner, inner)
        self.optima = [board.game.optima[lengths] for lengths in multisets]
        # a policy says nothing of configurations that agree with no order of the multisets
        self.reachable: Any = self.orders.any(axis=0)

    def least_costs(self, weights: Any) -> Any:
        """Return the least expected cost from each configuration on, times orders and weights."""
        board = self.board
        exact = not isinstance(weights[0], float)
        mass: Any
        if exact:
            bound = max(map(int, weights)) * len(weights) * factorial(board.game.requests)
            kind = np.int64 if bound * 4 * max(self.optima) < 2**62 else object
            mass = np.array([int(w) for w in weights], kind) @ self.orders.astype(kind)
            far: Any = 2**62 if kind is np.int64 else 2**200
            value = np.full(len(mass), far, kind)
        else:
            mass, far = np.asarray(weights) @ self.orders, np.inf
            value = np.full(len(mass), far)
        value[board.leaves] = 0
        held = (mass * board.unfinished)[self.inner]
        while True:
            reached = np.where(value[board.target] < far, value[board.target], 0)
            blocked = np.add.reduceat((value[board.target] >= far).astype(np.int64), board.first)
            sums = np.add.reduceat(board.ways * reached, board.first)
            sums[blocked > 0] = far
            least = np.minimum.reduceat(sums, self.starts)
            better = np.where(least < far, held + np.where(least < far, least, 0), far)
            if (better >= value[self.inner]).all():
                return value
            value[self.inner] = np.minimum(value[self.inner], better)

    def answer(self, weights: Sequence[float]) -> dict[int, int]:
        """Return the best policy against weights: an action for each configuration it reaches."""
        board = self.board
        nudged = np.asarray(weights, float) + NUDGE / len(weights)
        value = self.least_costs(list(map(float, nudged)))
        sums = np.add.reduceat(board.ways * value[board.target], board.first)
        policy: dict[int, int] = {}
        open_ = [0]
        while open_:
            c = open_.pop()
            if c in policy or board.unfinished[c] == 0:
                continue
            first, last = np.searchsorted(board.owner, [c, c + 1])
            policy[c] = int(first + sums[first:last].argmin())
            open_ += self._following(policy[c]).tolist()
        return policy

    def costs(self, policy: dict[int, int]) -> IntArray:
        """Return the cost of a policy summed over all orders, for each multiset; exact."""
        board = self.board
        done: dict[int, IntArray] = {}
        path = [0]
        while path:
            c = path[-1]
            if c in done:
                path.pop()
                continue
            if board.unfinished[c] == 0:
                done[c] = np.zeros(len(self.multisets), np.int64)
                continue
            missing = [int(t) for t in self._following(policy[c]) if int(t) not in done]
            if missing:
                if any(t in path for t in missing):
                    raise AssertionError(f"{board.game}: a policy of the mixture does not end")
                path += missing
                continue
            total = self.orders[:, c] * board.unfinished[c]
            for k in board.outcomes(policy[c]):
                if self.reachable[board.target[k]]:
                    total = total + board.ways[k] * done[int(board.target[k])]
            done[c] = total
        return done[0]

    def _following(self, action: int) -> IntArray:
        """Return the reachable configurations after an action."""
        targets: IntArray = self.board.target[self.board.outcomes(action)]
        reached: IntArray = targets[self.reachable[targets]]
        return reached
