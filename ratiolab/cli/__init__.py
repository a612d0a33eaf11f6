"""The command line: a thin face over the library.

Results go to standard output, as tables or with ``--json`` as one JSON value; progress and errors
go to standard error. Exit code 0 is success, 1 a verdict that is not the expected one or a policy
that broke a rule, 2 bad input, 130 an interrupt that left nothing to report.
"""

import sys

from ratiolab.cli.app import app


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit; errors of the user are one line, never a traceback."""
    import click

    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away, as `head` does
        sys.exit(141)
    except (ValueError, OSError) as error:
        _complain(str(error))
        sys.exit(2)
    except Exception as error:
        from ratiolab.online import PolicyError

        if not isinstance(error, PolicyError):
            raise
        _complain(str(error))
        sys.exit(1)


def _complain(message: str) -> None:
    line = " ".join(message.split())
    print(f"ratiolab: {line}", file=sys.stderr)
