"""The application and what its commands share."""

import json
from collections.abc import Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import typer

from ratiolab.cli import INTERRUPTED, json_output
from ratiolab.cli.outputs import pictures
from ratiolab.version import __version__, commit, today

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TextColumn

    from ratiolab.hindsight.result import Progress as Bounds
    from ratiolab.hindsight.result import Report
    from ratiolab.model import Instance
    from ratiolab.model.files import Content
    from ratiolab.model.fleet import Fleet

app = typer.Typer(
    name="ratiolab",
    help=(
        "Competitive ratios of LLM inference schedulers under KV-cache limits: certified optima, "
        "simulated policies, and the ratio between them."
        "\n\nFirst steps: make an instance, `ratiolab generate uniform -o mine.json`, or cut one "
        "out of a real trace with `ratiolab trace`; then `ratiolab compare mine.json`."
        "\n\nTime is in rounds: in each, every running request produces one token, and all of them "
        "together hold at most as many tokens as the memory has."
    ),
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs flow to the width of the terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Memories: TypeAlias = int | tuple[int, ...]
"""Tokens of one memory, or of each replica."""

SEPARATORS = ",_' \u00a0\u202f"
"""Between the thousands of a number, as engines and people write them."""


def tokens(words: str) -> int:
    """Return a number of tokens, at least 1; ``53,760``, as vLLM prints it, is one."""
    plain = str(words).strip()
    digits = plain if not set(plain) & set(SEPARATORS) else _without_separators(plain)
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) <= 2**31):
        asked = f"{words!r} must be a whole number of tokens, at least 1"
        parts = plain.split(",")
        if not digits and len(parts) > 1 and all(part.strip().isdecimal() for part in parts):
            asked += f"; replicas of these memories are written {'+'.join(parts)}"
        raise typer.BadParameter(asked)
    return int(digits)


def memories(words: str) -> "Memories":
    """Return a number of tokens, or several, joined by plus signs: one for each replica."""
    each = tuple(tokens(part) for part in str(words).split("+"))
    return each if len(each) > 1 else each[0]


def tick(words: str) -> float:
    """Return the seconds of a tick, within the limits that an instance has for it."""
    from ratiolab.model.instance import require_tick

    try:
        seconds = float(words)
    except ValueError:
        raise typer.BadParameter(f"{words!r} must be a number of seconds") from None
    try:
        return require_tick(seconds)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _without_separators(words: str) -> str:
    """Return the digits of a number in groups of three; nothing when it is none."""
    import re

    groups = re.fullmatch(rf"\d{{1,3}}([{SEPARATORS}])\d{{3}}(\1\d{{3}})*", words)
    return re.sub(r"\D", "", words) if groups else ""


File = Annotated[
    Path, typer.Argument(help="Instance: JSON (ratiolab-instance/1), or CSV with --memory.")
]
Memory = Annotated[
    int | None,
    typer.Option(
        help="KV cache size in tokens; needed for CSV, replaces that of a JSON file.",
        parser=tokens,
    ),
]
EachMemory = Annotated[
    Any,
    typer.Option(
        help="KV cache size in tokens; needed for logs and CSV, replaces that of a JSON file. "
        "9000+7000: of each replica, where they differ.",
        parser=memories,
        metavar="TOKENS",
    ),
]
Replicas = Annotated[
    int | None,
    typer.Option(
        help="Replicas that serve the requests, each with this memory; default: as many as the "
        "memory names or the fleet's file states, else one.",
        min=1,
    ),
]
Tick = Annotated[
    float | None,
    typer.Option(
        "--tick-seconds",
        help="Seconds of a tick of the arrivals, for an instance that does not state it.",
        parser=tick,
        metavar="SECONDS",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Key = Annotated[
    str,
    typer.Option(help="Key (see `ratiolab policies`), or path/to/file.py:ClassName of your own."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--param", help="A parameter of the policy, name=value; repeatable."),
]
Plot = Annotated[
    Path | None,
    typer.Option(help="Draw the schedules to this png, pdf or svg file.", writable=True),
]
SloTtft = Annotated[
    float | None,
    typer.Option(
        "--slo-ttft", help="Longest time from arrival to first token, for all: sets first_by."
    ),
]
SloLatency = Annotated[
    float | None,
    typer.Option(
        "--slo-latency", help="Longest time from arrival to completion, for all: sets deadline."
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of all randomness.", min=0, max=2**31 - 1)]
Runs = Annotated[int, typer.Option(help="Runs, with seeds SEED, SEED+1, ...", min=1)]
Starts = Annotated[
    list[Path] | None, typer.Option("--start", help="An instance to begin with; repeatable.")
]
Evaluations = Annotated[
    int | None,
    typer.Option(help="Cases to run the policy on: the same answer on every machine.", min=1),
]
Workers = Annotated[int, typer.Option(help="Processes; -1 takes all cores.", min=-1)]
Where = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Where calls run. local: processes of this machine. dask=ADDRESS: the Dask cluster "
        "of this scheduler. dask: the cluster that Dask's settings name, or one started here.",
    ),
]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format", help="Formats of the pictures, comma separated: png, svg, pdf. Default: png."
    ),
]
NodeLimit = Annotated[
    int | None,
    typer.Option(help="Stop after this many search nodes: the same answer on every machine."),
]


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Print the version when asked."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def load(
    file: "Path | Content", memory: int | None, tick_seconds: float | None = None
) -> "Instance":
    """Read an instance; `tick_seconds` applies if the file states none."""
    from ratiolab.model import read_instance

    name = str(file) if isinstance(file, Path) else file.name
    return ticking(read_instance(file, memory), tick_seconds, name)


