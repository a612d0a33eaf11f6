"""What leaves the laboratory for other programs: integer programs, and pictures of schedules."""

from pathlib import Path

import highspy
import pytest
from command_line import ended_with

from ratiolab.model import Instance, write_instance


@pytest.fixture
def four(tmp_path: Path) -> Path:
    write_instance(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), tmp_path / "i.json")
    return tmp_path / "i.json"


@pytest.mark.parametrize("printed", [[], ["--as-printed"]], ids=["short", "printed"])
def test_another_solver_finds_the_same_optimum(
    four: Path, tmp_path: Path, printed: list[str]
) -> None:
    files = {"--lp": tmp_path / "p.lp", "--mps": tmp_path / "p.mps"}
    words = [word for pair in files.items() for word in pair]
    assert ended_with("export", four, *printed, *words) == 0
    for file in files.values():
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(file))
        solver.run()
        assert solver.getObjectiveValue() == pytest.approx(12)


def test_another_solver_finds_the_optimum_of_a_fleet(tmp_path: Path) -> None:
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


def test_a_program_too_large_and_a_missing_option_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_instance(Instance("long", 10**6, [0] * 9, [1] * 9, [10**5] * 9), tmp_path / "i.json")
    assert ended_with("export", tmp_path / "i.json", "--as-printed", "--lp", tmp_path / "p.lp") == 2
    assert "binaries, more than 1000000" in capsys.readouterr().err
    assert ended_with("export", tmp_path / "i.json") == 2
    assert not (tmp_path / "p.lp").exists()


def test_solve_draws_its_schedule(four: Path, tmp_path: Path) -> None:
    assert ended_with("solve", four, "--plot", tmp_path / "best.svg") == 0
    assert (tmp_path / "best.svg").read_bytes().startswith(b"<?xml")
    assert ended_with("solve", four, "--plot", tmp_path / "best.docx") == 2
