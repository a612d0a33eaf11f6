"""The options of `bench_targets`, read and held against what there is."""

import argparse
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TypeAlias

Rows: TypeAlias = tuple[int, ...]


def read(
    about: str, parts: Sequence[str], default: Sequence[str], rows_of: Mapping[str, Rows]
) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """Return the parser, which ends the process with a message, and the options.

    Parameters
    ----------
    parts : all there are. default : those that are run where none is named.
    rows_of : numbers of the rows of each part of which single rows can be chosen.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--limit", type=seconds, default=60)
    parser.add_argument("--long", type=float, default=0, help="seconds of a second, longer solve")
    parser.add_argument("--seeds", type=count, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument(
        "--rows", type=_rows, default=(), help="rows of `traces`, sizes of others: 0,3"
    )
    parser.add_argument("--write", type=Path, help="also write the sections of this page")
    wish = parser.parse_args()
    wish.parts = wish.parts or list(default)
    for part in wish.parts:
        if part not in parts:
            parser.error(f"part {part!r} must be one of {', '.join(parts)}")
    known = [row for part in wish.parts for row in rows_of.get(part, ())]
    for row in wish.rows:
        if row not in known:
            there = ", ".join(map(str, known))
            rule = f"must be one of {there}" if known else "is of none of these parts"
            parser.error(f"argument --rows: {row} {rule}")
    return parser, wish


def seconds(text: str) -> float:
    if not 0 < (value := float(text)) < inf:
        raise argparse.ArgumentTypeError(f"{text} must be positive and finite")
    return value


def count(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 1")
    return value


def _rows(text: str) -> Rows:
    try:
        return tuple(int(row) for row in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers with commas between") from None
