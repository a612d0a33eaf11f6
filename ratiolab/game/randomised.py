"""The value of the finite game against policies that draw random numbers.

The adversary draws outputs from a list of multisets, in random order. Against that a policy needs
no randomness, and its least expected cost is a dynamic program over configurations: the mass of a
configuration is the share of orders that agree with it, summed over the multisets. Conversely a
mixture of finitely many such policies, applied to requests in random order, has a worst multiset.
The two sides grow together: the best mixture of the policies known gives weights of the multisets,
the best answer to these weights is a new policy. When the answer gains nothing, the value is exact.

Masses are counted in orders of the requests, so all costs are integers; the weights of the
multisets and of the policies are fractions, solved for exactly on the support that a linear program
in floats finds. Where that fails, two fractions bound the value from both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, lcm
from typing import Any

import numpy as np

from ratiolab.game.configurations import Arena, arena
from ratiolab.game.deterministic import game_fields
from ratiolab.game.exact_solve import solve_exactly
from ratiolab.game.masses import Masses
from ratiolab.game.rules import Game, Lengths
from ratiolab.model.footprint import IntArray

LARGEST_WEIGHT = 10**6
"""Denominators of weights that floats give, at most."""


@dataclass(frozen=True, eq=False)
class Randomised:
    """A lower and an upper bound on the value, with a strategy for each.

    Parameters
    ----------
    lower : least expected cost against the weights, over their expected optimum.
    upper : largest ratio of the mixture over all multisets; None when only the weights were asked
        for.
    weights : weights of the multisets, with sum 1.
    mixture : probabilities of policies, each an action by configuration.
    interrupted : whether Ctrl-C ended the search for further policies.
    """

    arena: Arena = field(repr=False)
    lower: Fraction
    upper: Fraction | None
    weights: dict[Lengths, Fraction]
    mixture: tuple[tuple[Fraction, dict[int, int]], ...] = field(repr=False)
    interrupted: bool = False

    @property
    def game(self) -> Game:
        """Game whose value is computed."""
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


def randomised_value(
    game: Game,
    *,
    multisets: Sequence[Lengths] | None = None,
    known: Arena | None = None,
    rounds: int = 300,
) -> Randomised:
    """Return the value for policies with randomness, exact or between two fractions.

    `multisets` are what the adversary may end with, by default all; with fewer the lower bound
    stays valid, and there is no upper one. At most `rounds` new policies are tried.

    Ctrl-C ends the search for policies; the policies found by then bound the value.

    >>> randomised_value(Game(2, 1, 5, 1, 4)).lower
    Fraction(89, 76)
    """
    board = known or arena(game)
    chosen = list(game.lengths if multisets is None else dict.fromkeys(multisets))
    masses = Masses(board, chosen)
    scale = factorial(game.requests)
    optima = np.array(masses.optima, float)
    shares = np.full(len(chosen), 1 / len(chosen))
    policies: list[dict[int, int]] = []
    rows: list[IntArray] = []
    ratios: list[list[Fraction]] = []
    mixture: Any = ()
    stopped = False
    for _ in range(rounds):
        try:
            policy = masses.answer((shares / optima).tolist())
            cost = masses.costs(policy)
            repeated = any((cost == row).all() for row in rows)
            if not repeated:
                policies.append(policy)
                rows.append(cost)
                ratios.append(
                    [
                        Fraction(int(x), scale * opt)
                        for x, opt in zip(cost, masses.optima, strict=True)
                    ]
                )
            mixture, shares = _float_solution(np.array(rows) / scale / optima)
        except KeyboardInterrupt:
            if not len(mixture):
                raise
            del policies[len(mixture) :], ratios[len(mixture) :]
            stopped = True
            break
        if repeated:
            break
    exact = solve_exactly(ratios, mixture, shares)
    weights = exact.shares if exact else _rounded(shares)
    lower, normal = _certified_lower(masses, weights)
    used_weights = {o: w for o, w in zip(chosen, normal, strict=True) if w}
    if multisets is not None and set(multisets) != set(game.lengths):
        return Randomised(board, lower, None, used_weights, (), stopped)
    parts = exact.mixture if exact else _rounded(mixture)
    upper = max(
        sum((p * r[k] for p, r in zip(parts, ratios, strict=True)), Fraction())
        for k in range(len(chosen))
    )
    used = tuple((p, policy) for p, policy in zip(parts, policies, strict=True) if p)
    return Randomised(board, lower, upper, used_weights, used, stopped)


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
