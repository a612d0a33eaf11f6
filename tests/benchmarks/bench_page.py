"""Where benchmarks write: their tables, and their sections of `results/benchmarks.md`."""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ratiolab.model.files import write_text
from ratiolab.report.templating import unsigned, write_page

RESULTS = Path(__file__).resolve().parents[2] / "results"


def kept(
    name: str,
    columns: Sequence[str],
    line: dict[str, str],
    place: Callable[[dict[str, str]], Any],
) -> list[dict[str, str]]:
    """Write a line to a table in place of the one it had, and return all lines in order.

    Parameters
    ----------
    name : of the table's file.
    place : returns what orders the lines, each with its own; None for one that is not kept.
    """
    path, old = RESULTS / name, list[dict[str, str]]()
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            old = list(csv.DictReader(file))
    known = {place(each): each for each in (*old, line)}
    lines = [known[at] for at in sorted(at for at in known if at is not None)]
    text = "\n".join(",".join(f'"{row[c]}"' for c in columns) for row in lines)
    write_text(path, ",".join(columns) + "\n" + text + "\n")
    return lines


def put(name: str, lines: Iterable[str]) -> None:
    """Put the lines of a section in their place on the page of benchmarks, and sign the page."""
    path = RESULTS / "benchmarks.md"
    head, _, rest = unsigned(path.read_text("utf-8")).partition(f"<!-- {name} -->\n")
    tail = rest.partition(f"<!-- end of {name} -->")[2]
    body = "\n".join(lines)
    write_page(path, f"{head}<!-- {name} -->\n\n{body}\n\n<!-- end of {name} -->{tail}")
