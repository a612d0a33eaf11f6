"""Ctrl-C: in compiled code that hands its answer over, and in results that it ended early."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


@contextmanager
def heard() -> Iterator[None]:
    """Raise KeyboardInterrupt where Ctrl-C ended compiled code as a SystemError.

    Signals are heard where Python runs, and compiled code runs a little when it makes arrays of its
    answer. The error that comes of it is of the interpreter's own kind, which no one expects.
    """
    try:
        yield
    except SystemError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is a SystemError that Ctrl-C caused, maybe behind others."""
    behind: BaseException | None = error if isinstance(error, SystemError) else None
    while behind is not None:
        if isinstance(behind, KeyboardInterrupt):
            return True
        behind = behind.__cause__ or behind.__context__
    return False


class Interruptible:
    """A result that says whether Ctrl-C ended it early."""

    interrupted: bool

    def uninterrupted(self) -> Self:
        """Return the result itself, for callers that store it as finished.

        Raises
        ------
        KeyboardInterrupt
            when Ctrl-C ended it: what it has holds, but is not all.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        return self
