"""The value of the finite game against policies that draw random numbers.

The adversary draws outputs from a list of multisets, in random order. Against that a policy needs
no randomness, and its least expected cost is a dynamic program over configurations: the mass of a
configuration is the share of orders that agree with it, summed over the multisets. Conversely a
mixture of finitely many such policies, applied to requests in random order, has a worst multiset.
Both sides grow together: the best mixture of the policies known gives weights of the multisets, the
best answer to these weights is a new policy. When the answer gains nothing, the value is exact.

Masses are counted in orders of the requests, so all costs are integers; the weights of the
multisets and of the policies are fractions, solved for exactly on the support that a linear program
in floats finds. Where that fails, two fractions enclose the value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, lcm
from typing import Any

import numpy as np

from ratiolab.game.configurations import DONE, Arena, Configuration, arena
from ratiolab.game.deterministic import game_fields
from ratiolab.game.exact_solve import solve_exactly
from ratiolab.game.rules import Game, Lengths
from ratiolab.model.footprint import IntArray

LARGEST_WEIGHT = 10**6
"""Denominators of weights that floats give, at most."""

NUDGE = 1e-7
"""Weight of multisets that the adversary does not use: a policy must end on them, too."""


@dataclass(frozen=True, eq=False)
class Randomised:
    """Two fractions that enclose the value, with a strategy for each.

    Parameters
    ----------
    lower : least expected cost against the weights, over their expected optimum.
    upper : largest ratio of the mixture over all multisets; None when only the weights were asked
        for.
    weights : of the multisets, with sum 1.
    mixture : probabilities of policies, each an action by configuration.
    """

    arena: Arena = field(repr=False)
    lower: Fraction
    upper: Fraction | None
    weights: dict[Lengths, Fraction]
    mixture: tuple[tuple[Fraction, dict[int, int]], ...] = field(repr=False)

    @property
    def game(self) -> Game:
        """The game."""
        return self.arena.game

    @property
    def is_exact(self) -> bool:
        """Whether both fractions are the same."""
        return self.lower == self.upper

    def least_costs(self) -> list[Fraction]:
        """Return the least cost under the weights from each configuration on, over all orders."""
        common = lcm(*(w.denominator for w in self.weights.values()))
        masses = Masses(self.arena, list(self.weights))
        integers = [int(w * common) for w in self.weights.values()]
        return [Fraction(int(v), common) for v in masses.least_costs(integers)]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate: both fractions, weights, and the mixture of policies."""
        board = self.arena

        def rows(policy: dict[int, int]) -> list[Any]:
            return [
                [
                    [list(sort) for sort in board.configurations[c]],
                    [[list(sort), number] for sort, number in board.actions[a]],
                ]
                for c, a in sorted(policy.items())
            ]

        return {
            "game": game_fields(self.game),
            "kind": "randomised",
            "lower": str(self.lower),
            "upper": None if self.upper is None else str(self.upper),
            "weights": [[list(lengths), str(w)] for lengths, w in self.weights.items()],
            "table": [
                [[list(sort) for sort in configuration], str(v)]
                for configuration, v in zip(board.configurations, self.least_costs(), strict=True)
            ],
            "mixture": [[str(share), rows(policy)] for share, policy in self.mixture],
        }


