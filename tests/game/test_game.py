"""Values of finite games, and that their certificates prove them and nothing else."""

from fractions import Fraction
from pathlib import Path

import pytest

from ratiolab.game import Game, check, deterministic_value, randomised, randomised_value
from ratiolab.game.certificate import read_certificates, write_certificates
from ratiolab.game.checker import CheckError
from ratiolab.game.configurations import arena
from ratiolab.game.exact_solve import solve_exactly
from ratiolab.game.masses import Masses
from ratiolab.game.table import games, read_rows, row_of, write_rows
from ratiolab.game.table import rows as compute
from ratiolab.game.tree import tree
from ratiolab.model.files import FormatError
from ratiolab.report.games_page import picture, write_page

SMALL = Game(2, 1, 5, 1, 4)
LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("game", "deterministic", "randomised"),
    [
        # One request: run it. A known length: MC-SF's order is optimal for equal requests.
        (Game(1, 0, 3, 1, 3), 1, 1),
        (Game(3, 0, 4, 2, 2), 1, 1),
        # Two of 1 or 2, of which one fits at a time. If the first does not end at once, going on
        # costs 2 + 3 against 1 + 3 when the other is short, killing 2 + 4. In random order, 9/8.
        (Game(2, 1, 3, 1, 2), Fraction(5, 4), Fraction(9, 8)),
        (SMALL, Fraction(4, 3), Fraction(89, 76)),
        (Game(4, 1, 5, 1, 3), Fraction(18, 11), Fraction(169, 132)),
        pytest.param(Game(3, 1, 7, 1, 6), Fraction(7, 4), Fraction(764, 591), marks=LONG),
        pytest.param(Game(4, 2, 8, 1, 5), Fraction(39, 22), None, marks=LONG),
        pytest.param(Game(5, 0, 3, 1, 3), Fraction(5, 3), Fraction(119, 90), marks=LONG),
        pytest.param(Game(6, 0, 3, 1, 3), Fraction(17, 10), Fraction(11367, 8440), marks=LONG),
    ],
)
def test_values_are_known_fractions(game, deterministic, randomised):
    board = arena(game)
    exact = deterministic_value(game, board)
    assert exact.value == deterministic
    if randomised is not None:
        mixed = randomised_value(game, known=board)
        assert 1 <= mixed.lower == mixed.upper == randomised <= exact.value


def test_the_checker_replays_both_kinds_of_certificates(tmp_path):
    claims = [deterministic_value(SMALL).to_dict(), randomised_value(SMALL).to_dict()]
    write_certificates(claims, tmp_path / "game.json")
    proved = [check(claim) for claim in read_certificates(tmp_path / "game.json")]
    assert "4/3" in proved[0]
    assert "at least 89/76" in proved[1]
    assert "at most 89/76" in proved[1]


def test_the_checker_refuses_what_is_not_proved():
    exact, mixed = deterministic_value(SMALL).to_dict(), randomised_value(SMALL).to_dict()
    for claim, change in (
        (exact, {"value": "11/7"}),
        (exact, {"value": "10/7"}),
        (exact, {"table": exact["table"][:-1]}),
        (exact, {"table": [[c, w + (k == 5)] for k, (c, w) in enumerate(exact["table"])]}),
        (mixed, {"lower": "8/7", "upper": "8/7"}),
        (mixed, {"lower": "9/7"}),
        (mixed, {"weights": [[[1, 1], "1/2"], [[2, 4], "1/2"]]}),
        (mixed, {"weights": [[[1, 1], "1"], [[2, 4], "1"]]}),
        (mixed, {"mixture": [[share, rows[1:]] for share, rows in mixed["mixture"]]}),
        (mixed, {"mixture": [[share + "0", rows] for share, rows in mixed["mixture"]]}),
    ):
        with pytest.raises(CheckError):
            check({**claim, **change})


def test_a_file_that_is_no_certificate_is_refused_in_one_line(tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text('{"format": "ratiolab-game/1", "claims": [{"game": [1, 2], "kind": "both"}]}')
    with pytest.raises(FormatError, match=r"wrong\.json: claims"):
        read_certificates(path)


def test_the_tree_says_what_the_policy_does_and_where_the_adversary_gains():
    lines = list(tree(deterministic_value(SMALL)))
    assert lines[0] == "round 0, 2 start"
    # the ratio 4/3: a latency of 3 + 5 against an optimum of 6; one request starts again at once
    assert any(line.endswith("worst output 3: latency 8, optimum 6 *") for line in lines)
    assert list(tree(deterministic_value(SMALL), lines=3))[-1].startswith("... and")


def test_games_out_of_reach_or_without_sense_are_refused():
    with pytest.raises(MemoryError, match="configurations"):
        arena(Game(6, 0, 6, 1, 6), most=1000)
    for wrong, word in (
        ((0, 0, 3, 1, 3), "requests"), ((2, 0, 3, 2, 1), "lower"), ((2, 1, 3, 1, 3), "memory"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            Game(*wrong)


@pytest.mark.parametrize(
    ("place", "name"), [(Masses, "answer"), (randomised, "_float_solution")], ids=["answer", "mix"]
)
def test_ctrl_c_leaves_bounds_that_enclose_the_value(place, name, monkeypatch):
    real, calls = getattr(place, name), []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(place, name, interrupted)
    found = randomised_value(SMALL)
    assert found.interrupted
    assert found.lower <= Fraction(89, 76) <= found.upper
    assert "at most" in check(found.to_dict())


ROOT = Path(__file__).parents[2]
SMALLEST = [Game(2, 1, 5, 1, 4), *(Game(2, 0, 3, lower, 3) for lower in (1, 2, 3))]


def test_a_table_is_read_as_it_was_written_and_its_page_has_the_values(tmp_path):
    told, kept = [], []
    rows = compute(SMALLEST, tell=told.append)
    assert told == SMALLEST
    assert compute(SMALLEST, rows[1:], told.append, kept.append) == rows
    assert told == [*SMALLEST, SMALLEST[0]]  # what is known is not computed again
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


def test_a_matrix_game_is_solved_in_fractions():
    # matching pennies with payoffs 1, 0 and 0, 2: rows 2/3, 1/3, columns 2/3, 1/3, value 2/3
    matrix = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(2)]]
    found = solve_exactly(matrix, [0.66, 0.34], [0.66, 0.34])
    assert found.value == Fraction(2, 3)
    assert found.mixture == found.shares == [Fraction(2, 3), Fraction(1, 3)]
    assert solve_exactly(matrix, [1.0, 0.0], [1.0, 0.0]) is None
