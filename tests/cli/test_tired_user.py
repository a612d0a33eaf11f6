"""What goes wrong on a bad day: mistakes in options, odd files, files that cannot be written."""

import json
import os
from pathlib import Path
from threading import Timer

import pytest
from command_line import run
from processes import PATIENCE

from ratiolab.model import Instance, read_instance, write_instance

STUDY = """
[study]
name = "mine"
[[workload]]
kind = "uniform"
[[policy]]
key = "a-min"
"""
RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare ec1.json --runs 0", "Invalid value for '--runs'"),
        ("simulate ec1.json", "Missing option '--policy' (see `ratiolab simulate --help`)"),
        ("solve ec1.json --time-limit nan", ": "),  # the parser of options words it
        ("solve ec1.json --node-limit -1", "node_limit -1 must be at least 0"),
        ("compare ec1.json --policies mc-sf,,fcfs", "has an empty place between its commas"),
        ("compare ec1.json --policies fcfs,fcfs", "--policies names 'fcfs' twice"),
        ("compare ec1.json --plot p.txt", "pictures can be png, svg, pdf, not 'txt'"),
        ("generate --set n=3", "need a KIND"),
        ("generate uniform -o .", ".: is a directory, not a file"),
        ("generate uniform --set rate=1e-9 --set n=9", "beyond round 1000000000"),
        ("trace trace.csv --memory 99 --predict overlap", "needs a number behind a colon"),
        ("trace trace.csv --memory 99 --predict noisy:nan", "needs a number behind a colon"),
        ("trace trace.csv --memory 99 --predict buckets:1.5", "needs a whole number"),
        ("check trace.csv", "trace.csv: line 1: is not JSON"),
        ("solve ec1.json --schedule .", ".: is a directory, not a file"),
        ("solve ec1.json --certificate .", ".: is a directory, not a file"),
        ("compare ec1.json --plot .", ".: is a directory, not a file"),
        ("records verify --instances nowhere", "--instances 'nowhere': is no folder"),
        ("records improve --minutes 0", "--instances 'instances': is no folder"),
        ("records page", "ratiolab: results/records.csv: No such file or directory"),
        ("reproduce chen2025 --redraw", "ratiolab: results/chen2025.csv: No such file"),
        ("reproduce chen2025 --redraw --out ec1.json", "ec1.json/chen2025.csv: Not a directory"),
        ("reproduce chen2025 --extend --redraw", "--redraw runs nothing and --extend what is"),
        ("solve ec1.json --objective good", "must be total, weighted or goodput"),
        ("solve nowhere.json", "nowhere.json: No such file"),
        ("evaluate ec1.json --clock nowhere.csv", "ratiolab: nowhere.csv: No such file"),
        ("solve .", "is a directory"),
        ("simulate ec1.json --policy fcfs --tick-seconds nan", "nan must be between 1e-09 and"),
        ("evaluate trace.csv --memory 99 --clock unit --tick-seconds nan", "nan must be between"),
        ("evaluate trace.csv --memory 99 --clock unit --tick-seconds 0", "0.0 must be between"),
        ("compare ec1.json --tick-seconds x", "'--tick-seconds': 'x' must be a number of seconds"),
        (
            "evaluate trace.csv --memory 99 --clock llama3-8b-a100 --tick-seconds 1",
            "trace.csv: a log states its own times, so --tick-seconds 1 must be left out",
        ),
        ("evaluate ec1.json --clock unit --tick-seconds 1", "1 changes no result in rounds"),
        ("compare ec1.json --metric p99 --tick-seconds 1", "1 changes no result in rounds"),
        ("compare ec1.json --replicas 2 --tick-seconds 1", "1 changes no result in rounds"),
        (
            "simulate ec1.json --policy fcfs --replicas 2 --tick-seconds 1",
            "1 changes no result in rounds: name a --clock, or leave it out",
        ),
        ("solve ec1.json --backend cplex", "backend 'cplex' must be"),
        ("simulate ec1.json --policy sjf", "has no column 'predicted'"),
        ("simulate ec1.json --policy a-min --param ties", "must be name=value"),
        ("simulate ec1.json --policy a-min --param tie=x", "'tie' is unknown"),
        ("simulate ec1.json --policy a-min --param ties=x", "must be one of random"),
        ("compare ec1.json --show nobody", "--show 'nobody' is not among"),
        ("claims --recheck chen2025/example-1", "has no witness"),
        ("claims --proof chen2025/example-1", "points to no proof"),
        ("check ec1.json", "format 'ratiolab-instance/1' must be 'ratiolab-baseline/1'"),
        ("frobnicate", "No such command"),
        ("study none.toml", "none.toml: No such file"),
        ("study mine.toml --executor joblib", "must be local, dask or dask=ADDRESS"),
        ("study mine.toml --scheduler tcp://x:1", "--scheduler ADDRESS needs --executor dask"),
        ("study mine.toml --workers 0", "workers 0 must be at least 1, or -1 for all cores"),
        ("solve trace.csv --memory 99", "is it a request log? `ratiolab trace` cuts"),
        ("claims --page", "requires an argument (see `ratiolab claims --help`)"),
        ("lab export --lp", "requires an argument (see `ratiolab lab export --help`)"),
        ("claims --json=yes", "does not take a value (see `ratiolab claims --help`)"),
        ("claims --page . ours/router-jsq", ".: is a directory, not a file"),
        ("simulate ec1.json --policy svf --replicas 2 --router jsq,p2c", "simulate runs one"),
        ("simulate ec1.json --policy svf --replicas 2 --router svf", "router 'svf' is a policy"),
        ("compare ec1.json --slo ttft=1,ttft=2", "slo 'ttft=1,ttft=2' names 'ttft' twice"),
        ("attack --policy mc-sf --time-limit 0", "the budget is too small"),
        ("attack --policy mc-sf --requests 61", "requests 61 must be between 2 and 60"),
        ("attack --policy mc-sf --memory 1", "memory 1 must be between twice the headroom, 2"),
        ("attack --policy mc-sf --prompts odd", "prompts 'odd' must be one of equal, any"),
        ("attack --policy mc-sf --start trace.csv", "trace.csv: arrival is missing"),
        (
            "attack --policy mc-sf --start ec1.json --requests 3",
            "--start ec1.json: 4 requests must be between 2 and 3",
        ),
        (
            "attack --policy mc-sf --start ec1.json --headroom 2",
            "--start ec1.json: memory 7 must be at least 2 times the largest request, 5",
        ),
        ("attack --policy mc-sf --start odd.json", "prompts must be equal"),
        ("attack --policy mc-sf --start odd.json --prompts any", "must arrive at round 0"),
        ("attack --policy mc-sf --start odd.json --memory 8", "memory 9 must be between 1 and 8"),
        (
            "attack --policy volume-restart --param base=nan",
            "base nan must be above 1 and at most 1e9, a finite number",
        ),
        ("attack --policy mc-sf --limit --plot p.png", "--limit searches for a family"),
        ("attack --policy own.py:Mine", "there is no file own.py"),
        ("game --requests 17", "requests 17 must be between 1 and 16"),
        ("game --memory 4", "memory 4 must be at least prompt + upper, 5"),
        ("game --multiset 1,x", "--multiset '1,x' must be integers with commas between them"),
        ("game --multiset 1,2 --kind deterministic", "use --kind randomised"),
        ("game --tree --kind randomised", "use --kind deterministic"),
        ("game --check ec1.json", "format 'ratiolab-instance/1' must be 'ratiolab-game/1'"),
        ("games --page .", ".: is a directory, not a file"),
        ("design", "design needs a file, or both --lower and --upper"),
        ("design --lower 5 --upper 2", "--upper 2 must be at least --lower 5"),
        ("ranges --most 1e9", "most 1e+09 must be between 1 and 1e+08"),
        ("worst-cases --only mcsf", "--only 'mcsf' is unknown; did you mean mc-sf?"),
        ("worst-cases --instances nowhere", "--instances nowhere: has no instance"),
    ],
)
def test_every_mistake_gets_one_line_and_writes_nothing(capsys, folder, words, message):
    write_instance(Instance("odd", 9, [0, 1], [1, 2], [2, 1]), folder / "odd.json")
    (folder / "mine.toml").write_text(STUDY)
    before = set(folder.iterdir())
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2,3\n4,5\n6,7,8,9,10\n", "Error tokenizing data."),
        ("a,b\n1,2\n", "column 'workload.label' is missing"),
        ("{head}\n{row}\n", "has rows of 1 cells, the study has "),
        ("{head}\n{row}\n{word}\n", "line 3: mean_latency 'x' is not a number"),
    ],
)
def test_a_table_that_is_not_an_experiment_is_not_redrawn(capsys, folder, text, message):
    header, *rows = (RESULTS / "jaillet2025-section-5-2-noise.csv").read_text().splitlines()
    latency = header.split(",").index("mean_latency")
    first = next(row for row in rows if row.split(",")[latency])  # a run that does not loop
    word = ["x" if at == latency else cell for at, cell in enumerate(first.split(","))]
    table = folder / "jaillet2025-section-5-2-noise.csv"
    table.write_text(text.format(head=header, row=first, word=",".join(word)))
    before = set(folder.iterdir())
    code, out, err = run(capsys, "reproduce jaillet2025-section-5-2-noise --redraw --out .")
    assert (code, out) == (2, "")
    assert err.startswith(f"ratiolab: {table.name}: {message}")
    assert len(err.splitlines()) == 1
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": ["x"]}, "kind ['x'] must be one of ratio, ratio-at-most, bound"),
        ({"kind": "rayleigh", "upper": True}, "upper True must be an integer"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": "x"}, "tolerance 'x' must be a number"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": -1}, "tolerance -1 must be at least 0"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": 1e9}, "must be at most 0.1"),
        ({"kind": "verdict", "claim": "\x1b[2J"}, "claim '\\x1b[2J' must be one line of"),
        ({"kind": "ratio", "policy": "fcfs"}, "instance is missing"),
        ({"kind": "rayleigh", "upper": 10**12}, "upper 1000000000000 must be"),
        ({"kind": "ratio", "instance": "a", "policy": "fcfs", "runs": 0}, "runs 0 must be"),
        ({"kind": "ratio", "instance": "a", "policy": "fcfs", "runs": 10**9}, "runs 1000000000"),
        ({"kind": "ratio", "instance": "a", "policy": "fcfs", "seed": -1}, "seed -1 must be"),
        ({"kind": "verdict", "claim": "x", "seed": 1}, "unknown key 'seed'; known are"),
    ],
)
def test_a_baseline_entry_that_cannot_be_read_fails_in_its_own_words(
    capsys: pytest.CaptureFixture[str], folder: Path, entry: dict[str, object], message: str
) -> None:
    text = json.dumps({"format": "ratiolab-baseline/1", "entries": [entry]})
    (folder / "b.json").write_text(text)
    code, out, _ = run(capsys, "check b.json")
    assert code == 1  # the other entries are judged all the same
    assert "entry 0: cannot be read: " in out
    assert message in out


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
@pytest.mark.parametrize("words", ["solve p.json", "study p.toml", "check p.json"])
def test_a_named_pipe_is_refused_before_it_blocks(words, capsys, folder):
    os.mkfifo(folder / words.split()[1])
    writer = os.open(folder / words.split()[1], os.O_RDWR)  # who reads waits until it closes
    closing = Timer(PATIENCE, os.close, [writer])
    closing.start()
    code, _, err = run(capsys, words)
    assert closing.is_alive()
    closing.cancel()
    os.close(writer)
    assert (code, err) == (2, f"ratiolab: {words.split()[1]}: is a named pipe, not a file\n")