def orders(configuration: Configuration, lengths: Lengths) -> int:
    """Return in how many of the n! orders of some lengths a configuration can be reached.

    Of the requests that are done each takes one of the equal lengths. Of the others those with the
    largest bound choose first: whatever exceeds their bound exceeds that of the rest.
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

    def least_costs(self, weights: Any) -> Any:
        """Return the least expected cost from each configuration on, in orders times the weights.

        `weights` are floats, or integers for an exact answer.
        """
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
            open_ += board.target[board.outcomes(policy[c])].tolist()
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
            outcomes = board.outcomes(policy[c])
            missing = [int(t) for t in board.target[outcomes] if int(t) not in done]
            if missing:
                if any(t in path for t in missing):
                    raise AssertionError(f"{board.game}: a policy of the mixture does not end")
                path += missing
                continue
            total = self.orders[:, c] * board.unfinished[c]
            for k in outcomes:
                total = total + board.ways[k] * done[int(board.target[k])]
            done[c] = total
        return done[0]


def randomised_value(
    game: Game,
    *,
    multisets: Sequence[Lengths] | None = None,
    known: Arena | None = None,
    rounds: int = 300,
) -> Randomised:
    """Return the value for policies with randomness, exact or between two fractions.

    Parameters
    ----------
    multisets : what the adversary may end with; by default everything. With fewer the lower bound
        stays valid, and there is no upper one.
    rounds : new policies at most.

    >>> randomised_value(Game(2, 1, 5, 1, 4)).lower
    Fraction(5, 4)
    """
    board = known or arena(game)
    chosen = list(multisets) if multisets is not None else list(game.lengths)
    masses = Masses(board, chosen)
    scale = factorial(game.requests)
    optima = np.array(masses.optima, float)
    shares = np.full(len(chosen), 1 / len(chosen))
    policies: list[dict[int, int]] = []
    rows: list[IntArray] = []
    ratios: list[list[Fraction]] = []
    for _ in range(rounds):
        policy = masses.answer((shares / optima).tolist())
        cost = masses.costs(policy)
        repeated = any((cost == row).all() for row in rows)
        if not repeated:
            policies.append(policy)
            rows.append(cost)
            ratios.append(
                [Fraction(int(x), scale * opt) for x, opt in zip(cost, masses.optima, strict=True)]
            )
        mixture, shares = _float_solution(np.array(rows) / scale / optima)
        if repeated:
            break
    exact = solve_exactly(ratios, mixture, shares)
    weights = exact.shares if exact else _rounded(shares)
    lower, normal = _certified_lower(masses, weights)
    used_weights = {o: w for o, w in zip(chosen, normal, strict=True) if w}
    if multisets is not None and set(multisets) != set(game.lengths):
        return Randomised(board, lower, None, used_weights, ())
    parts = exact.mixture if exact else _rounded(mixture)
    upper = max(
        sum((p * r[k] for p, r in zip(parts, ratios, strict=True)), Fraction())
        for k in range(len(chosen))
    )
    used = tuple((p, policy) for p, policy in zip(parts, policies, strict=True) if p)
    return Randomised(board, lower, upper, used_weights, used)


def _float_solution(matrix: Any) -> tuple[Any, Any]:
    """Return the optimal mixture of rows, and the weights of columns that prove it, in floats."""
    from scipy.optimize import linprog

    policies, multisets = matrix.shape
    found = linprog(
        np.append(np.zeros(policies), 1.0),
        A_ub=np.hstack([matrix.T, -np.ones((multisets, 1))]),
        b_ub=np.zeros(multisets),
        A_eq=np.append(np.ones(policies), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * policies + [(None, None)],
        method="highs-ds",
    )
    shares = np.maximum(-found.ineqlin.marginals, 0)
    mixture: Any = found.x
    return mixture[:-1], shares / shares.sum()


def _rounded(values: Any) -> list[Fraction]:
    fractions = [Fraction(float(v)).limit_denominator(LARGEST_WEIGHT) for v in values]
    fractions = [f if f > Fraction(1, LARGEST_WEIGHT) else Fraction(0) for f in fractions]
    return [f / sum(fractions) for f in fractions]


def _certified_lower(masses: Masses, shares: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
    """Return the bound of weights share/OPT, by a dynamic program in integers, and the weights."""
    raw = [share / opt for share, opt in zip(shares, masses.optima, strict=True)]
    common = lcm(*(w.denominator for w in raw))
    integers = [int(w * common) for w in raw]
    cost = int(masses.least_costs(integers)[0])
    total = sum(raw, Fraction())
    bound = Fraction(cost, common * factorial(masses.board.game.requests)) / sum(shares)
    return bound, [w / total for w in raw]
