"""The plugin, in a pytest of its own."""

import json
import os
import subprocess
import sys

from processes import PATIENCE

from ratiolab.model import Instance, write_instance

TEST = """
from ratiolab.model import read_instance
from ratiolab.online import make

def test_good(ratio_at_most):
    ratio_at_most(make("mc-sf"), [read_instance("ec1.json")], 1)

def test_bad(ratio_at_most):
    ratio_at_most(make("a-max"), [read_instance("ec1.json")], 1)
"""


def test_baselines_become_tests_and_the_fixture_holds_policies_to_a_ratio(tmp_path):
    write_instance(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), tmp_path / "ec1.json")
    entries = [
        {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4, "value": "7/6"},
        {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 3, "value": "7/6"},
        {"kind": "odd"},
    ]
    baseline = tmp_path / "baseline.json"
    (tmp_path / "test_mine.py").write_text(TEST)
    options = ["-p", "no:cacheprovider", f"--ratiolab-baseline={baseline}", "-v"]
    entries_text = json.dumps({"format": "ratiolab-baseline/1", "entries": entries}, indent=0)
    baseline.write_text(entries_text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | {"GITHUB_ACTIONS": "true"},
    )
    marks = [line for line in done.stdout.splitlines() if line.startswith("::error file=")]
    assert len(marks) == 2
    assert f",line={entries_text.count(chr(10), 0, entries_text.index('odd'))}," in marks[1]
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 failed, 2 passed" in done.stdout
    assert "was 7/6, is" in done.stdout
    assert "exceeds 1" in done.stdout


def test_a_malformed_baseline_is_told_in_one_line(tmp_path):
    baseline = tmp_path / "baseline.json"
    baseline.write_text('{"format": "ratiolab-baseline/1", "entries": []}')
    command = [sys.executable, "-m", "pytest", "-q", f"--ratiolab-baseline={baseline}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 4
    assert "INTERNALERROR" not in done.stdout + done.stderr
    (line,) = filter(None, done.stderr.splitlines())
    assert line.startswith(f"ERROR: {baseline}: entries [] must have at least 1 item")
