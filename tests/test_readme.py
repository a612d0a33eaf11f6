"""README promises only what is there."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ratiolab
from ratiolab import Fleet, Instance
from ratiolab.online import POLICIES
from ratiolab.records.record import read_records

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_python_example_runs(capsys):
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    exec(compile(example, "README.md", "exec"), {})
    lower, upper, ratio = capsys.readouterr().out.split()
    assert int(lower) == int(upper)
    assert float(ratio) >= 1


TWO = Instance("two", 9, [0, 0], [1, 1], [2, 3], weight=[1, 2])
PAIR = Fleet(TWO, 2)
DRAWN: list[Callable[[], Any]] = [
    lambda: ratiolab.compare(TWO, ["fcfs"]),
    lambda: ratiolab.evaluate(TWO, ["fcfs"]),
    lambda: ratiolab.evaluate_fleet(PAIR, ["fcfs"], ["round-robin"]),
    lambda: ratiolab.simulate(TWO, "fcfs"),
    lambda: ratiolab.simulate_fleet(PAIR, "fcfs"),
    lambda: ratiolab.solve(TWO),
    lambda: ratiolab.solve_fleet(PAIR),
    lambda: ratiolab.solve_promises(TWO, "weighted"),
    lambda: ratiolab.solve_promises(PAIR, "weighted"),
]
TABLES: list[Callable[[], Any]] = [
    lambda: ratiolab.attack("a-min", evaluations=3, runs=2),
    lambda: ratiolab.bound("chen2025/theorem-7", 1, 4),
    lambda: ratiolab.deterministic_value(ratiolab.Game(2, 1, 5, 1, 4)),
]


@pytest.mark.parametrize("made", [*DRAWN, *TABLES])
def test_results_have_the_methods_that_it_names(made):
    result = made()
    assert len(result.to_frame())
    assert result.to_dict()
    assert "<table" in result._repr_html_()
    if made in DRAWN:
        assert result.plot().axes


def test_policies_and_records_are_as_many_as_it_says():
    records = read_records(ROOT / "results/records.csv")
    assert f"simulates {len(POLICIES)} policies" in README
    assert f"each of {len(records)} instances" in " ".join(README.split())


def test_every_command_of_the_table_exists():
    import typer

    from ratiolab.cli.commands import app

    named = set(re.findall(r"^\| [\w ]*\| `ratiolab ([a-z-]+)", README, re.MULTILINE))
    commands = typer.main.get_command(app).commands
    assert named == {name for name, command in commands.items() if not command.hidden}


def test_the_quick_start_is_two_commands_of_one_line_each():
    for mark, last in ("run", "ratiolab compare "), ("test", "python -m pytest "):
        (command,) = re.findall(rf"<!-- {mark} -->\n```sh\n(.+)\n```\n", README)
        assert command.startswith("python3 -m venv .venv && ")
        assert f"&& .venv/bin/{last}" in command


def test_a_fence_stands_on_a_line_of_its_own():
    fences = [line for line in README.splitlines() if "```" in line]
    assert [line for line in fences if not re.fullmatch(r" *```[a-z]*", line)] == []
