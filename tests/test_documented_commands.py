"""Every command that a page, a notebook, a docstring or a help text names can be run as it stands.

The commands are collected from their places. Each is run in this process, in a folder with the
files that its examples take for granted. Commands that take minutes, and those that write over a
whole folder of results, are not run: their names, options and arguments are parsed, no more.
"""

import ast
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ratiolab import Instance, OptResult
from ratiolab.cli.commands import app

ROOT = Path(__file__).parents[1]

PLACEHOLDERS = {
    "FILE": "mine.json",
    "trace FILE": "my_trace.csv",
    "FILE.toml": "my_study.toml",
    "CERTIFICATE": "proof.json",
    "evaluate FILE": "my_trace.csv",
    "CLOCK": "llama3-8b-a100",
    "BASELINE": "baseline.json",
    "KEY": "fcfs",
    "KIND": "uniform",
    "bound NAME": "kill-restart/batches",
    "schema NAME": "instance",
    "reproduce NAME": "jaillet2025-section-5-1",
    "FOLDER": ".",
    "ID": "chen2025/theorem-7-printed",
    "ADDRESS": "tcp://localhost:8786",
    "M": "2048",
    "N": "1",
    "S": "7",
    "U": "1000",
}
"""What stands in commands for something of the reader's, and what the test takes for it.

Some placeholders stand for different things in different commands.
"""

MINUTES = (
    "attack",
    "check",
    "claims",
    "lab design --lower",
    "evaluate conv.csv",
    "lab game --check",
    "lab games",
    "lab ranges",
    "records generate",
    "records improve",
    "records page",
    "records verify",
    "reproduce",
    "study",
    "lab worst-cases",
)
"""Commands that are parsed only; a few of their uses are short."""

