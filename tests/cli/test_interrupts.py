"""Ctrl-C at any moment: one line, an exit code of its own, and nothing half-written."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest
from command_line import TRACE, run
from processes import PATIENCE, interrupted_after, tell_when_a_worker_has_made

import ratiolab.cli.policies
import ratiolab.online
import ratiolab.papers
from ratiolab.model import Instance, Schedule, read_instance, violations, write_instance


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="process groups")
@pytest.mark.parametrize("calls", [0, 100_000], ids=["before workers start", "while they import"])
def test_ctrl_c_in_a_terminal_reaches_workers_that_still_start(folder, calls, start):
    (folder / "many.toml").write_text(
        '[study]\nname = "many"\ntasks = "simulate"\nseeds = 9999\n'
        '[[workload]]\nkind = "uniform"\nn = 5000\n[[policy]]\nkey = "a-min"\n'
    )
    code = (
        "from ratiolab.executors import Local; saved = Local._in_pool\n"
        "def told(*each):\n    print('ready', flush=True)\n    yield from saved(*each)\n"
        "Local._in_pool = told\n"
        "from ratiolab.cli import main; main()"
    )
    words = "study many.toml --workers 2 --out many"
    command = [sys.executable, "-c", code, *words.split()]
    told = tell_when_a_worker_has_made(calls, folder)
    paths = os.pathsep.join([str(folder), *sys.path])
    process = start(command, stdout=PIPE, stderr=PIPE, env=os.environ | {"PYTHONPATH": paths})
    assert process.stdout.readline() == b"ready\n"
    while calls and not told.exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    kept = "what is finished is kept in many; run again to go on\nratiolab: interrupted\n"
    assert (process.returncode, err.decode()) == (130, kept)


@pytest.mark.parametrize(
    "calls",
    [500_000, pytest.param(3_000_000, marks=pytest.mark.long)],
    ids=["while it is imported", "while it works"],
)
@pytest.mark.parametrize(
    "words",
    [
        "compare big.json --plot out.png",
        "simulate big.json --policy a-min --runs 100000",
        "trace long.csv --memory 200 -o out.json",
        "generate uniform --set n=900000 --set rate=1 -o out.json",
    ],
)
def test_ctrl_c_ends_in_one_line_and_leaves_nothing_half_written(folder, words, calls, start):
    numbers = range(1500)
    big = Instance("big", 400, [i // 9 for i in numbers], [5] * 1500, [1 + i % 90 for i in numbers])
    write_instance(big, folder / "big.json")
    head, *rows = TRACE.splitlines(keepends=True)
    (folder / "long.csv").write_text(head + "".join(rows) * 20_000)
    before = set(folder.iterdir())
    process = start(interrupted_after(calls, words), stdout=PIPE, stderr=PIPE)
    _, err = process.communicate(timeout=PATIENCE)
    told = b"interrupted: optimum "
    solving = b"ratios are to the interval around the optimum found so far"
    running = b"the policies that had run are compared; the others are left out"
    *told_before, last = err.splitlines()
    assert last == b"ratiolab: interrupted"
    assert all(line in (solving, running) or line.startswith(told) for line in told_before)
    assert process.returncode == 130
    for file in set(folder.iterdir()) - before:
        assert file.name in ("out.png", "out.json")
        if file.suffix == ".json":
            read_instance(file)


def test_ctrl_c_leaves_a_baseline_as_it_was(capsys, ec1, tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    instance = Instance("tight", 12, [0, 0, 1, 2], [1, 2, 1, 3], [9, 3, 2, 4])
    write_instance(instance, tmp_path / "tight.json")
    file = tmp_path / "baseline.json"
    entries = [{"kind": "ratio", "instance": "tight.json", "policy": "mc-sf", "value": None}]
    text = json.dumps({"format": "ratiolab-baseline/1", "entries": entries})
    file.write_text(text)
    monkeypatch.setattr("ratiolab.hindsight.stages.improved_schedule", interrupted)
    code, out, err = run(capsys, "check", str(file), "--update")
    assert (code, out, err) == (130, "", f"{file} is as it was\nratiolab: interrupted\n")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("words", "function", "finished", "kept"),
    [
        (
            "simulate ec1.json --policy fcfs --runs 3",
            "ratiolab.online.simulate",
            lambda data: len(data["runs"]) == 2 and data["mean_tel"] == data["runs"][0]["tel"],
            "2 of 3 runs had finished; the others are left out",
        ),
        (
            "simulate ec1.json --policy fcfs --runs 3 --replicas 2",
            "ratiolab.online.fleets.loop.simulate_fleet",
            lambda data: len(data["runs"]) == 2,
            "2 of 3 runs had finished; the others are left out",
        ),
        (
            "claims --paper chen2025 --page verdicts.md",
            "ratiolab.papers.run_claims",
            lambda data: [claim["verdict"] for claim in data["claims"]] == ["false", "holds"],
            "2 of {claims} claims were checked; verdicts.md is as it was",
        ),
        (
            "claims chen2025/a-max-growth-rate --controls",
            "ratiolab.papers.run_controls",
            lambda data: len(data["claims"]) == 1 and data["controls"] == {},
            "1 of 1 claims were checked",
        ),
        (
            "check base.json --update",
            "ratiolab.baseline.judge",
            lambda data: (data["entries"], data["judged"], len(data["drifts"])) == (3, 2, 2),
            "2 of 3 entries were judged; base.json is as it was",
        ),
        (
            "game",
            "ratiolab.game.randomised_value",
            lambda data: data["deterministic"] == "4/3" and "randomised" not in data,
            "the value without randomness is exact; there is none with randomness yet",
        ),
    ],
    ids=["simulate", "replicas", "claims", "controls", "check", "game"],
)
def test_ctrl_c_prints_what_is_finished(
    words, function, finished, kept, capsys, folder, monkeypatch
):
    lines = [{"kind": "rayleigh", "upper": u, "value": 1.0, "tolerance": 0.01} for u in (4, 5, 6)]
    text = json.dumps({"format": "ratiolab-baseline/1", "entries": lines})
    (folder / "base.json").write_text(text)
    calls, (module, name) = [], function.rsplit(".", 1)
    real = getattr(importlib.import_module(module), name)
    finished_calls = 0 if name in ("run_controls", "randomised_value") else 2

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == finished_calls + 1:  # once: what is imported now keeps this function
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(function, interrupted)
    code, out, err = run(capsys, f"{words} --json")
    data = json.loads(out)
    assert (code, data["interrupted"]) == (130, True)
    assert finished(data)
    told = kept.format(claims=len(ratiolab.papers.select("chen2025")))
    assert err == f"{told}\nratiolab: interrupted\n"
    assert (folder / "base.json").read_text() == text


def test_a_second_ctrl_c_at_once_does_not_lose_what_is_finished(
    capsys, folder, monkeypatch, ctrl_c
):
    """A program around a command may forward the signal that the terminal has sent already."""
    calls, real, shown = [], ratiolab.online.simulate, ratiolab.cli.policies.print_json

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    def interrupted_again(*arguments):
        signal.raise_signal(signal.SIGINT)
        shown(*arguments)

    monkeypatch.setattr("ratiolab.online.simulate", interrupted)
    monkeypatch.setattr("ratiolab.cli.policies.print_json", interrupted_again)
    code, out, _ = run(capsys, "simulate ec1.json --policy fcfs --runs 3 --json")
    assert (code, len(json.loads(out)["runs"])) == (130, 1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("command", ["solve", "compare"])
def test_ctrl_c_ends_with_its_own_exit_code_and_the_interval(
    command: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "tight.json"
    write_instance(Instance("tight", 12, [0, 0, 1, 2], [1, 2, 1, 3], [9, 3, 2, 4]), file)
    monkeypatch.setattr("ratiolab.hindsight.stages.improved_schedule", interrupted)
    code, out, err = run(capsys, command, str(file), "--json")
    assert code == 130
    assert json.loads(out)["format"].startswith("ratiolab-")
    assert err.endswith("found so far\nratiolab: interrupted\n")


def test_ctrl_c_keeps_the_best_answer_so_far(capsys, tmp_path, start):
    file = tmp_path / "hard.json"
    assert run(capsys, "generate", "jaillet-model-1", "--seed", "1", "-o", str(file))[0] == 0
    command = [sys.executable, "-m", "ratiolab", "solve", str(file), "--json", "--progress"]
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    before = iter(lambda: json.loads(process.stderr.readline())["stage"], "orders")
    assert set(before) <= {"compiling, once after installation"}
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in err
    assert process.returncode == 130
    data = json.loads(out)
    assert data["status"] == "bounded"
    assert 0 < data["lower"] < data["upper"]
    assert violations(Schedule.from_starts(read_instance(file), data["starts"])) == []
