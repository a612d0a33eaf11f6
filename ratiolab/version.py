"""The version of the library, for every layer; files of results record it."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

__version__ = "0.1.0"


@cache
def commit() -> str | None:
    """Return the commit of the checkout that runs, or None for an installed package.

    It ends in ``-dirty`` when tracked files differ from the commit, but for results: pages that one
    program writes one after the other are all of the same commit.
    """
    import subprocess  # not needed by those who ask for the version alone

    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None
    try:
        at, changed = (
            subprocess.run(
                ["git", *words], cwd=root, capture_output=True, text=True, timeout=5, check=True
            ).stdout.strip()
            for words in (
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results"),
            )
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{at}-dirty" if changed else at


def today() -> str:
    """Return the date, in UTC."""
    return datetime.now(UTC).date().isoformat()


def made_by() -> str:
    """Return version, commit and date in words, for the end of a page."""
    at = commit()
    return f"{__version__}{f', commit {at}' if at else ''}, {today()}"
