"""Baselines: what they may run, and that they pin something."""

import json
from pathlib import Path
from typing import Any

import pytest

from ratiolab.baseline import read_baseline
from ratiolab.cli import main
from ratiolab.model import FormatError, Instance, write_instance

POLICY = """
from pathlib import Path
from ratiolab.online.policies.sorted_f import SortedF
Path(__file__).with_name("was-run").touch()
class Mine(SortedF):
    name = "mine"
"""


def write(folder: Path, entries: list[dict[str, Any]]) -> Path:
    write_instance(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), folder / "ec1.json")
    path = folder / "baseline.json"
    path.write_text(json.dumps({"format": "ratiolab-baseline/1", "entries": entries}))
    return path


def run(*arguments: object) -> Any:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def pinned(policy: str) -> dict[str, Any]:
    return {"kind": "ratio", "instance": "ec1.json", "policy": policy}


def test_a_policy_file_is_run_only_when_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    baseline = write(tmp_path, [pinned("policy.py:Mine")])
    assert run("check", baseline, "--update") == 2
    assert "allow it with --allow-policy-files" in capsys.readouterr().err
    assert not (tmp_path / "was-run").exists()
    assert run("check", baseline, "--update", "--allow-policy-files") == 0
    assert (tmp_path / "was-run").exists()


@pytest.mark.parametrize("place", ["{folder}/policy.py:Mine", "../policy.py:Mine"])
def test_a_policy_file_stands_below_the_baseline(place: str, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    folder = tmp_path / "below"
    folder.mkdir()
    (entry,) = read_baseline(write(folder, [pinned(place.format(folder=tmp_path))]))
    with pytest.raises(ValueError, match="must be below the folder of the baseline"):
        entry.compute(folder, allow_policy_files=True)
    assert not (tmp_path / "was-run").exists()


def test_a_baseline_without_entries_is_none(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="entries"):
        read_baseline(write(tmp_path, []))


def test_a_tolerance_is_relative_also_for_small_values(tmp_path: Path) -> None:
    (entry,) = read_baseline(
        write(tmp_path, [{"kind": "rayleigh", "upper": 2, "value": 1e-12, "tolerance": 0.01}])
    )
    assert entry.drift(2e-12) is not None
    assert entry.drift(1.001e-12) is None
