"""Judging a baseline: every entry is computed again, whatever becomes of the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ratiolab.baseline.entries import Drift
from ratiolab.baseline.file import Placed, Unreadable
from ratiolab.model.interrupts import heard


@dataclass(frozen=True)
class Judged:
    """An entry of a baseline with what became of it."""

    placed: Placed
    value: Any = None
    drift: Drift | None = None
    reason: str = ""

    @property
    def failure(self) -> str:
        """The drift or the reason, in one line; empty for an entry that holds."""
        if self.reason:
            what = "read" if isinstance(self.placed.entry, Unreadable) else "computed"
            return f"entry {self.placed.number}: cannot be {what}: {self.reason}"
        return "" if self.drift is None else str(self.drift)

    @property
    def is_fixed(self) -> bool:
        """Whether no update settles a drift of the entry."""
        entry = self.placed.entry
        return not isinstance(entry, Unreadable) and entry.is_fixed

    @property
    def improved(self) -> bool:
        """Whether the entry holds, and a better value is there to be pinned."""
        entry = self.placed.entry
        if self.failure or isinstance(entry, Unreadable):
            return False
        return entry.is_better(self.value)


def judge(placed: Placed, folder: Path, *, allow_policy_files: bool = False) -> Judged:
    """Compute an entry again and compare; an error of any kind is a reason, not an end."""
    entry = placed.entry
    if isinstance(entry, Unreadable):
        return Judged(placed, reason=entry.reason)
    try:
        with heard():
            value = entry.compute(folder, allow_policy_files=allow_policy_files)
    except (ValueError, OSError) as error:
        return Judged(placed, reason=str(error))
    except Exception as error:  # a policy of the user may raise what it likes
        return Judged(placed, reason=f"{type(error).__name__}: {error}")
    return Judged(placed, value, entry.drift(value))


def annotations(file: Path, judged: Sequence[Judged]) -> Iterator[str]:
    """Yield a command for GitHub's runner for each failure: it marks the line of the entry."""
    for each in judged:
        if each.failure:
            yield annotation(file, each.placed.line, each.failure)


def annotation(file: Path, line: int, message: str) -> str:
    """Return the command that marks a line of a file as wrong, for GitHub's runner.

    >>> annotation(Path("pins.json"), 3, "95% of 7")
    '::error file=pins.json,line=3,title=ratiolab check::95%25 of 7'
    """
    place = _escaped(str(file)).replace(":", "%3A").replace(",", "%2C")
    return f"::error file={place},line={line},title=ratiolab check::{_escaped(message)}"


def _escaped(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
