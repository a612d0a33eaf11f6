"""A file that cannot be written does not cost the answer, and no line says that it was written."""

from pathlib import Path

import pytest
from command_line import EC1, run

from ratiolab.model import write_instance


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("solve ec1.json --certificate {}", "optimum 12"),
        ("solve ec1.json --schedule {}", "optimum 12"),
        ("solve ec1.json --json --schedule {}", '"upper": 12'),
        ("compare ec1.json --policies fcfs --plot {}.png", "optimum 12"),
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
