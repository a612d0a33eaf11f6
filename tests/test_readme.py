"""README promises only what is there."""

import re
from pathlib import Path

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
