"""The command line: a thin face over the library.

Results go to standard output, as tables or with ``--json`` as one JSON value; progress and errors
go to standard error. Exit code 0 is success, 1 a verdict that is not the expected one or a policy
that broke a rule, 2 bad input, 130 an interrupt that left nothing to report.
"""

import sys

from ratiolab.cli import instances, policies, solving, theory  # noqa: F401 - registers commands
from ratiolab.cli.app import app


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit; errors of the user are one line, never a traceback."""
    import typer

    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away, as `head` does
        sys.exit(141)
    except Exception as error:
        # typer's own errors know how to show themselves; it may carry its own copy of click
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            sys.exit(error.exit_code)
        code = _exit_code(error)
        if code is None:
            raise
        _complain(str(error))
        sys.exit(code)


def _exit_code(error: Exception) -> int | None:
    """2 for bad input, 1 for a policy that broke a rule, None for a fault of our own."""
    from ratiolab.online import InformationError, PolicyError

    if isinstance(error, PolicyError | InformationError):
        return 1
    return 2 if isinstance(error, ValueError | OSError) else None


def _complain(message: str) -> None:
    line = " ".join(message.split())
    print(f"ratiolab: {line}", file=sys.stderr)
