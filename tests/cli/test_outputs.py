"""No file that a command writes destroys an input, or another file of the same command."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest
import typer
from command_line import COMMAND, run
from processes import PATIENCE

from ratiolab.cli.commands import app
from ratiolab.cli.outputs import files_of, require_apart

READ = {
    *("file", "certificate", "baseline"),  # arguments
    *("start", "check", "path", "traces", "instances", "results"),
}
"""Parameters of files and folders that are read, or kept up to date on purpose."""

FOLDERS = {"out"}
"""Parameters of folders for results; the commands check these themselves."""

ROOT = typer.main.get_command(app)


def commands(group: Any = ROOT) -> Iterator[Any]:
    for command in group.commands.values():
        yield from commands(command) if hasattr(command, "commands") else [command]


def test_every_option_of_a_path_is_read_or_checked_before_it_is_written():
    not_written = {
        name
        for command in commands()
        for name, writes in files_of(command.callback).items()
        if not writes
    }
    assert not_written == READ | FOLDERS


@pytest.mark.parametrize(
    "words",
    [
        "solve ec1.json --schedule ec1.json",
        "solve ec1.json --certificate ./ec1.json",
        "solve ec1.json --certificate link.json",
        "solve link.json --schedule nowhere/../ec1.json",
        "evaluate trace.csv --clock unit --memory 99 --certificate trace.csv",
        "evaluate ec1.json --clock profile.csv --certificate profile.csv",
        "trace trace.csv --memory 99 -o trace.csv",
        "trace trace.csv --memory 99 -o hard.csv",
        "lab export ec1.json --lp ec1.json",
        "export ec1.json --mps ec1.json",
        "attack --policy fcfs --start ec1.json --evaluations 3 -o ec1.json",
        "attack --policy own.py:Own --evaluations 3 -o own.py",
        "game --check ec1.json --certificate ec1.json",
        "compare ec1.png --memory 9 --plot ec1.png",
        "compare ec1.png --memory 9 --plot ec1.svg --format png,pdf",
        "compare ec1.json --policies own.py:Own --clock unit --report own.py",
        "worst-cases --instances . --page ec1.json",
        "study profile.toml --traces . --out .",
        "study ec1.toml --traces . --out .",
    ],
)
def test_a_file_that_is_read_is_not_overwritten(capsys, folder, words):
    (folder / "link.json").symlink_to("ec1.json")
    (folder / "nowhere").mkdir()
    os.link(folder / "trace.csv", folder / "hard.csv")
    (folder / "ec1.png").write_text("arrival,prompt,output\n0,1,3\n")
    (folder / "own.py").write_text("class Own: pass\n")
    (folder / "profile.csv").write_text(
        "prefill_tokens,decoding_requests,kv_tokens,seconds\n"
        "0,1,9,1\n9,1,9,2\n9,9,9,3\n9,9,99,4\n0,0,0,0.1\n"
    )
    for name in ("profile", "ec1"):
        (folder / f"{name}.toml").write_text(
            f'[study]\nname = "{name}"\nclock = ["profile.csv"]\ntick_seconds = 1.0\n'
            '[[workload]]\ninstance = "ec1.json"\n[[policy]]\nkey = "fcfs"\n'
        )
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert "would overwrite an input of the command; choose another name" in err
    assert len(err.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


ONE_FILE = "are one file; choose two names"
DASH = "-: a file must be named; /dev/stdout is standard output"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("solve ec1.json --schedule a --certificate a", ONE_FILE),
        ("solve ec1.json --schedule w/a --certificate ./w/../w/a", ONE_FILE),
        ("evaluate trace.csv --clock unit --memory 99 --report r --certificate r", ONE_FILE),
        ("attack --policy fcfs --evaluations 3 -o a --certificate a", ONE_FILE),
        ("attack --policy fcfs --evaluations 3 --plot a.png --course a.png", ONE_FILE),
        ("lab export ec1.json --lp a --mps a", ONE_FILE),
        ("solve ec1.json --certificate a.png --plot a.svg --format png", ONE_FILE),
        ("compare ec1.json --plot a.pdf --report a.pdf", ONE_FILE),
        ("games --page a.csv", ONE_FILE),
        ("ranges --page a.png", ONE_FILE),
        ("generate uniform -o -", DASH),
        ("solve ec1.json --schedule -", DASH),
        ("attack --policy fcfs --evaluations 3 --certificate -", DASH),
        ("lab export ec1.json --lp -", DASH),
        ("claims chen2025/example-1 --page -", DASH),
    ],
)
def test_outputs_are_files_with_names_of_their_own(capsys, folder, words, message):
    before = set(folder.iterdir())
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert set(folder.iterdir()) == before


@pytest.mark.skipif(os.name == "nt", reason="the null device of POSIX")
def test_the_null_device_takes_several_outputs():
    require_apart({"--schedule": Path(os.devnull), "--certificate": Path(os.devnull)})


@pytest.mark.skipif(os.name == "nt", reason="streams of POSIX")
def test_a_log_on_standard_input_is_not_overwritten(folder, start):
    before = (folder / "trace.csv").read_bytes()
    command = [*COMMAND, *["trace", "-", "--memory", "99", "-o", "trace.csv"]]
    with (folder / "trace.csv").open("rb") as log:
        process = start(command, stdin=log, stdout=PIPE, stderr=PIPE)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"would overwrite an input" in err
    assert (folder / "trace.csv").read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="streams of POSIX")
def test_standard_output_takes_a_file_beside_the_answer(folder, start):
    command = [*COMMAND, *["generate", "uniform", "-o", "/dev/stdout"]]
    with (folder / "both").open("wb") as both:
        process = start(command, stdin=DEVNULL, stdout=both, stderr=sys.stderr.fileno())
        assert process.wait(PATIENCE) == 0
    text = (folder / "both").read_text()
    assert text.startswith('{\n  "format": "ratiolab-instance/1"')
    assert text.splitlines()[-1].startswith("/dev/stdout: ")


def test_a_baseline_is_updated_in_place_and_an_older_output_replaced(capsys, folder):
    added = "baseline add b.json ratio instance=ec1.json policy=fcfs"
    assert run(capsys, added)[0] == 0
    assert run(capsys, "check b.json --update")[0] == 0
    assert run(capsys, "generate uniform --set n=2 -o b.json")[0] == 0
