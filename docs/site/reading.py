"""The lines of what the architecture page tells to read: ``python docs/site/reading.py``."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/architecture.md"

TABLE = re.compile(r"(?<=<!-- lines -->\n)(?:\|.*\n)+")
"""A table whose rows name files and folders of the package in their first column."""


def modules(row: str) -> list[Path]:
    """Return the modules that a row names and no row before it does."""
    rows = [each for table in tables() for each in table]
    earlier = {path for each in rows[: rows.index(row)] for path in named(each)}
    return [path for path in named(row) if path not in earlier]


def named(row: str) -> list[Path]:
    """Return the modules that a row names in its first column, with the contents of folders."""
    found: list[Path] = []
    for name in re.findall(r"`([^`]+)`", row.split("|")[1]):
        if name.endswith(".py"):
            found += sorted((ROOT / "ratiolab").glob(name))
        else:
            found += sorted((ROOT / "ratiolab" / name).rglob("*.py"))
    return found


def lines(row: str) -> int:
    """Count the lines of the modules that a row names."""
    return sum(path.read_text().count("\n") for path in modules(row))


def tables() -> list[list[str]]:
    """Return the rows of each table of the page."""
    return [found.splitlines()[2:] for found in TABLE.findall(PAGE.read_text())]


def with_lines(page: str) -> str:
    """Return a page with the lines of each row, and of all, in a last column of its tables."""

    def counted(found: re.Match[str]) -> str:
        head, rule, *rows = found[0].splitlines()
        numbers = [lines(row) for row in rows]
        table = [f"{head} lines |", f"{rule}---:|"]
        table += [f"{row} {number:,} |" for row, number in zip(rows, numbers, strict=True)]
        return "\n".join([*table, f"| all | | {sum(numbers):,} |", ""])

    return TABLE.sub(counted, page)


if __name__ == "__main__":
    print("\n\n".join(TABLE.findall(with_lines(PAGE.read_text()))))