def test_a_study_nested_too_deeply_is_refused(capsys, folder):
    (folder / "deep.toml").write_text("x = " + "[" * 10**5)
    told = "ratiolab: deep.toml: is no study (nested too deeply)\n"
    assert run(capsys, "study deep.toml") == (2, "", told)


@pytest.mark.parametrize("words", ["policies", "generate", "bound", "claims --list", "reproduce"])
def test_every_list_also_speaks_json(capsys, words):
    code, out, _ = run(capsys, f"{words} --json")
    assert code == 0
    (listed,) = (value for value in json.loads(out).values() if isinstance(value, list))
    assert len(listed) > 5
    assert all({"source"} < set(entry) for entry in listed)


@pytest.mark.parametrize(
    "words", ["solve", "simulate", "compare", "generate", "trace", "bound", "lab rayleigh"]
)
def test_every_help_gives_an_example_that_is_a_command(capsys, words):
    code, out, _ = run(capsys, f"{words} --help")
    assert code == 0
    assert f"Example: ratiolab {words} " in " ".join(out.split())


def test_a_picture_of_a_billion_rounds_is_refused_in_words(capsys, folder):
    write_instance(Instance("late", 9, [0, 10**9], [1, 1], [3, 3]), folder / "late.json")
    code, out, err = run(capsys, "compare late.json --policies fcfs --plot late.png")
    assert code == 2
    assert "optimum 6" in out
    assert "a picture can show 10000000 rounds" in err
    assert not (folder / "late.png").exists()


