"""What commands write, and an answer that outlives a file that cannot be written."""

from pathlib import Path

import highspy
import pytest
import typer
from command_line import EC1, ended_with, run
from typer.testing import CliRunner

from ratiolab.cli.commands import GROUPS, LAB, app
from ratiolab.model import Instance, write_instance


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("solve ec1.json --certificate {}", "optimum 12"),
        ("solve ec1.json --schedule {}", "optimum 12"),
        ("solve ec1.json --json --schedule {}", '"upper": 12'),
        ("compare ec1.json --policies fcfs --json --plot {}.png", '"instance": "EC.1"'),
        ("attack --policy fcfs --requests 4 --memory 6 --evaluations 3 -o {}", "over the optimum"),
        (
            "attack --policy fcfs --requests 4 --memory 6 --evaluations 3 --certificate {}",
            "over the optimum",
        ),
        ("game --kind deterministic --certificate {}", "4/3"),
        ("claims chen2025/example-1 --page {}", "chen2025/example-1"),
    ],
)
def test_the_answer_is_printed_when_its_file_cannot_be_written(
    words: str,
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_instance(EC1, tmp_path / "ec1.json")
    (tmp_path / "file").write_text("no folder")
    code, out, err = run(capsys, *words.format("file/x").split())
    assert code == 2
    assert answer in out
    assert "file/x: proves" not in out
    assert err.splitlines()[-1].startswith("ratiolab: file/x")
    assert (tmp_path / "file").read_text() == "no folder"


@pytest.fixture
def four(tmp_path):
    write_instance(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), tmp_path / "i.json")
    return tmp_path / "i.json"


@pytest.mark.parametrize("printed", [[], ["--as-printed"]], ids=["short", "printed"])
def test_another_solver_finds_the_same_optimum(four, tmp_path, printed):
    files = {"--lp": tmp_path / "p.lp", "--mps": tmp_path / "p.mps"}
    words = [word for pair in files.items() for word in pair]
    assert ended_with("export", four, *printed, *words) == 0
    for file in files.values():
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(file))
        solver.run()
        assert solver.getObjectiveValue() == pytest.approx(12)


def test_another_solver_finds_the_optimum_of_a_fleet(tmp_path):
    instance = Instance("five", 9, [0] * 5, [5] * 5, [2, 3, 1, 4, 2])  # one at a time each
    write_instance(instance, tmp_path / "i.json")
    for number, optimum in ((2, 18), (3, 15)):
        file = tmp_path / "p.lp"
        asked = "--replicas", number, "--lp", file
        assert ended_with("export", tmp_path / "i.json", *asked) == 0
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(file))
        solver.run()
        assert solver.getObjectiveValue() == pytest.approx(optimum)


def test_a_program_too_large_and_a_missing_option_are_refused(tmp_path, capsys):
    write_instance(Instance("long", 10**6, [0] * 9, [1] * 9, [10**5] * 9), tmp_path / "i.json")
    assert ended_with("export", tmp_path / "i.json", "--as-printed", "--lp", tmp_path / "p.lp") == 2
    assert "binaries, more than 1000000; leave out --as-printed" in capsys.readouterr().err
    write_instance(Instance("high", 10**8, [0] * 9, [1] * 9, [10**7] * 9), tmp_path / "h.json")
    assert ended_with("export", tmp_path / "h.json", "--lp", tmp_path / "p.lp") == 2
    assert "more than 20000000; take fewer requests" in capsys.readouterr().err
    assert ended_with("export", tmp_path / "i.json") == 2
    assert not (tmp_path / "p.lp").exists()


def test_solve_draws_its_schedule(four, tmp_path):
    assert ended_with("solve", four, "--plot", tmp_path / "best.svg") == 0
    assert (tmp_path / "best.svg").read_bytes().startswith(b"<?xml")
    assert ended_with("solve", four, "--plot", tmp_path / "best.docx") == 2


ROOT = typer.main.get_command(app)


def test_the_help_shows_each_command_once_under_its_heading():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).output
    commands = ROOT.commands
    visible = {name for name, command in commands.items() if not command.hidden}
    assert visible == {name for names in GROUPS.values() for name in names}
    assert [shown.index(f" {heading} ") for heading in GROUPS] == sorted(
        shown.index(f" {heading} ") for heading in GROUPS
    )


def test_a_rarely_used_command_keeps_its_old_name_as_an_alias():
    lab = ROOT.commands["lab"].commands
    assert set(lab) == set(LAB)
    arguments = ["rayleigh", "--upper", "2", "--json"]
    runs = [CliRunner().invoke(app, [*place, *arguments]) for place in ([], ["lab"])]
    assert [run.exit_code for run in runs] == [0, 0]
    assert '"rho"' in runs[0].output
    assert runs[0].output.partition('"seconds"')[0] == runs[1].output.partition('"seconds"')[0]
