"""Studies that are killed at random moments and go on: not a byte differs in the end."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import PATIENCE

import ratiolab
from ratiolab.studies import read_study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

STUDY = """
[study]
name = "long"
seeds = {seeds}
[[workload]]
kind = "chen-rough"
n = [30, 60]
memory = 3000
[[policy]]
key = "slow.py:Slow"
lengths = ["true", "upper"]
"""

# No study is over before it is killed: a run waits where too many have begun for this time.
SLOW = """
import time
from pathlib import Path
from ratiolab.online.policies.svf import SVF

class Slow(SVF):
    def start(self, setting, rng):
        time.sleep(0.02)
        folder = Path({folder!r})
        while len(list(folder.glob("killed/cells/*.json"))) > int((folder / "most").read_text()):
            time.sleep(0.01)
        return super().start(setting, rng)
"""

AHEAD = 3
"""Cells that a study may finish beyond the number at which it is killed, and as many workers."""

Start = Callable[..., "subprocess.Popen[bytes]"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")


@pytest.mark.long
def test_a_study_killed_at_random_moments_ends_as_if_undisturbed(tmp_path, start):
    kills, seeds = 3, 20
    path, out = tmp_path / "long.toml", tmp_path / "killed"
    path.write_text(STUDY.format(seeds=seeds))
    (tmp_path / "slow.py").write_text(SLOW.format(folder=str(tmp_path)))
    command = [sys.executable, "-m", "ratiolab", "study", str(path), "--out", str(out)]
    command += ["--workers", "2"]
    study, store = read_study(path), Store(out)
    rng = random.Random(kills)
    written: dict[str, int] = {}  # when each finished cell was written: it never is again
    for number in range(kills):
        goal = len(written) + rng.randint(1, len(study.cells) // (kills + 1) - 2 * AHEAD)
        (tmp_path / "most").write_text(str(goal + AHEAD))
        process = run_in(tmp_path, command, start)
        while len(list((out / "cells").glob("*.json"))) < goal and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random() / 10)  # and at any point of the work on a cell
        assert process.poll() is None, (tmp_path / "errors.txt").read_text()
        process.send_signal(signal.SIGKILL if number % 2 else signal.SIGINT)
        process.communicate(timeout=PATIENCE)  # its workers notice it and end, too
        now = {p.name: p.stat().st_mtime_ns for p in (out / "cells").glob("*.json")}
        assert {name: now[name] for name in written} == written
        written = now
        assert len(study.cells) - len(store.missing(study)) == len(written)  # all of them whole
    (tmp_path / "most").write_text(str(len(study.cells)))
    process = run_in(tmp_path, command, start)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (tmp_path / "errors.txt").read_text()
    undisturbed = Store(tmp_path / "undisturbed")
    run_study(study, undisturbed, workers=1)
    for ending in ("csv", "json", "parquet"):
        name = f"long.{ending}"
        assert (out / name).read_bytes() == (undisturbed.folder / name).read_bytes()


def run_in(folder: Path, command: list[str], start: Start) -> "subprocess.Popen[bytes]":
    """Start the study; its output ends when it and all its workers have ended."""
    root = str(Path(ratiolab.__file__).parent.parent)
    with (folder / "errors.txt").open("w") as errors:
        return start(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": root},
        )
