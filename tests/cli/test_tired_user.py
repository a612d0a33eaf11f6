"""What goes wrong on a bad day: odd files, odd names, odd terminals, Ctrl-C at any moment."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from threading import Timer

import pytest
from command_line import run
from processes import PATIENCE, interrupted_after, tell_when_a_worker_has_made

from ratiolab.cli import main
from ratiolab.model import Instance, read_instance, write_instance

RESULTS = Path(__file__).parents[2] / "results"
COMMAND = [sys.executable, "-m", "ratiolab"]
Start = Callable[..., "subprocess.Popen[bytes]"]
EC1 = Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:{second:02}.5,{10 + second},{1 + second}\n" for second in range(9)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_instance(EC1, tmp_path / "ec1.json")
    (tmp_path / "trace.csv").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare ec1.json --runs 0", "Invalid value for '--runs'"),
        ("simulate ec1.json", "Missing option '--policy' (see `ratiolab simulate --help`)"),
        ("solve ec1.json --seed 99999999999", "Invalid value for '--seed'"),
        ("solve ec1.json --time-limit nan", "Invalid value for '--time-limit'"),
        ("solve ec1.json --node-limit -1", "node_limit -1 must be at least 0"),
        ("compare ec1.json --policies mc-sf,,fcfs", "has an empty place between its commas"),
        ("compare ec1.json --policies fcfs,fcfs", "--policies names 'fcfs' twice"),
        ("compare ec1.json --policies fcfs --show mc-sf", "--show 'mc-sf' is not among"),
        ("compare ec1.json --plot p.txt", "pictures can be png, svg, pdf, not 'txt'"),
        ("generate --set n=3", "need a KIND"),
        ("generate --predict exact", "need a KIND"),
        ("generate equal --predict noisy", "needs a number behind a colon"),
        ("generate uniform -o .", ".: Is a directory"),
        ("generate uniform --set rate=1e-9 --set n=9", "beyond round 1000000000"),
        ("trace trace.csv --memory 99 --arrivals poisson", "need a rate"),
        ("trace trace.csv --memory 99 --arrivals poisson --rate 0", "must be positive"),
        ("trace trace.csv --memory 99 --predict overlap", "needs a number behind a colon"),
        ("trace trace.csv --memory 99 --predict noisy:nan", "needs a number behind a colon"),
        ("trace trace.csv --memory 99 --predict buckets:1.5", "needs a whole number"),
        ("trace trace.csv --memory 99 --predict exact:3", "exact takes no number"),
        ("rayleigh --upper 9999999999", "Invalid value for '--upper'"),
        ("check trace.csv", "trace.csv: line 1: is not JSON"),
        ("check nowhere.json", "nowhere.json: No such file or directory"),
        ("solve ec1.json --schedule .", ".: is a directory, not a file"),
        ("solve ec1.json --certificate .", ".: is a directory, not a file"),
        ("compare ec1.json --plot .", ".: is a directory, not a file"),
        ("records verify --instances nowhere", "--instances 'nowhere': is no folder"),
        ("records improve --minutes 0", "--instances 'instances': is no folder"),
        ("records page", "ratiolab: results/records.csv: No such file or directory"),
        ("reproduce chen2025 --redraw", "ratiolab: results/chen2025.csv: No such file"),
        ("reproduce chen2025 --redraw --out ec1.json", "ec1.json/chen2025.csv: Not a directory"),
        ("reproduce chen2024 --redraw", "experiment 'chen2024' is unknown; known are chen2025"),
    ],
)
def test_every_mistake_gets_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str, message: str
) -> None:
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2,3\n4,5\n6,7,8,9,10\n", "Error tokenizing data."),
        ("a,b\n1,2\n", "column 'workload.label' is missing"),
        ("{head}\n{row}\n", "has rows of 1 cells, the study has 1,260"),
        ("{head}\n{row}\n{word}\n", "line 3: mean_latency 'x' is not a number"),
    ],
)
def test_a_table_that_is_not_an_experiment_is_not_redrawn(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str, message: str
) -> None:
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


def test_a_schedule_that_cannot_be_written_does_not_cost_the_certificate(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "blocked").write_text("a file, not a folder")
    words = "solve ec1.json --schedule blocked/s.json --certificate proof.json"
    assert run(capsys, words)[0] == 2
    code, out, _ = run(capsys, "certify proof.json ec1.json --json")
    assert code == 0
    assert json.loads(out)["proven"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": ["x"]}, "kind ['x'] must be one of ratio, ratio-at-most, bound"),
        ({"kind": "rayleigh", "upper": "x"}, "upper 'x' must be an integer"),
        ({"kind": "rayleigh", "upper": True}, "upper True must be an integer"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": "x"}, "tolerance 'x' must be a number"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": -1}, "tolerance -1 must be at least 0"),
        ({"kind": "rayleigh", "upper": 2, "tolerance": 1e9}, "must be at most 0.1"),
        ({"kind": "verdict", "claim": "\x1b[2J"}, "claim '\\x1b[2J' must be one line of"),
        ({"kind": "verdict", "claim": "x", "value": "a\rb"}, "value 'a\\rb' must be one line of"),
        ({"kind": "ratio", "instance": 5, "policy": "fcfs"}, "instance 5 must be a string"),
        ({"kind": "ratio", "policy": "fcfs"}, "instance is missing"),
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


@pytest.mark.parametrize("key", ["value", "tolerance"])
def test_an_infinite_number_makes_no_pin_vacuous(
    key: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    entry = f'{{"kind": "rayleigh", "upper": 2, "{key}": 1e999}}'
    (folder / "b.json").write_text(f'{{"format": "ratiolab-baseline/1", "entries": [{entry}]}}')
    told = "ratiolab: b.json: number '1e999' is too large\n"
    assert run(capsys, "check b.json") == (2, "", told)


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
@pytest.mark.parametrize("words", ["solve p.json", "study p.toml", "check p.json"])
def test_a_named_pipe_is_refused_before_it_blocks(
    words: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    os.mkfifo(folder / words.split()[1])
    writer = os.open(folder / words.split()[1], os.O_RDWR)  # who reads waits until it closes
    closing = Timer(PATIENCE, os.close, [writer])
    closing.start()
    code, _, err = run(capsys, words)
    assert closing.is_alive()
    closing.cancel()
    os.close(writer)
    assert (code, err) == (2, f"ratiolab: {words.split()[1]}: is a named pipe, not a file\n")


def test_control_characters_of_a_name_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    told = "ratiolab: \\x1b[2J.json: No such file or directory\n"
    assert run(capsys, "solve \x1b[2J.json") == (2, "", told)
    text = '[study]\nname = "s"\n[[workload]]\nkind = "uniform"\nlabel = "\\u001b[2J"\n'
    (folder / "s.toml").write_text(text + '[[policy]]\nkey = "fcfs"\n')
    code, _, err = run(capsys, "study s.toml")
    assert code == 2
    assert "label '\\x1b[2J' must be one line of printable text" in err


def test_a_study_nested_too_deeply_is_refused(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "deep.toml").write_text("x = " + "[" * 10**5)
    told = "ratiolab: deep.toml: is no study (nested too deeply)\n"
    assert run(capsys, "study deep.toml") == (2, "", told)


@pytest.mark.parametrize("words", ["policies", "generate", "bound", "claims --list", "reproduce"])
def test_every_list_also_speaks_json(capsys: pytest.CaptureFixture[str], words: str) -> None:
    code, out, _ = run(capsys, f"{words} --json")
    assert code == 0
    (listed,) = (value for value in json.loads(out).values() if isinstance(value, list))
    assert len(listed) > 5
    assert all({"source"} < set(entry) for entry in listed)


def test_the_example_of_a_study_is_a_study_also_in_json(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    _, text, _ = run(capsys, "study")
    code, out, _ = run(capsys, "study --json")
    assert code == 0
    assert json.loads(out)["example"] == text


@pytest.mark.parametrize(
    "words", ["solve", "simulate", "compare", "generate", "trace", "bound", "rayleigh"]
)
def test_every_help_gives_an_example_that_is_a_command(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    code, out, _ = run(capsys, f"{words} --help")
    assert code == 0
    assert f"Example: ratiolab {words} " in " ".join(out.split())


def test_without_a_command_the_help_is_shown_and_nothing_is_scolded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capsys, "")
    assert code == 2
    assert "Usage" in out + err
    assert "ratiolab:" not in out + err


@pytest.mark.parametrize(
    "words",
    [
        "compare ec1.json --policies fcfs --plot blocked/p.png",
        "solve ec1.json --schedule blocked/s.json",
    ],
)
def test_a_file_that_cannot_be_written_does_not_cost_the_answer(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str
) -> None:
    (folder / "blocked").write_text("a file, not a folder")
    code, out, err = run(capsys, f"{words} --json")
    assert code == 2
    assert json.loads(out)["instance"] == "EC.1"
    assert "blocked" in err
    assert len(err.splitlines()) == 1


def test_names_with_brackets_and_colons_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    name = "[/red]evil[bold] :smile:"
    write_instance(EC1.replace(name=name), folder / "evil.json")
    for words in ("solve", "simulate --policy mc-sf", "compare --policies mc-sf"):
        command, _, options = words.partition(" ")
        code, out, _ = run(capsys, f"{command} evil.json {options}")
        assert code == 0
        assert name in out


def test_a_picture_of_a_billion_rounds_is_refused_in_words(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    write_instance(Instance("late", 9, [0, 10**9], [1, 1], [3, 3]), folder / "late.json")
    code, out, err = run(capsys, "compare late.json --policies fcfs --plot late.png")
    assert code == 2
    assert "optimum 6" in out
    assert "a picture can show 10000000 rounds" in err
    assert not (folder / "late.png").exists()


@pytest.mark.long
def test_an_ascii_terminal_gets_every_table(folder: Path) -> None:
    write_instance(EC1.replace(name="ünïcode ≤"), folder / "u.json")
    plain = os.environ | {"PYTHONIOENCODING": "ascii", "LANG": "C", "COLUMNS": "30"}
    for words in ("compare u.json --runs 2 --policies a-min", "policies", "generate", "--help"):
        command = [*COMMAND, *words.split()]
        done = subprocess.run(command, env=plain, capture_output=True, timeout=PATIENCE)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.isascii()


def test_an_instance_is_read_under_whatever_name_it_was_written(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run(capsys, "generate equal --set n=3 -o no-ending")[0] == 0
    assert len(read_instance(folder / "no-ending")) == 3
    _, text, _ = run(capsys, "generate equal --set n=3")
    command = [*COMMAND, "solve", "/dev/stdin", "--json"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=PATIENCE)
    assert json.loads(done.stdout)["status"] == "optimal"


def test_a_stream_without_settings_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    with pytest.raises(SystemExit) as exit_:
        main(["solve", "ec1.json", "--json"])
    assert exit_.value.code == 0
    assert json.loads(text.getvalue())["upper"] == 12


def test_a_witness_that_is_not_there_is_explained(folder: Path) -> None:
    elsewhere = os.environ | {"RATIOLAB_WITNESSES": str(folder)}
    command = [*COMMAND, "claims", "--recheck", "chen2025/lemma-ec1"]
    done = subprocess.run(command, env=elsewhere, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert "there is no such witness" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", ["policies", "generate uniform --set n=100000", "bound"])
def test_a_reader_that_leaves_early_causes_no_traceback(words: str, start: Start) -> None:
    command = [*COMMAND, *words.split()]
    process = start(command, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="process groups")
@pytest.mark.parametrize("calls", [0, 1, 100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_ctrl_c_in_a_terminal_reaches_workers_that_still_start(
    folder: Path, calls: int, start: Start
) -> None:
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
    assert process.stdout is not None
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
def test_ctrl_c_ends_in_one_line_and_leaves_nothing_half_written(
    folder: Path, words: str, calls: int, start: Start
) -> None:
    numbers = range(1500)
    big = Instance("big", 400, [i // 9 for i in numbers], [5] * 1500, [1 + i % 90 for i in numbers])
    write_instance(big, folder / "big.json")
    head, *rows = TRACE.splitlines(keepends=True)
    (folder / "long.csv").write_text(head + "".join(rows) * 20_000)
    before = set(folder.iterdir())
    process = start(interrupted_after(calls, words), stdout=PIPE, stderr=PIPE)
    _, err = process.communicate(timeout=PATIENCE)
    kept = b"ratios are to the interval around the optimum found so far\n"
    assert err.removeprefix(kept) == b"ratiolab: interrupted\n"
    assert process.returncode == 130
    for file in set(folder.iterdir()) - before:
        assert file.name in ("out.png", "out.json")
        if file.suffix == ".json":
            read_instance(file)
