"""The page of the record library: gaps by family, and the whole table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from ratiolab.records.library import recipes
from ratiolab.records.record import Record, read_records
from ratiolab.records.store import TABLE
from ratiolab.report import templating
from ratiolab.report.templating import filled

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Format

PAGE, PICTURE = "records.md", "records.png"
PNG: "tuple[Format, ...]" = ("png",)


def write_page(results: Path, formats: "Sequence[Format]" = PNG) -> list[Path]:
    """Write the page and its picture into the folder of the table, and return their paths."""
    from ratiolab.report.plots.canvas import save_all
    from ratiolab.report.plots.records import gaps

    families = by_family(read_records(results / TABLE))
    templating.write_page(results / PAGE, page(families))
    return [results / PAGE, *save_all(gaps(families), results / PICTURE, formats)]


def by_family(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return records by the family of their instance, in the order of the library, others last."""
    known = {recipe.name: recipe.family for recipe in recipes()}
    families: dict[str, list[Record]] = {family: [] for family in known.values()}
    for record in records:
        families.setdefault(known.get(record.instance, "other"), []).append(record)
    return {family: own for family, own in families.items() if own}


def page(families: Mapping[str, Sequence[Record]]) -> str:
    """Return the page as Markdown."""
    everything = [record for own in families.values() for record in own]
    summaries = [_summary(family, own) for family, own in families.items()]
    tables = {family: map(_row, own) for family, own in families.items()}
    summaries.append(_summary("all", everything))
    return filled("records.md", {"summaries": summaries, "families": tables})


def _summary(family: str, records: Sequence[Record]) -> list[Any]:
    counts = [
        sum(r.status == status for r in records) for status in ("certified", "proved", "open")
    ]
    gaps = [float(record.gap) for record in records]
    return [family, len(records), *counts, f"{median(gaps):.2%}", f"{max(gaps):.2%}"]


def _row(record: Record) -> list[Any]:
    name = f"[{record.instance.rpartition('/')[2]}](../instances/{record.instance}.json)"
    return [
        *(name, record.requests, record.memory, f"{record.lower:,}", f"{record.upper:,}"),
        *(f"{float(record.gap):.2%}", _status(record), record.lower_by, record.upper_by),
        f"{record.seconds:.0f}",
    ]


def _status(record: Record) -> str:
    """Return the status, and what proves the part that the certificate does not."""
    if record.status == "proved":
        return f"proved by {record.proved_by}"
    if record.proved > record.lower:
        return f"open above {record.proved:,} ({record.proved_by})"
    return record.status
