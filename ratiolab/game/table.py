"""A table of the values of many finite games, kept as a CSV file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import NamedTuple

from ratiolab.game.configurations import arena
from ratiolab.game.deterministic import deterministic_value
from ratiolab.game.randomised import randomised_value
from ratiolab.game.rules import Game
from ratiolab.model.files import csv_integer, csv_table, write_csv
from ratiolab.model.instance import shown

MOST_MULTISETS = 250
"""With more, only the value without randomness is computed: it takes seconds, the other minutes."""

LONE = (
    (2, 1, 5, 1, 4),
    (3, 1, 7, 1, 6),
    (3, 0, 7, 1, 7),
    (4, 1, 5, 1, 3),
    (4, 2, 8, 1, 5),
    (4, 1, 7, 1, 6),
    (5, 0, 3, 1, 3),
    (5, 1, 5, 1, 4),
    (5, 1, 6, 1, 5),
    (6, 0, 3, 1, 3),
    (6, 1, 5, 1, 4),
    (7, 0, 3, 1, 3),
    (8, 0, 3, 1, 3),
    (9, 0, 3, 1, 3),
    (10, 0, 3, 1, 3),
)
"""Games whose values bound every policy: requests, prompt, memory, least and largest output."""

CURVES = ((2, 20), (3, 9), (4, 6))
"""Requests and largest output of games with every least output, no prompt, memory for one."""


class Row(NamedTuple):
    """Values of one game.

    The value with randomness lies between `least` and `most`, which are None where it was not
    computed.
    """

    game: Game
    configurations: int
    deterministic: Fraction
    least: Fraction | None
    most: Fraction | None

    @property
    def alpha(self) -> Fraction:
        """Least over largest output."""
        return Fraction(self.game.lower, self.game.upper)


def games() -> Iterator[Game]:
    """Yield the games of the table."""
    for lone in LONE:
        yield Game(*lone)
    for requests, upper in CURVES:
        for lower in range(1, upper + 1):
            yield Game(requests, 0, upper, lower, upper)


def row_of(game: Game) -> Row:
    """Compute the values of a game."""
    board = arena(game)
    value = deterministic_value(game, board).value
    least = most = None
    if comb(game.requests + game.upper - game.lower, game.requests) <= MOST_MULTISETS:
        mixed = randomised_value(game, known=board)
        least, most = mixed.lower, mixed.upper
    return Row(game, len(board.configurations), value, least, most)


def rows(
    chosen: Iterable[Game],
    known: Sequence[Row] = (),
    tell: Callable[[Game], None] = lambda _: None,
    keep: Callable[[list[Row]], None] = lambda _: None,
) -> list[Row]:
    """Return the values of games; compute each that is not known.

    Parameters
    ----------
    tell : called before a game is computed.
    keep : called after it with all rows, known ones of other games, too.
    """
    by_game = {row.game: row for row in known}
    found: list[Row] = []
    for game in chosen:
        if game not in by_game:
            tell(game)
            by_game[game] = row_of(game)
            keep(list(by_game.values()))
        found.append(by_game[game])
    return found


HEAD = "requests", "prompt", "memory", "lower", "upper"
VALUES = "configurations", "deterministic", "randomised_least", "randomised_most"


def write_rows(found: Sequence[Row], path: Path) -> None:
    """Write a table in one step."""
    rows = ([*(getattr(row.game, name) for name in HEAD), *row[1:]] for row in found)
    write_csv(path, [*HEAD, *VALUES], rows)


def read_rows(path: Path) -> list[Row]:
    """Read a table; FormatError names file, line, column, value and rule of what is not one."""
    return csv_table(path, [*HEAD, *VALUES], _row)


def _row(cells: dict[str, str], line: int) -> Row:
    def fraction(name: str) -> Fraction:
        try:
            return Fraction(cells[name])
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"line {line}: {name} {shown(cells[name])} must be a fraction"
            ) from None

    *numbers, configurations = (csv_integer(cells[k], k, line) for k in (*HEAD, "configurations"))
    try:
        game = Game(*numbers)
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None
    least, most = (fraction(name) if cells[name] else None for name in VALUES[2:])
    return Row(game, configurations, fraction("deterministic"), least, most)
