"""An evaluation as a table: its cells for every report, and the table of the terminal."""

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ratiolab.evaluation.advice import figure
from ratiolab.evaluation.result import Evaluation
from ratiolab.evaluation.row import Row
from ratiolab.evaluation.service import Metric

IN_USE = "in use"

DISPENSABLE = ("evictions", "P99 TTFT", "mean TPOT", "P99 latency", "mean TTFT", "P99 TPOT")
"""Columns that a narrow table leaves out, in this order."""

NOTE = (
    "at most: times the best schedule, at most; over a proven bound on every schedule with the "
    "same memory, clock and cost of evictions"
)


class Cells(NamedTuple):
    """The table of an evaluation in words."""

    names: list[str]
    groups: list[tuple[str, list[list[str]]]]
    folded: list[str]


def cells(made: Evaluation) -> Cells:
    """Return the table of an evaluation: rows worth a line, and a summary of all other rows.

    Of policies that know every output length the best is a yardstick for all.
    """
    others = [metric for metric in made.metrics if metric.key != made.metric.key]
    names = ["policy", made.metric.title, "at most", *(m.title for m in others), "evictions"]
    groups = [
        (title, [each for row in rows for each in _rows(made, row, others)])
        for title, rows in made.listed
    ]
    kept = {row.name for _, rows in made.listed for row in rows}
    left = [row for row in made.rows if row.name not in kept]
    hopeless = [row.name for row in left if made.hopeless(row)]
    yardsticks = [row.name for row in left if not made.hopeless(row)]
    bounds = [shown(made.bounds[metric.key], metric) for metric in (made.metric, *others)]
    groups.append(("Proven bound", [["no schedule is better", bounds[0], "1", *bounds[1:], ""]]))
    return Cells(names, groups, _folded(made, hopeless, yardsticks))


def _rows(made: Evaluation, row: Row, others: Sequence[Metric]) -> list[list[str]]:
    """Return the row of a policy; for a log that does not know all requests, also its own bound."""
    found = _row(made, row, others)
    known = sum(int(np.isfinite(each.latency).sum()) for each in row.services)
    if row.policy is not None or known == len(made.instance):
        return [found]
    found[0] = f"{row.name} ({known:,} of {len(made.instance):,})"
    bounds = row.bounds or made.bounds
    own = [shown(bounds[metric.key], metric) for metric in (made.metric, *others)]
    if all(value == "-" for value in own):
        return [found]
    return [found, ["bound on these", own[0], "1", *own[1:], ""]]


def _row(made: Evaluation, row: Row, others: Sequence[Metric]) -> list[str]:
    name = f"{row.name} ({IN_USE})" if row.name == made.current else row.name
    rest = [shown(row.value(metric), metric) for metric in others]
    evictions = "" if row.policy is None else f"{row.evictions:,.0f}"
    own = shown(row.value(made.metric), made.metric)
    return [name, own, ratio_words(made, row), *rest, evictions]


def _folded(made: Evaluation, hopeless: list[str], yardsticks: list[str]) -> list[str]:
    lines = []
    if hopeless:
        worst = max((made.row(name).value(made.metric) for name in hopeless), default=0.0)
        end = "" if isnan(worst) else f" (up to {shown(worst, made.metric)} {made.unit})"
        lines.append(
            f"More than 3 times the {made.metric.title} of {made.current}, or without an end: "
            f"{', '.join(hopeless)}{end}."
        )
    if yardsticks:
        lines.append(f"Also know every output length, as no server does: {', '.join(yardsticks)}.")
    return lines


def evaluation_table(made: Evaluation, width: int | None = None) -> Table:
    """Return the policies that are ready to deploy, then policies that need more, then the log.

    Columns that do not fit into `width` letters are left out.
    """
    return report_table(
        cells(made),
        width,
        [name for name in DISPENSABLE if name != made.metric.title],
        title=f"{made.instance.headline}; evictions: {made.preemption}",
        caption=f"{NOTE}; times in {'rounds' if made.clock is None else 'seconds'}",
    )


def report_table(
    found: Cells, width: int | None, dispensable: Sequence[str], *, title: str, caption: str
) -> Table:
    """Return cells as a table; as many dispensable columns as needed are left out, in order."""
    names, groups, _ = found
    rows = [row for _, group in groups for row in group]
    sizes = {
        name: max(max(map(len, name.split())), *(len(row[k]) for row in rows))
        for k, name in enumerate(names)
    }
    dropped: list[str] = []
    for name in dispensable:
        if width is None or sum(size + 2 for size in sizes.values()) + 1 <= width:
            break
        if name in sizes:
            del sizes[name]
            dropped.append(name)
    if dropped:
        caption += f"\na wider terminal also shows {', '.join(dropped)}; so does --json"
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
    )
    for name in sizes:
        left = name in ("policy", "router")
        table.add_column(
            "\n".join(name.split()) if not left else name,
            justify="left" if left else "right",
            no_wrap=True,
            overflow="fold",
            vertical="bottom",
        )
    kept = [k for k, name in enumerate(names) if name in sizes]
    for group_title, group in groups:
        if len(groups) > 2:
            table.add_row(_fitting(group_title, sizes["policy"]), style="bold")
        for row in group:
            table.add_row(*(row[k] for k in kept))
        table.add_section()
    return table


def _fitting(title: str, width: int) -> str:
    """Return the title of a group within the column of the policies, over several lines."""
    import textwrap

    return "\n".join(textwrap.wrap(title, max(width, 12)))


def ratio_words(made: Evaluation, row: Row) -> str:
    """Return how far a row is from the best schedule at most, rounded up."""
    ratio = made.ratio(row)
    if isnan(ratio):
        return "-" if row.services else "never ends"
    return f"{ratio + 0.0005:.3f}" if ratio < 1e6 else "inf"


def shown(value: float, metric: Metric) -> str:
    """Return a value of a metric: a share of requests, or a time."""
    if isnan(value):
        return "-"
    return f"{value:.1%}" if metric.key == "goodput" else figure(value)
