"""The table of games and its page: values are those of single games, files are read as written."""

from fractions import Fraction
from pathlib import Path

import pytest

from ratiolab.game import Game
from ratiolab.game.table import games, read_rows, row_of, write_rows
from ratiolab.game.table import rows as compute
from ratiolab.report.games_page import picture, write_page

ROOT = Path(__file__).parents[2]
SMALL = [Game(2, 1, 5, 1, 4), *(Game(2, 0, 3, lower, 3) for lower in (1, 2, 3))]


def test_a_table_is_read_as_it_was_written_and_its_page_has_the_values(tmp_path):
    told, kept = [], []
    rows = compute(SMALL, tell=told.append)
    assert told == SMALL
    assert compute(SMALL, rows[1:], told.append, kept.append) == rows
    assert told == [*SMALL, SMALL[0]]  # what is known is not computed again
    assert kept == [[*rows[1:], rows[0]]]  # and is kept
    assert rows[0].deterministic == Fraction(4, 3)
    assert rows[0].least == rows[0].most == Fraction(89, 76)
    assert (rows[-1].deterministic, rows[-1].alpha) == (1, 1)  # equal lengths: nothing is unknown
    values = [row.deterministic for row in rows[1:]]
    assert values == sorted(values, reverse=True)  # a narrower interval never costs more
    write_rows(rows, tmp_path / "games.csv")
    assert read_rows(tmp_path / "games.csv") == rows
    write_page(rows, tmp_path / "games.md", "games.csv", "games.png")
    text = (tmp_path / "games.md").read_text()
    assert "| 2 | 1 | 5 | 1 | 4 | 87 | 4/3 | 1.333333 | 89/76 | 1.171053 |" in text
    assert "worst output 3: latency 8, optimum 6 *" in text
    assert len(picture(rows).axes) == 2


def test_a_file_that_is_no_table_is_refused_with_its_line(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("requests\n1\n")
    with pytest.raises(ValueError, match="columns must be"):
        read_rows(path)
    write_rows([], path)
    path.write_text(path.read_text() + "2,0,3,1,3,5,x,,\n")
    with pytest.raises(ValueError, match="line 2"):
        read_rows(path)


def test_the_stored_table_holds_the_games_of_the_table_and_small_ones_come_out_again():
    stored = {row.game: row for row in read_rows(ROOT / "results" / "games.csv")}
    assert list(stored) == list(games())
    for game in [game for game in stored if stored[game].configurations < 100][:12]:
        assert row_of(game) == stored[game]
