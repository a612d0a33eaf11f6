"""The commands of the record library, and Ctrl-C in them."""

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
from command_line import run
from processes import PATIENCE
from recorded import EASY, NAME, hard, with_text

from ratiolab.model import write_instance
from ratiolab.records.library import recipes
from ratiolab.records.store import RecordStore, faults

SAYING_WHEN_A_SOLVE_RUNS = """
import multiprocessing
from ratiolab.cli import main
from ratiolab.records import improve

genuine = improve.solve

def solve(instance, **options):
    told = []
    def say(now):
        if not told:
            told.append(print("running\\n", end="", flush=True))  # in one piece
    return genuine(instance, progress=say, **options)

improve.solve = solve
multiprocessing.set_start_method("fork")  # workers solve by this function, too
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a process")
def test_sigint_ends_two_workers_and_keeps_their_tries(tmp_path, start):
    store = RecordStore(tmp_path / "instances", tmp_path / "results")
    for n in (40, 41, 42):
        write_instance(hard(n), store.instances / "families" / f"hard-{n}.json")
    folders = ["--instances", str(store.instances), "--results", str(store.results)]
    words = ["records", "improve", "--minutes", "5", "--workers", "2", "--json", *folders]
    command = [sys.executable, "-c", SAYING_WHEN_A_SOLVE_RUNS, *words]
    process = start(command, stdout=PIPE, stderr=PIPE)
    assert {process.stderr.readline() for _ in range(2)} == {b"running\n"}
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"what was better is kept in {store.results}\nratiolab: interrupted\n" in err.decode()
    assert json.loads(out)["tried"] == 2
    for record in store.records().values():
        assert faults(store, record) == []


def test_the_commands_tell_and_judge(store, capsys, monkeypatch):
    folders = ("--instances", store.instances, "--results", store.results)
    short = ("records", "improve", "--minutes", "0.05")
    code, out, err = run(capsys, *short, "--only", NAME, *folders)
    assert (code, out) == (0, "1 of 1 tries were better\n")
    assert err.startswith(f"{NAME}: [")
    code, out, _ = run(capsys, "records", "verify", *folders)
    assert (code, out.splitlines()[0]) == (0, "1 of 1 records prove what they say")
    code, out, _ = run(capsys, "records", "page", "--results", store.results, "--json")
    assert code == 0
    assert [Path(path).name for path in json.loads(out)["written"]] == ["records.md", "records.png"]
    assert "| easy |" in (store.results / "records.md").read_text().replace(
        f"[easy](../instances/{NAME}.json)", "easy"
    )
    (record,) = store.records().values()
    beyond = replace(record, proved=record.upper, proved_by="HiGHS", lower=record.lower - 1)
    monkeypatch.setattr("ratiolab.records.store.faults", lambda *_: [])
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "records", lambda _: {NAME: beyond})
        code, out, _ = run(capsys, "records", "verify", "--json", *folders)
    assert (code, json.loads(out)["uncertified"]) == (0, [NAME])
    monkeypatch.setattr("ratiolab.records.store.faults", faults)
    with_text(store.results / record.schedule, '"start": [0', '"start": [7')
    code, out, _ = run(capsys, "records", "verify", "--json", *folders)
    assert code == 1
    assert list(json.loads(out)["faults"]) == [NAME]
    code, _, err = run(capsys, *short, "--only", "nothing", *folders)
    assert (code, err.startswith("ratiolab: --only 'nothing': no instance in ")) == (2, True)


def test_generate_writes_what_is_missing_and_refuses_what_differs(tmp_path, capsys, monkeypatch):
    few = list(recipes())[:2]
    monkeypatch.setattr("ratiolab.records.library.recipes", lambda: iter(few))
    code, out, _ = run(capsys, "records", "generate", "--instances", tmp_path, "--json")
    assert (code, len(json.loads(out)["written"])) == (0, 2)
    code, out, _ = run(capsys, "records", "generate", "--instances", tmp_path)
    assert out.endswith("0 instances written, 2 were there\n")
    write_instance(EASY, tmp_path / f"{few[0].name}.json")
    code, _, err = run(capsys, "records", "generate", "--instances", tmp_path)
    assert code == 2
    assert "is not what 'ratiolab generate" in err