SHORT = ("claims --list", "claims --recheck", "check baseline.json", "reproduce", "study")
"""Uses of these that are run nevertheless; the last two without any argument."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield every text that may name a command, with the file that holds it."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [ROOT / "instances/README.md", ROOT / "notebooks/my_study.toml"]
    pages += [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "results").glob("*.md"))]
    pages += [ROOT / ".ci/run", *sorted((ROOT / ".github").rglob("*.yml"))]
    pages += sorted(
        p for ending in ("toml", "md") for p in (ROOT / "ratiolab").rglob(f"*.{ending}")
    )
    for page in pages:
        yield page.name, page.read_text()
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(notebook.read_text())["cells"]:
            yield notebook.name, "".join(cell["source"])
    for module in sorted((ROOT / "ratiolab").rglob("*.py")):
        source = module.read_text()
        if not re.search(r"(ratiolab|python)\s", source):
            continue  # to parse all modules takes more than a second
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                for piece in node.values:  # what is put in later is no command to run
                    if isinstance(piece, ast.Constant):
                        piece.value = re.sub(r"ratiolab [\w-]+ ?$", "", str(piece.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(module.relative_to(ROOT)), node.value


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands of a text: in backticks, in blocks of code, and after ``Example:``.

    >>> list(commands_in("Run `ratiolab solve FILE`; Example: ratiolab policies, then ratiolab x"))
    ['ratiolab solve FILE', 'ratiolab policies', 'ratiolab x']
    """
    text = re.sub(r"^#!.*bash\n(.*)", r"```sh\n\1```", text, flags=re.S)
    spans = re.findall(
        r"(?<!`)(?:``|`)([^`]+?)(?:``|`)(?!`)", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    blocks = re.findall(r"```(?:sh|yaml)\n(.*?)```", text, re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    examples = [
        " ".join(found.split()) for found in re.findall(r"Example: (.*?)(?:\n\n|\Z)", text, re.S)
    ]
    pieces = [
        piece for line in [*spans, *lines, *examples] for piece in re.split(r"&&|, then ", line)
    ]
    for piece in pieces:
        found = re.match(r"\s*(?:- run: |!)?((?:\w+=\S+ )*)(?:\S+/)?(ratiolab .*)", piece, re.S)
        if found:
            yield " ".join("".join(found.groups()).split())


TEXTS = tuple(texts())
"""Read once: that takes a second and more."""

EXAMPLES = ("example2026", "lcfs.py")
"""What CONTRIBUTING.md adds as examples: `test_contributing` runs these commands."""

COMMANDS = [
    command
    for command in dict.fromkeys(command for _, text in TEXTS for command in commands_in(text))
    if not any(example in command for example in EXAMPLES)
]


def arguments_of(command: str) -> tuple[list[str], Path | None]:
    """Return the words after ``ratiolab``, placeholders replaced, and the file of a redirection."""
    words = shlex.split(command.replace("[--quick]", "--quick"))
    words = words[words.index("ratiolab") + 1 :]
    name = words[words[0] == "lab" and len(words) > 1]
    words = [PLACEHOLDERS.get(f"{name} {w}", PLACEHOLDERS.get(w, w)) for w in words]
    if ">" in words:
        return words[: words.index(">")], Path(words[-1])
    return words, None


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with all files that the examples name."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("instances/small", "instances/chen2025"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (ROOT / "notebooks").glob("my_*"):
        shutil.copy(path, folder)
    (folder / "results").mkdir()
    for instance in ("mine", "twelve", "azure-12", "azure-2000"):
        shutil.copy(folder / "instances/chen2025/example-1.json", folder / f"{instance}.json")
    header, *requests = (folder / "my_trace.csv").read_text().splitlines()
    for trace in ("conv.csv", "AzureLLMInferenceTrace_conv.csv"):
        (folder / trace).write_text("\n".join([header, *requests * 60]))
    rows = ({"ts": second, "n_in": 100, "n_out": 9 + second} for second in range(30))
    (folder / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    entry = {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4}
    pinned = {"format": "ratiolab-baseline/1", "entries": [entry | {"value": "7/6"}]}
    (folder / "baseline.json").write_text(json.dumps(pinned))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = CliRunner().invoke(app, ["solve", "mine.json", "--certificate", "proof.json"])
    assert made.exit_code == 0, made.output
    return folder


@pytest.fixture(scope="module", autouse=True)
def _each_optimum_once():
    """Keep the optima that `compare` solves for: several examples share an instance."""
    module = import_module("ratiolab.ratio.compare")
    solve, known = module.solve, {}

    def solved(instance: Instance, **options: Any) -> OptResult:
        if instance.digest not in known:
            known[instance.digest] = solve(instance, **options)
        return known[instance.digest]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "solve", solved)
        yield


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """Go to a fresh copy of the files."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_are_found_everywhere():
    places = {place for place, text in TEXTS if list(commands_in(text))}
    assert {"README.md", "chen2025.md", "your_own.ipynb", "ratiolab/cli/app.py"} <= places
    assert len(COMMANDS) > 60


def test_no_command_is_named_in_a_way_that_is_not_found():
    names = "|".join(typer.main.get_command(app).commands)
    for place, text in TEXTS:
        found = " ".join(commands_in(text))
        for named in re.findall(rf"ratiolab (?:{names})\b(?!::)", text):
            assert named in found, f"{place}: {named}"


def test_every_script_that_a_page_names_is_there():
    words = [found for _, text in TEXTS for found in re.findall(r"python ((?:\w+/)+\w+\.py)", text)]
    assert {"docs/build.py", "tests/benchmarks/bench_solve.py"} <= set(words)
    assert [word for word in words if not (ROOT / word).exists()] == []


def marked(command: str) -> Any:
    """Mark what reads a whole log, draws, compiles or solves for seconds as a long test."""
    long = command.startswith(("ratiolab evaluate ", "ratiolab compare instances/small/jaillet"))
    long = long or command == "ratiolab compile"
    long = long or "--plot" in command
    return pytest.param(command, marks=pytest.mark.long if long else ())


@pytest.mark.parametrize("command", list(map(marked, COMMANDS)))
def test_the_command_works(command, files, monkeypatch, request):
    arguments, output = arguments_of(command)
    words = " ".join(arguments)
    short = any(words == use or (" " in use and words.startswith(use)) for use in SHORT)
    if is_a_mention(arguments):
        assert CliRunner().invoke(app, [*arguments[:-1], "--help"]).exit_code == 0
    elif words.startswith(MINUTES) and not short:
        monkeypatch.chdir(files)
        parse(arguments)
    else:
        request.getfixturevalue("folder")  # a copy of its own, as it may write
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output + str(result.exception)
        if output is not None:
            output.write_text(result.stdout)


def parse(arguments: list[str]) -> None:
    """Check names, options and arguments of a command without running it."""
    from ratiolab.papers import all_claims, experiments

    command, words = find(arguments)
    parsed = command.make_context(arguments[0], words).params
    if arguments[0] == "reproduce":
        assert parsed["name"] in experiments()
    if arguments[0] == "claims":
        assert {claim.id for claim in all_claims()} >= set(parsed["ids"] or ())


def find(arguments: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the first words name, and the words left for it."""
    command, words = typer.main.get_command(app), list(arguments)
    while hasattr(command, "commands") and (words or arguments != ["lab"]):  # lab lists its own
        assert words, f"{arguments} names no command"
        assert words[0] in command.commands, f"there is no command {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def is_a_mention(arguments: list[str]) -> bool:
    """Return whether a text speaks of a command, or of one option of it, and gives no example."""
    if arguments[0].startswith("-"):
        return False
    command, words = find(arguments)
    needs = any(each.required for each in command.params)
    return needs and (words == [] or (len(words) == 1 and words[0].startswith("-")))


@pytest.mark.parametrize("words", ["reproduce nothing", "claims --wrong", "records fly", "fly"])
def test_parsing_refuses_what_is_not_there(words):
    with pytest.raises((AssertionError, RuntimeError, Exception)) as error:
        parse(words.split())
    assert words.split()[-1].lstrip("-") in str(error.value)
