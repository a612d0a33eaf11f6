"""Any terminal, any name, any reader: what is printed is what is meant."""

import json
import os
import re
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
from command_line import COMMAND, EC1, run
from processes import PATIENCE
from rich.progress import Progress

from ratiolab.cli import main
from ratiolab.cli.app import progress
from ratiolab.cli.studies import bar
from ratiolab.model import read_instance, write_instance


def test_control_characters_of_a_name_do_not_reach_the_terminal(capsys, folder):
    told = "ratiolab: \\x1b[2J.json: No such file or directory\n"
    assert run(capsys, "solve \x1b[2J.json") == (2, "", told)
    text = '[study]\nname = "s"\n[[workload]]\nkind = "uniform"\nlabel = "\\u001b[2J"\n'
    (folder / "s.toml").write_text(text + '[[policy]]\nkey = "fcfs"\n')
    code, _, err = run(capsys, "study s.toml")
    assert code == 2
    assert "label '\\x1b[2J' must be one line of printable text" in err


@pytest.mark.parametrize("shown", [lambda: progress(), lambda: bar("a" * 60, Path())])
def test_a_line_of_progress_fits_a_narrow_terminal(shown, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    words = "jaillet-model-1-3: optimum in [1,234,567, 1,234,890], dynamic programming, 900 nodes"
    with shown() as display:
        if isinstance(display, Progress):
            display.add_task(words)
            display.refresh()
    told = "".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).split())
    assert "…" not in told
    assert "a" * 20 in told or "900nodes" in told


def test_a_long_export_says_on_a_terminal_what_it_does(monkeypatch, capsys, folder):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(capsys, "export ec1.json --lp p.lp")[2].count("p.lp: ") == 1


def test_too_little_memory_is_told_in_a_whole_sentence(monkeypatch, capsys, folder):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("ratiolab.model.fleet_io.read_fleet", full)
    told = "ratiolab: not enough memory: the input is too large; take fewer requests\n"
    assert run(capsys, "export ec1.json --lp p.lp") == (2, "", told)


def test_names_with_brackets_and_colons_are_printed_as_they_are(capsys, folder):
    name = "[/red]evil[bold] :smile:"
    write_instance(EC1.replace(name=name), folder / "evil.json")
    for words in ("solve", "simulate --policy mc-sf", "compare --policies mc-sf"):
        command, _, options = words.partition(" ")
        code, out, _ = run(capsys, f"{command} evil.json {options}")
        assert code == 0
        assert name in out


@pytest.mark.parametrize("words", ["policies", "generate uniform --set n=100000", "bound"])
def test_a_reader_that_leaves_early_causes_no_traceback(words, start):
    command = [*COMMAND, *words.split()]
    process = start(command, stdout=PIPE, stderr=PIPE)
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "words", ["--help", "policies", "policies --json", "generate uniform --set n=100000"]
)
def test_a_reader_that_has_left_is_no_refuted_result(words, start):
    buffered = {key: os.environ[key] for key in os.environ if key != "PYTHONUNBUFFERED"}
    process = start([*COMMAND, *words.split()], stdout=PIPE, stderr=PIPE, env=buffered)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(PATIENCE) == 141


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("words", "closed", "code", "message"),
    [
        ("trace - --describe", "<&-", 2, b"ratiolab: standard input: is closed; name a file, or"),
        ("solve -", "<&-", 2, b"ratiolab: standard input: is closed; name a file, or"),
        ("policies", ">&-", 0, b""),
        ("policies --json", "<&- >&- 2>&-", 0, b""),
        ("generate uniform -o i.json", ">&- 2>&-", 0, b""),
        ("solve nowhere.json", "2>&-", 2, b""),
    ],
)
def test_a_stream_that_is_closed_causes_no_traceback(words, closed, code, message, folder, start):
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *words.split()]
    process = start(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert err.startswith(message)
    assert len(err.splitlines()) == bool(message)
    if "-o" in words:
        read_instance(folder / "i.json")


@pytest.mark.parametrize("words", ["53,760", "53_760", "53 760", "53760", "53'760"])
def test_a_memory_is_read_as_engines_print_it(words, capsys, folder):
    (folder / "i.csv").write_text("arrival,prompt,output\n0,1,3\n")
    with pytest.raises(SystemExit) as ended:
        main(["solve", "i.csv", "--memory", words, "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["upper"] == 3


@pytest.mark.parametrize("words", ["5,37", "0", "-5", "1.5", "many", "53,76a", "5,3760"])
def test_a_memory_that_is_none_is_refused(words, capsys, folder):
    (folder / "i.csv").write_text("arrival,prompt,output\n0,1,3\n")
    with pytest.raises(SystemExit) as ended:
        main(["solve", "i.csv", f"--memory={words}"])
    assert ended.value.code == 2
    assert "must be a whole number of tokens, at least 1" in capsys.readouterr().err