def ticking(instance: "Instance", tick_seconds: float | None, name: str) -> "Instance":
    """Return an instance with this tick; `ValueError` if its file, `name`, states another one."""
    if tick_seconds is None or tick_seconds == instance.tick_seconds:
        return instance
    if instance.tick_seconds is not None:
        raise ValueError(
            f"{name}: states a tick of {instance.tick_seconds:g} s, so --tick-seconds "
            f"{tick_seconds:g} must be left out"
        )
    return instance.replace(tick_seconds=tick_seconds)


def require_clock(tick_seconds: float | None, clock: str) -> None:
    """Refuse the seconds of a tick where all results are in rounds."""
    if tick_seconds is not None and clock == "unit":
        raise ValueError(
            f"--tick-seconds {tick_seconds:g} changes no result in rounds: name a --clock, or "
            "leave it out"
        )


def showing(display: "Progress", given: "Instance | Fleet", what: str = "total") -> "Report":
    """Return a reporter of a solve that shows the interval while it shrinks."""
    task = display.add_task(given.headline)
    kind = "optimum" if what == "total" else what

    def show(now: "Bounds") -> None:
        interval = f"{kind} in [{now.lower:,}, {now.upper:,}]"
        doing = f"{now.stage}, {now.nodes:,} nodes" if now.nodes else now.stage
        display.update(task, description=f"{given.name}: {interval}, {doing}")

    return show


def in_seconds(instance: "Instance") -> list[str]:
    """Return the line that says how long a round is, where the instance states it."""
    if instance.tick_seconds is None:
        return []
    return [f"a round is a tick of the arrivals, {instance.tick_seconds:g} s"]


def print_json(what: str, data: Mapping[str, Any]) -> None:
    """Print one JSON object that states its format, and version, commit and date."""
    made = {"version": __version__, "commit": commit(), "date": today()}
    marked = {"format": f"ratiolab-{what}/1", **made, **data}
    typer.echo(json.dumps(marked, indent=2, allow_nan=False), file=json_output())


def answer(json: bool, what: str, data: Mapping[str, Any], *shown: Any) -> None:
    """Print one JSON object, or else tables and text."""
    print_json(what, data) if json else print_rich(*shown)


def json_line(value: Any) -> str:
    """Return a JSON value on one line, as streams have them."""
    return json.dumps(value, allow_nan=False)


def print_rich(*values: Any) -> None:
    """Print tables and text; as wide as they need to be when there is no terminal."""
    console = _console(line_width() or 160)
    for value in values:
        console.print(value)


def line_width() -> int | None:
    """Return the letters in a line of the terminal; None when there is no terminal."""
    console = _console(None)
    return console.width if console.is_terminal else None


def _console(width: int | None) -> "Console":
    from rich.console import Console

    # names and sources come from files: a bracket in them is text, not markup
    return Console(width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def progress(*, silent: bool = False, bar: bool = False) -> "Iterator[Progress]":
    """Show progress on standard error, silent also when that is not a terminal."""
    from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

    bars = [BarColumn()] if bar else []
    columns = [SpinnerColumn(), description_column(), *bars, TimeElapsedColumn()]
    with shown(*columns, silent=silent) as display:
        yield display


@contextmanager
def shown(*columns: "ProgressColumn", silent: bool = False) -> "Iterator[Progress]":
    """Show columns of progress on standard error, silent also when that is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    display = Progress(*columns, console=console, transient=True)
    if silent or not console.is_terminal:
        yield display  # never started: a disabled one ends with an empty line before rich 14.3
    else:
        with display:
            yield display


def description_column() -> "TextColumn":
    """Return the column of what is being done; it goes on in the next line, never cut short."""
    from rich.progress import TextColumn
    from rich.table import Column

    text = Column(overflow="fold")
    return TextColumn("{task.description}", markup=False, table_column=text)


@dataclass
class Ended:
    """How a block of `keeping` ended."""

    interrupted: bool = False


@contextmanager
def keeping(finished: Sized) -> Iterator[Ended]:
    """Let Ctrl-C end a block, so that what is finished is printed; if nothing is, the command.

    Parameters
    ----------
    finished : results that the block adds to.
    """
    from ratiolab.model.interrupts import heard

    ended = Ended()
    try:
        with heard():
            yield ended
    except KeyboardInterrupt:
        if not finished:
            raise
        ended.interrupted = True


def end_interrupted(kept: str) -> NoReturn:
    """End a command after Ctrl-C, saying in one line what is kept."""
    typer.echo(kept, err=True)
    raise typer.Exit(INTERRUPTED)


def picture_paths(plot: Path | None, formats: str | None) -> list[Path]:
    """Return where a picture goes: as its ending says, or in every format asked for."""
    if plot is None:
        if formats is not None:
            raise ValueError("--format is for a picture: name its file with --plot")
        return []
    from ratiolab.report.plots import require_format

    if formats is None:
        require_format(plot)
    return pictures(plot, formats)


def provenance(content: "Content", clock: str, seed: int) -> list[tuple[str, str]]:
    """Return what a report says of the command and of its input."""
    import shlex
    import sys

    return [
        ("command", shlex.join(["ratiolab", *sys.argv[1:]])),
        ("file", f"{Path(content.name).name}, SHA-256 {content.digest}"),
        ("clock", clock),
        ("seed", str(seed)),
    ]


def require_folder(option: str, path: Path) -> None:
    """Refuse a folder of input that is not there."""
    if not path.is_dir():
        raise ValueError(f"{option} {str(path)!r}: is no folder")


def settings(pairs: list[str], option: str) -> dict[str, str]:
    """Return the ``name=value`` words of a repeated option as a dictionary."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise ValueError(f"{option} {pair!r} must be name=value")
        if name in values:
            raise ValueError(f"{option} {name!r} is given twice")
        values[name] = value
    return values
