"""Ctrl-C that comes while compiled code hands its answer over."""

from collections.abc import Iterator
from contextlib import contextmanager


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
