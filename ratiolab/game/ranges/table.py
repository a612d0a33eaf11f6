"""A table of what encloses V(R), kept as a CSV file."""

import csv
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from math import log
from pathlib import Path

from ratiolab.game.ranges.play import enclose
from ratiolab.model.files import write_text
from ratiolab.theory.limits.finite_range import NEVER_KILL, Enclosure

HEAD = "ratio", "lower", "upper", "never_kill"


def ratios(most: float) -> list[float]:
    """Return the factors of the table: 1, 2, where killing begins to help, then doubled to most.

    >>> [round(ratio, 3) for ratio in ratios(9)]
    [1.0, 1.5, 2.0, 2.618, 3.0, 4.0, 6.0, 8.0]
    """
    doubled = [2.0**k for k in range(2, int(log(most, 2) + 1e-9) + 1)]
    few = [1.0, 1.5, 2.0, NEVER_KILL, 3.0, *doubled, 6.0]
    return sorted(ratio for ratio in few if ratio <= most)


def rows(
    chosen: Iterable[float],
    gap: float,
    known: Sequence[Enclosure] = (),
    tell: Callable[[float], None] = lambda _: None,
    keep: Callable[[list[Enclosure]], None] = lambda _: None,
) -> list[Enclosure]:
    """Return enclosures, computing those that are not known to the gap, in ascending order.

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
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows([getattr(row, name) for name in HEAD] for row in found)
    write_text(path, text.getvalue())


def read_rows(path: Path) -> list[Enclosure]:
    """Read a table; ValueError names the file and line of what is not one."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if tuple(next(reader, [])) != HEAD:
            raise ValueError(f"{path}: columns must be {', '.join(HEAD)}")
        try:
            return [Enclosure(*map(float, cells)) for cells in reader]
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: line {reader.line_num}: {error}") from None
