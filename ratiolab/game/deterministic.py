"""The exact value of the finite game against policies without randomness.

For a ratio r let W(c) be the least, over policies, of the largest, over what the adversary may
still do, of the cost from configuration c on minus r times the optimum of the lengths in the end:

    W(c) = unfinished(c) + min over actions of max over outcomes c' of W(c'),  W(leaf) = -r OPT.

W at the start falls in r and is 0 at the value of the game. There one table W proves both sides.
The adversary answers each action by an outcome of largest W: its play costs at least W(start) plus
r OPT, and a play without end costs more than any number. The policy takes an action of least W: W
falls in every round, so its play ends, at a cost of at most W(start) + r OPT. `checker` replays
that.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.game.configurations import Arena, arena
from ratiolab.game.rules import Game
from ratiolab.model.display import Tabular
from ratiolab.model.footprint import IntArray

if TYPE_CHECKING:
    import pandas as pd

FAR = 2**60


@dataclass(frozen=True, eq=False)
class Deterministic(Tabular):
    """The value of the game for deterministic policies, with the table that proves it."""

    arena: Arena = field(repr=False)
    value: Fraction
    table: IntArray = field(repr=False)

    @property
    def game(self) -> Game:
        """Game whose value is computed."""
        return self.arena.game

    @property
    def headline(self) -> str:
        """The game and its value."""
        return f"{self.game}: value {self.value}"

    def best_action(self, configuration: int) -> int:
        """Return an action of the optimal policy."""
        first, last = np.searchsorted(self.arena.owner, [configuration, configuration + 1])
        worst = np.maximum.reduceat(self.table[self.arena.target], self.arena.first)
        return int(first + worst[first:last].argmin())

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate: value, and the table by configuration."""
        return {
            "game": game_fields(self.game),
            "kind": "deterministic",
            "value": str(self.value),
            "table": [
                [[list(sort) for sort in configuration], int(w)]
                for configuration, w in zip(self.arena.configurations, self.table, strict=True)
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return the table W that proves the value, one row for each configuration."""
        import pandas as pd

        return pd.DataFrame({"configuration": self.arena.configurations, "W": self.table})


def game_fields(game: Game) -> list[int]:
    return [game.requests, game.prompt, game.memory, game.lower, game.upper]


def deterministic_value(game: Game, known: Arena | None = None) -> Deterministic:
    """Return the exact value: bisection in floats, then the fraction that the table confirms.

    The value is a cost over an optimum, so its denominator is at most the largest optimum.

    >>> deterministic_value(Game(2, 1, 5, 1, 4)).value
    Fraction(4, 3)
    """
    board = known or arena(game)
    most = max(game.optima.values())
    low, high = Fraction(1), Fraction(2 * game.requests * game.upper)
    while high - low > Fraction(1, 3 * most**2):
        middle = (low + high) / 2
        middle = middle.limit_denominator(8 * most**2)
        if not low < middle < high:
            middle = (low + high) / 2
        if table(board, middle)[0] > 0:
            low = middle
        else:
            high = middle
    value = ((low + high) / 2).limit_denominator(most)
    proof = table(board, value)
    if proof[0] != 0:
        raise AssertionError(f"{game}: {value} is not the value; W = {proof[0]}")
    return Deterministic(board, value, proof)


def table(board: Arena, ratio: Fraction) -> IntArray:
    """Return W of each configuration times the denominator of the ratio, exact."""
    p, q = ratio.numerator, ratio.denominator
    optima = board.game.optima
    value = np.full(len(board.configurations), FAR, np.int64)
    for leaf in board.leaves:
        value[leaf] = -p * optima[board.lengths(int(leaf))]
    inner = np.flatnonzero(board.unfinished > 0)
    starts = np.searchsorted(board.owner, inner)
    step = q * board.unfinished[inner]
    while True:
        worst = np.maximum.reduceat(value[board.target], board.first)
        least = np.minimum.reduceat(worst, starts)
        better = np.where(least < FAR, least + step, FAR)
        if (better == value[inner]).all():
            return value
        value[inner] = better
