"""The action for GitHub: its steps are run as the runner would run them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE

from ratiolab.model import Instance, write_instance

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="steps of bash")

PYTHON = """#!/bin/sh
if [ "$2" = pip ]; then for word; do echo "<$word>"; done >> "$PIP_LOG"; exit 0; fi
exec {python} "$@"
"""


def steps(inputs: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the shell steps of the action with some inputs; the first that fails ends them."""
    (folder / "bin").mkdir(exist_ok=True)
    python = folder / "bin" / "python"
    python.write_text(PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    values = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
    values |= inputs
    known = {f"inputs.{name}": value for name, value in values.items()}
    known["github.action_path"] = "/the action"
    env = os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PIP_LOG": str(folder / "pip.txt"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    done = None
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        assert "${{" not in step["run"]  # what users write reaches the shell as a variable alone
        filled = {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], text)
            for name, text in step["env"].items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=env | filled,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            break
    assert done is not None
    return done


def baseline(folder: Path, name: str, *entries: dict[str, Any]) -> str:
    data = {"format": "ratiolab-baseline/1", "entries": list(entries)}
    (folder / name).write_text(json.dumps(data, indent=0))
    return name


BOUND = {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4}
HOLDS, DRIFTS = BOUND | {"value": "7/6"}, BOUND | {"value": "1"}


@pytest.mark.long
def test_the_action_marks_every_entry_that_fails_and_judges_all_files(tmp_path):
    write_instance(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), tmp_path / "ec1.json")
    gone = {"kind": "ratio", "instance": "none.json", "policy": "fcfs", "value": 1}
    first = baseline(tmp_path, "my pins.json", DRIFTS, {"kind": "odd"}, gone, HOLDS)
    second = baseline(tmp_path, "b.json", HOLDS)
    done = steps({"baseline": f"{first}\n{second}\n"}, tmp_path)
    assert done.returncode == 1, done.stderr
    assert "4 entries, 1 drifted, 2 failed" in done.stdout
    assert "1 entries, 0 drifted, 0 failed" in done.stdout
    marks = [line for line in done.stderr.splitlines() if line.startswith("::error ")]
    assert len(marks) == 3
    assert "file=my pins.json,line=4,title=ratiolab check::bound" in marks[0]
    assert "entry 1: cannot be read: kind 'odd' must be one of" in marks[1]
    summary = (tmp_path / "summary.md").read_text()
    assert summary.count("### ratiolab check") == 2
    assert (tmp_path / "pip.txt").read_text().split("\n")[:5] == [
        *("<-m>", "<pip>", "<install>", "<--quiet>", "</the action>"),
    ]


@pytest.mark.long
def test_what_holds_is_no_failure_and_inputs_reach_pip(tmp_path):
    only = baseline(tmp_path, "b.json", HOLDS)
    asked = {"baseline": only, "install": "ratiolab==1.0", "extra-install": "-e ."}
    asked["allow-policy-files"] = "true"
    done = steps(asked, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "::error" not in done.stderr
    assert "<ratiolab==1.0>\n<-e>\n<.>" in (tmp_path / "pip.txt").read_text()


def test_every_input_is_described_and_used():
    text = (ROOT / "action.yml").read_text()
    for name, about in ACTION["inputs"].items():
        assert about["description"].endswith((".", ").")), name
        assert f"inputs.{name}" in text
