"""Mistakes in the commands of the adversary, the games and the best policies."""

from pathlib import Path

import pytest
from command_line import run

from ratiolab.model import Instance, write_instance

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("attack --policy mc-sf --time-limit nan", "Invalid value for '--time-limit'"),
        ("attack --policy mc-sf --time-limit 0", "the budget is too small"),
        ("attack --policy mc-sf --requests 61", "requests 61 must be between 2 and 60"),
        ("attack --policy mc-sf --memory 1", "memory 1 must be between twice the headroom, 2"),
        ("attack --policy mc-sf --prompts odd", "prompts 'odd' must be one of equal, any"),
        ("attack --policy mc-sf --start nowhere.json", "nowhere.json: No such file"),
        ("attack --policy mc-sf --start trace.csv", "trace.csv: arrival is missing"),
        (
            "attack --policy mc-sf --start ec1.json --requests 3",
            "--start ec1.json: 4 requests must be between 2 and 3",
        ),
        (
            "attack --policy mc-sf --start ec1.json --headroom 2",
            "--start ec1.json: memory 7 must be at least 2 times the largest request, 5",
        ),
        ("attack --policy mc-sf --start odd.json", "prompts must be equal"),
        ("attack --policy mc-sf --start odd.json --prompts any", "must arrive at round 0"),
        ("attack --policy mc-sf --start odd.json --memory 8", "memory 9 must be between 1 and 8"),
        (
            "attack --policy volume-restart --param base=nan",
            "base nan must be above 1 and at most 1e9, a finite number",
        ),
        ("attack --policy mc-sf --limit --plot p.png", "--limit searches for a family"),
        ("attack --policy own.py:Mine", "there is no file own.py"),
        ("game --requests 17", "requests 17 must be between 1 and 16"),
        ("game --memory 4", "memory 4 must be at least prompt + upper, 5"),
        ("game --multiset 1,x", "--multiset '1,x' must be integers with commas between them"),
        ("game --check ec1.json", "format 'ratiolab-instance/1' must be 'ratiolab-game/1'"),
        ("games --page .", ".: is a directory, not a file"),
        ("design", "design needs a file, or both --lower and --upper"),
        ("design --lower 5 --upper 2", "--upper 2 must be at least --lower 5"),
        ("design ec1.json --memory 4", "ec1.json: request 3: prompt+output 5 exceeds memory 4"),
        ("design --lower 1 --upper 3 --gap nan", "Invalid value for '--gap'"),
        ("ranges --most nan", "Invalid value for '--most'"),
        ("ranges --most inf", "most inf must be between 1 and 1e+08"),
        ("ranges --most 1e9", "most 1e+09 must be between 1 and 1e+08"),
        ("worst-cases --only mcsf", "--only 'mcsf' is unknown; did you mean mc-sf?"),
        ("worst-cases --instances nowhere", "--instances nowhere: has no instance"),
    ],
)
def test_every_mistake_gets_one_line_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str, message: str
) -> None:
    write_instance(Instance("odd", 9, [0, 1], [1, 2], [2, 1]), folder / "odd.json")
    before = set(folder.iterdir())
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("command", "line", "message"),
    [
        ("ranges", "3,1.3,nan,1.4", "upper 'nan' must be a number of at least 1"),
        ("ranges", "3,,1.4,1.4", "lower '' must be a number of at least 1"),
        ("ranges", "3,1.5,1.4,1.4", "lower 1.5 must not be above upper 1.4"),
        ("ranges", "3,1.3,1.4", "has 3 values, the header 4"),
        ("games", "2,1,5,1,4,79,10/0,,", "deterministic '10/0' must be a fraction"),
        ("games", "2,1,5,1,nan,79,10/7,,", "upper 'nan' must be an integer"),
        ("games", "2,1,5,6,4,79,10/7,,", "lower 6 must be between 1 and upper, 4"),
        ("games", "2,1,5,1,4,79,10/7,5/4,one", "randomised_most 'one' must be a fraction"),
    ],
)
def test_a_table_that_is_damaged_is_neither_taken_nor_replaced(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str, line: str, message: str
) -> None:
    head = (RESULTS / f"{command}.csv").read_text().splitlines()[0]
    table = folder / "table.csv"
    table.write_text(f"{head}\n{line}\n")
    code, out, err = run(capsys, f"{command} --page table.md")
    assert (code, out) == (2, "")
    assert err.startswith("ratiolab: table.csv: line 2: ")
    assert message in err
    assert table.read_text() == f"{head}\n{line}\n"
    assert not (folder / "table.md").exists()


def test_a_worst_case_that_its_adversary_may_not_choose_is_refused(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    worst = folder / "worst"
    worst.mkdir()
    write_instance(Instance("late", 9, [0, 1], [1, 1], [2, 1]), worst / "mc-sf.json")
    code, out, err = run(capsys, "worst-cases --instances worst --page page.md")
    assert (code, out) == (2, "")
    assert "mc-sf.json: all requests must arrive at round 0" in err
    assert not (folder / "page.md").exists()
