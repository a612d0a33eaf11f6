"""A table of intervals of V(R), kept as a CSV file."""

from collections.abc import Callable, Iterable, Sequence
from math import inf, nan
from pathlib import Path

from ratiolab.game.ranges.finite_range import NEVER_KILL, Enclosure
from ratiolab.game.ranges.play import LARGEST, enclose
from ratiolab.model.files import csv_table, write_csv
from ratiolab.model.instance import shown

HEAD = "ratio", "lower", "upper", "never_kill"


def ratios(most: float) -> list[float]:
    """Return the factors of the table: where killing begins to help, doubled to 512, then fourfold.

    Raise ValueError when the largest is beyond what `enclose` searches.

    >>> [round(ratio, 3) for ratio in ratios(9)]
    [1.0, 1.5, 2.0, 2.618, 3.0, 4.0, 6.0, 8.0]
    >>> ratios(5000)[-3:]
    [512.0, 1024.0, 4096.0]
    """
    if not 1 <= most <= LARGEST:
        raise ValueError(f"most {most:g} must be between 1 and {LARGEST:g}")
    doubled = [2.0**k for k in (*range(2, 10), *range(10, LARGEST.bit_length(), 2))]
    few = [1.0, 1.5, 2.0, NEVER_KILL, 3.0, *doubled, 6.0]
    return sorted(ratio for ratio in few if ratio <= most)


def rows(
    chosen: Iterable[float],
    gap: float,
    known: Sequence[Enclosure] = (),
    tell: Callable[[float], None] = lambda _: None,
    keep: Callable[[list[Enclosure]], None] = lambda _: None,
) -> list[Enclosure]:
    """Return intervals in ascending order; compute each that is not known to the gap.

    V(R) does not fall as R grows, so that neighbours may make each other closer.

    Parameters
    ----------
    tell : called before a range is computed.
    keep : called after it with all rows that are known.

    Raises
    ------
    KeyboardInterrupt
        after Ctrl-C; what was computed was kept.
    """
    by_ratio = {row.ratio: row for row in known}
    wanted = sorted(set(chosen))
    for ratio in wanted:
        if ratio not in by_ratio or by_ratio[ratio].gap > gap:
            tell(ratio)
            found = enclose(ratio, gap)
            by_ratio[ratio] = found.enclosure
            keep(sorted(by_ratio.values(), key=lambda row: row.ratio))
            if found.interrupted:
                raise KeyboardInterrupt
    ordered = [by_ratio[ratio] for ratio in wanted]
    return [
        Enclosure(
            row.ratio,
            max(one.lower for one in ordered[: k + 1]),
            min(one.upper for one in ordered[k:]),
            row.never_kill,
        )
        for k, row in enumerate(ordered)
    ]


def write_rows(found: Sequence[Enclosure], path: Path) -> None:
    """Write a table in one step."""
    write_csv(path, HEAD, ([getattr(row, name) for name in HEAD] for row in found))


def read_rows(path: Path) -> list[Enclosure]:
    """Read a table; FormatError names file, line, column, value and rule of what is not one."""
    return csv_table(path, HEAD, _row)


def _row(cells: dict[str, str], line: int) -> Enclosure:
    values = []
    for name, text in cells.items():
        try:
            value = float(text)
        except ValueError:
            value = nan
        if not 1 <= value < inf:
            raise ValueError(f"line {line}: {name} {shown(text)} must be a number of at least 1")
        values.append(value)
    row = Enclosure(*values)
    if row.lower > row.upper:
        raise ValueError(f"line {line}: lower {row.lower} must not be above upper {row.upper}")
    return row
