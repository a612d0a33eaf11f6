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
        behind: BaseException | None = error
        while behind is not None:  # such errors may stand behind each other
            if isinstance(behind, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            behind = behind.__cause__ or behind.__context__
        raise


class Interruptible:
    """A result that says whether Ctrl-C ended it early."""

    interrupted: bool

    def uninterrupted(self) -> Self:
        """Return the result itself, for whoever stores it as finished.

        Raises
        ------
        KeyboardInterrupt
            when Ctrl-C ended it: what it has holds, but is not all.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        return self
