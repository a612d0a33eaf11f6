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
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
