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
    words = ["git", "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    words += ["--", ".", ":!results"]
    try:
        told = subprocess.run(
            words, cwd=root, capture_output=True, text=True, timeout=5, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    lines = told.splitlines()
    at = lines[0].removeprefix("# branch.oid ")[:12]
    return at if all(line.startswith("#") for line in lines) else f"{at}-dirty"


def today() -> str:
    """Return the date, in UTC."""
    return datetime.now(UTC).date().isoformat()


def made_by() -> str:
    """Return version, commit and date in words, for the end of a page."""
    at = commit()
    return f"{__version__}{f', commit {at}' if at else ''}, {today()}"
