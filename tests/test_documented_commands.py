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
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ratiolab.cli.commands import app

ROOT = Path(__file__).parents[1]

PLACEHOLDERS = {
    "FILE": "mine.json",
    "FILE.toml": "my_study.toml",
    "CERTIFICATE": "proof.json",
    "BASELINE": "baseline.json",
    "KEY": "fcfs",
    "KIND": "uniform",
    "NAME": "jaillet2025-section-5-1",
    "FOLDER": ".",
    "ID": "chen2025/theorem-4",
    "ADDRESS": "tcp://localhost:8786",
    "M": "2048",
    "N": "1",
    "S": "7",
    "U": "1000",
}
"""What stands in commands for something of the reader's, and what the test takes for it."""

MINUTES = (
    "check",
    "claims",
    "records generate",
    "records improve",
    "records page",
    "records verify",
    "reproduce",
    "study",
)
"""Commands that are parsed only; a few of their uses are short."""

SHORT = ("claims --list", "claims --recheck", "check baseline.json", "reproduce", "study")
"""Uses of these that are run nevertheless; the last two without any argument."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield every text that may name a command, with the file that holds it."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "instances/README.md"]
    pages += [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "results").glob("*.md"))]
    pages += sorted((ROOT / "ratiolab").rglob("*.toml"))
    for page in pages:
        yield page.name, page.read_text()
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(notebook.read_text())["cells"]:
            yield notebook.name, "".join(cell["source"])
    for module in sorted((ROOT / "ratiolab").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(module.relative_to(ROOT)), node.value


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands of a text: in backticks, in blocks of code, and after ``Example:``.

    >>> list(commands_in("Run `ratiolab solve FILE`; Example: ratiolab policies, then ratiolab x"))
    ['ratiolab solve FILE', 'ratiolab policies', 'ratiolab x']
    """
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


COMMANDS = list(dict.fromkeys(command for _, text in texts() for command in commands_in(text)))


def arguments_of(command: str) -> tuple[list[str], Path | None]:
    """Return the words after ``ratiolab``, placeholders replaced, and the file of a redirection."""
    words = shlex.split(command.replace("[--quick]", "--quick"))
    words = [PLACEHOLDERS.get(word, word) for word in words[words.index("ratiolab") + 1 :]]
    if ">" in words:
        return words[: words.index(">")], Path(words[-1])
    return words, None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all files that the examples name."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("instances/small", "instances/chen2025", "notebooks"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(folder / "notebooks", folder, dirs_exist_ok=True)
    (folder / "results").mkdir()
    shutil.copy(folder / "instances/chen2025/example-1.json", folder / "mine.json")
    shutil.copy(folder / "instances/small/uniform.json", folder / "azure-12.json")
    for trace in ("conv.csv", "AzureLLMInferenceTrace_conv.csv"):
        shutil.copy(folder / "notebooks/my_trace.csv", folder / trace)
    entry = {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4}
    pinned = {"format": "ratiolab-baseline/1", "entries": [entry | {"value": "7/6"}]}
    (folder / "baseline.json").write_text(json.dumps(pinned))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = CliRunner().invoke(app, ["solve", "mine.json", "--certificate", "proof.json"])
    assert made.exit_code == 0, made.output
    return folder


def test_commands_are_found_everywhere() -> None:
    places = {place for place, text in texts() if list(commands_in(text))}
    assert {"README.md", "chen2025.md", "your_own.ipynb", "ratiolab/cli/app.py"} <= places
    assert len(COMMANDS) > 60


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_works(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    arguments, output = arguments_of(command)
    words = " ".join(arguments)
    short = any(words == use or (" " in use and words.startswith(use)) for use in SHORT)
    if words.startswith(MINUTES) and not short:
        parse(arguments)
        return
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output + str(result.exception)
    if output is not None:
        output.write_text(result.stdout)


def parse(arguments: list[str]) -> None:
    """Check names, options and arguments of a command without running it."""
    from ratiolab.papers import all_claims, experiments

    command, words = typer.main.get_command(app), list(arguments)
    context = command.make_context("ratiolab", [words[0]])
    while hasattr(command, "get_command"):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]!r}"
        command, words = found, words[1:]
        if not hasattr(command, "get_command"):
            break
        context = command.make_context(arguments[0], words[:1], parent=context)
    parsed = command.make_context(command.name or "", words, parent=context).params
    if arguments[0] == "reproduce":
        assert parsed["name"] in experiments()
    if arguments[0] == "claims":
        assert {claim.id for claim in all_claims()} >= set(parsed["id"] or ())


def test_parsing_refuses_what_is_not_there() -> None:
    for arguments in (["reproduce", "nothing"], ["claims", "--wrong"], ["records", "fly"]):
        with pytest.raises((AssertionError, Exception), match=r"nothing|wrong|fly|no such|No such"):
            parse(arguments)
