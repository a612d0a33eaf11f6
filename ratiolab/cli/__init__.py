"""The command line: a thin face over the library.

Results go to standard output, as tables or with ``--json`` as one JSON value; progress and errors
go to standard error. Exit code 0 is success, 1 a verdict that is not the expected one or a policy
that broke a rule, 2 bad input, 3 a certificate that is refused unchecked because checking it takes
too much, 130 an interrupt, also where what it left is reported, 141 a reader that left before the
end of the output.
"""

import atexit
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from time import monotonic
from typing import Any, TextIO

REFUSED = 3
INTERRUPTED = 130
READER_LEFT = 141
"""As a shell reports what a closed pipe ends: 128 and the number of the signal SIGPIPE."""

PAUSE = 1.0
"""Seconds in which Ctrl-C is heard once: a program around this one may forward the signal that the
terminal has sent already, while what is finished is printed."""

_kept_for_json: list[TextIO] = []


def json_output() -> TextIO:
    """Return the stream that JSON values go to: standard output, from which all else is kept."""
    return _kept_for_json[-1] if _kept_for_json else sys.stdout


@contextmanager
def _for_json_alone(arguments: Sequence[str]) -> Iterator[None]:
    """With ``--json``, send to standard error what anything but `json_output` prints.

    A policy of the user may print, in this process or in a child process.
    """
    if "--json" not in arguments or {"--help", "-h"} & set(arguments):
        yield
        return
    kept, descriptor = sys.stdout, None
    if kept is sys.__stdout__ and kept is not None:
        kept.flush()
        descriptor = os.dup(1)
        os.dup2(2, 1)
        kept = open(descriptor, "w", encoding=kept.encoding, errors="replace")  # noqa: PTH123, SIM115
    _kept_for_json.append(kept)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept_for_json.pop()
        try:
            kept.flush()
        finally:
            if descriptor is not None:
                os.dup2(descriptor, 1)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit; errors of the user are one line, never a traceback."""
    _open_closed_output()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a letter that the terminal lacks is no error
            stream.reconfigure(errors="replace")
    # what is done stays done: Ctrl-C while Python itself ends is no failure
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    code = 0
    try:
        code = _code_of(arguments)
        sys.stdout.flush()  # here, as Python would report a closed pipe at its end
    except BrokenPipeError:
        code = code or READER_LEFT
        _drop_output()
    sys.exit(code)


def _code_of(arguments: list[str] | None) -> int:
    """Run one command, report its error, and return the exit code.

    `BrokenPipeError` when the reader of the output has left.
    """
    try:  # imports belong inside: Ctrl-C may come while they run
        from ratiolab.cli.commands import app

        words = sys.argv[1:] if arguments is None else arguments
        with _for_json_alone(words), _pipe_errors(), _heard_once():
            code = app(arguments, prog_name="ratiolab", standalone_mode=False) or 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if isinstance(error, BrokenPipeError) and error.filename is None:
            raise
        code = _exit_code(error)
        if code != INTERRUPTED:
            own = _in_own_policy(error)
            if own:
                code = 1
            elif code is None:
                raise
            _complain(own or _message(error))
    except BaseException as error:  # of a property of a policy, say
        if not (own := _in_own_policy(error)):
            raise
        code = 1
        _complain(own)
    if code == INTERRUPTED:  # typer, too, turns Ctrl-C into this
        _complain("interrupted")
    return int(code)


@contextmanager
def _heard_once() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, but at most once in a `PAUSE`."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # in the background of a shell
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    last = -PAUSE

    def interrupt(*_: Any) -> None:
        nonlocal last
        if monotonic() - last >= PAUSE:
            last = monotonic()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _open_closed_output() -> None:
    """Give the null device to an output stream that the caller has closed."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_WRONLY)
            if null != descriptor:  # else a file that is written would take its place
                os.dup2(null, descriptor)
                os.close(null)
            setattr(sys, name, open(descriptor, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _drop_output() -> None:
    """Send the rest of the output, which Python writes when it ends, to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    os.close(null)


@contextmanager
def _pipe_errors() -> Iterator[None]:
    """Raise the error of a broken pipe where typer and rich end the process with exit code 1."""
    try:
        yield
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None
        raise


def _exit_code(error: Exception) -> int | None:
    """Return 2 for bad input, 1 for a policy that broke a rule, None for our own fault."""
    code = getattr(error, "exit_code", None)  # typer's usage errors; it brings its own click
    if isinstance(code, int):
        return code
    from ratiolab.model.interrupts import is_interrupt
    from ratiolab.online import InformationError, PolicyError

    if is_interrupt(error):
        return INTERRUPTED
    if isinstance(error, PolicyError | InformationError):
        return 1
    return 2 if isinstance(error, ValueError | OSError | MemoryError) else None


def _message(error: Exception) -> str:
    """Return the error in one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'the input is too large; take fewer requests'}"
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        where = "ratiolab" if context is None else context.command_path
        message = error.format_message().rstrip(".")
        # without a command there is no message: the help itself has been shown
        return f"{message} (see `{where} --help`)" if message else ""
    return str(error)


def _in_own_policy(error: BaseException) -> str:
    """Return where a policy of the user's raised an error of its own; empty for another error.

    The rules that `PolicyError` states are broken by what a policy returns; this is a policy that
    did not get so far.
    """
    trace = error.__traceback__
    last = None
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").startswith("ratiolab_user_"):
            last = trace
        trace = trace.tb_next
    place = None if last is None else (last.tb_frame.f_code.co_filename, str(last.tb_lineno))
    if place is None and error.__cause__ is not None:  # in a worker: its frames are text
        names = (n for n in sys.modules if n.startswith("ratiolab_user_"))
        files = {getattr(sys.modules[name], "__file__", None) for name in names}
        told = re.findall(r'File "(.+)", line (\d+)', str(error.__cause__))
        place = next((found for found in reversed(told) if found[0] in files), None)
    if place is None:
        return ""
    from ratiolab.online import InformationError, PolicyError
    from ratiolab.online.user_policy import PolicyExitError

    if isinstance(error, PolicyError | InformationError):
        return ""
    what = str(error) if isinstance(error, PolicyExitError) else f"{type(error).__name__}: {error}"
    return f"{place[0]}, line {place[1]}: {what}"


def _complain(message: str) -> None:
    # a name may hold control characters, which the terminal would obey
    line = "".join(map(_visible, " ".join(message.split())))
    if line:
        print(f"ratiolab: {line}", file=sys.stderr)


def _visible(letter: str) -> str:
    return letter if letter.isprintable() else ascii(letter)[1:-1]