def test_an_instance_is_read_under_whatever_name_it_was_written(capsys, folder):
    assert run(capsys, "generate equal --set n=3 -o no-ending")[0] == 0
    assert len(read_instance(folder / "no-ending")) == 3


@pytest.mark.parametrize(
    ("command", "line", "message"),
    [
        ("ranges", "3,1.3,nan,1.4", "upper 'nan' must be a number of at least 1"),
        ("ranges", "3,,1.4,1.4", "lower '' must be a number of at least 1"),
        ("ranges", "3,1.5,1.4,1.4", "lower 1.5 must not be above upper 1.4"),
        ("ranges", "3,1.3,1.4", "has 3 values, the header 4"),
        ("games", "2,1,5,1,4,79,10/0,,", "deterministic '10/0' must be a fraction"),
        ("games", "2,1,5,1,nan,79,10/7,,", "upper 'nan' must be an integer"),
        ("games", "2,1,5,6,4,79,10/7,,", "lower 6 must be between 1 and upper, 4"),
        ("games", "2,1,5,1,4,79,10/7,5/4,one", "randomised_most 'one' must be a fraction"),
    ],
)
def test_a_table_that_is_damaged_is_neither_taken_nor_replaced(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str, line: str, message: str
) -> None:
    head = (RESULTS / f"{command}.csv").read_text().splitlines()[0]
    table = folder / "table.csv"
    table.write_text(f"{head}\n{line}\n")
    code, out, err = run(capsys, f"{command} --page table.md")
    assert (code, out) == (2, "")
    assert err.startswith("ratiolab: table.csv: line 2: ")
    assert message in err
    assert table.read_text() == f"{head}\n{line}\n"
    assert not (folder / "table.md").exists()


def test_a_worst_case_that_its_adversary_may_not_choose_is_refused(capsys, folder):
    worst = folder / "worst"
    worst.mkdir()
    write_instance(Instance("late", 9, [0, 1], [1, 1], [2, 1]), worst / "mc-sf.json")
    code, out, err = run(capsys, "worst-cases --instances worst --page page.md")
    assert (code, out) == (2, "")
    assert "mc-sf.json: all requests must arrive at round 0" in err
    assert not (folder / "page.md").exists()
