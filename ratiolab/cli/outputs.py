"""Files that a command writes, checked before its work: none is a folder, an input or another.

An option of a file that is written is declared with ``writable=True``. Every command is a
`Command`, which needs nothing else to check these options.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.core import TyperCommand

MAY_NAME_A_FILE = ("clock", "policy", "policies", "current")
"""Parameters of text that may name a file to read: a profile, or ``file.py:Class``."""

STANDARD_INPUT = Path("/dev/stdin")


class Command(TyperCommand):
    """A command that checks the files to write, and points from mistakes to its own help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:  # the parser does not always say where it was
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless a file that it writes would destroy another."""
        outputs: dict[str, Path] = {}
        inputs: list[Path] = []
        files = files_of(self.callback)
        for param in self.get_params(ctx):
            value = ctx.params.get(param.name)
            if value is None:
                continue
            if files.get(param.name):
                option, path = max(param.opts, key=len), Path(value)
                named = pictures(path, ctx.params.get("formats")) if option == "--plot" else [path]
                outputs |= {f"{option} {path}": path for path in named}
            elif param.name in files:
                each = value if isinstance(value, list | tuple) else [value]
                inputs += (STANDARD_INPUT if str(path) == "-" else Path(path) for path in each)
            elif param.name in MAY_NAME_A_FILE:
                inputs += _named_in(value)
        require_apart(outputs, inputs)
        return super().invoke(ctx)


def pictures(plot: Path, formats: str | None) -> list[Path]:
    """Return where a picture goes: as its ending says, or in every format asked for."""
    if formats is None:
        return [plot]
    from ratiolab.report.plots import formats_of

    return [plot.with_suffix(f".{kind}") for kind in formats_of(formats)]


def require_apart(outputs: Mapping[str, Path], inputs: Iterable[Path] = ()) -> None:
    """Refuse outputs that are folders, inputs or one file; the keys name them in the message."""
    if not outputs:
        return
    from ratiolab.model.files import STREAMS

    for name, path in outputs.items():
        if str(path) == "-":
            raise ValueError(f"{name}: a file must be named; /dev/stdout is standard output")
        if path.is_dir():
            raise ValueError(f"{path}: is a directory, not a file")
    # devices and pipes lose nothing when they are written to twice
    files = {
        name: path
        for name, path in outputs.items()
        if str(path) not in STREAMS and (path.is_file() or not path.exists())
    }
    seen: dict[str, Path] = {}
    for name, path in files.items():
        if any(_is_one_file(path, read) for read in inputs):
            raise ValueError(f"{name} would overwrite an input of the command; choose another name")
        for other, written in seen.items():
            if _is_one_file(path, written):
                raise ValueError(f"{other} and {name} are one file; choose two names")
        seen[name] = path


def files_of(command: Any) -> dict[str, bool]:
    """Return which parameters of a command's function name files, and whether it writes these."""
    return {
        name: any(getattr(about, "writable", False) for about in hint.__metadata__)
        for name, hint in get_type_hints(command, include_extras=True).items()
        if _is_path(hint)
    }


def _is_path(hint: object) -> bool:
    """Tell whether a type is a path, or holds one."""
    return hint is Path or any(map(_is_path, get_args(hint)))


def _named_in(words: str | Iterable[str]) -> Iterator[Path]:
    """Return the files that a text with commas may name, or several texts."""
    if not isinstance(words, str):
        for each in words:
            yield from _named_in(each)
        return
    for word in words.split(","):
        stem, own, _ = word.strip().rpartition(".py:")
        yield Path(f"{stem}.py" if own else word.strip())


def _is_one_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, by links too, or where case does not matter."""
    if os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other)):
        return True
    try:
        return one.samefile(other)
    except OSError:  # a file that is not there yet
        return False
