"""The wheel holds what commands need: they work from a folder that is no checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from processes import PATIENCE

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package as its wheel has it, and nothing else of the project."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["-q", "--no-deps", "-w", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if built.returncode:
        pytest.skip(f"no wheel can be built here: {built.stderr.splitlines()[-1:]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the wheel, far from the checkout; only the libraries are shared."""
    program = (
        "import sys, ratiolab\n"
        f"assert ratiolab.__file__.startswith({str(installed)!r}), ratiolab.__file__\n"
        "from ratiolab.cli import main\n"
        "main(sys.argv[1:])"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RATIOLAB")}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=folder,
        env=environment | {"PYTHONPATH": str(installed)},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["records", "verify", "--only", "*0010*"],
        ["claims", "chen2025/theorem-7", "chen2025/equation-ec7"],
        ["claims", "--recheck", "chen2025/equation-ec7"],
        ["reproduce", "shahout2025-rounds", "--quick", "--workers", "1"],
        ["study"],
        ["policies"],
        ["schema", "baseline"],
    ],
    ids=" ".join,
)
def test_commands_work_outside_the_checkout(installed, tmp_path, command):
    done = run(installed, tmp_path, *command)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_projects_own_baseline_is_judged(installed, tmp_path):
    data = installed / "ratiolab" / "data" / "results" / "baseline.json"
    entries = json.loads(data.read_text())["entries"]
    short = [e for e in entries if e["kind"] in ("bound", "rayleigh")][:3]
    short += [e for e in entries if e["kind"] == "ratio"][:2]
    short += [e for e in entries if e["kind"] == "verdict"][:1]
    data.write_text(json.dumps({"format": "ratiolab-baseline/1", "entries": short}))
    done = run(installed, tmp_path, "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(short)} entries, 0 drifted, 0 failed" in done.stdout
