"""The help shows every command under a heading; rarely used ones stand below `lab`."""

import typer
from typer.testing import CliRunner

from ratiolab.cli.commands import GROUPS, LAB, app

ROOT = typer.main.get_command(app)


def test_the_help_shows_each_command_once_under_its_heading() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).output
    commands = ROOT.commands  # type: ignore[attr-defined]
    visible = {name for name, command in commands.items() if not command.hidden}
    assert visible == {name for names in GROUPS.values() for name in names}
    assert [shown.index(f" {heading} ") for heading in GROUPS] == sorted(
        shown.index(f" {heading} ") for heading in GROUPS
    )


def test_a_rarely_used_command_keeps_its_old_name_as_an_alias() -> None:
    lab = ROOT.commands["lab"].commands  # type: ignore[attr-defined]
    assert set(lab) == set(LAB)
    arguments = ["rayleigh", "--upper", "2", "--json"]
    runs = [CliRunner().invoke(app, [*place, *arguments]) for place in ([], ["lab"])]
    assert [run.exit_code for run in runs] == [0, 0]
    assert '"rho"' in runs[0].output
    assert runs[0].output.partition('"seconds"')[0] == runs[1].output.partition('"seconds"')[0]
