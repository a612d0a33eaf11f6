"""Reports of an evaluation of several replicas: the table, a page, Markdown, and their charts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from ratiolab.evaluation.fleets import FleetEvaluation, FleetRow
from ratiolab.evaluation.service import Metric
from ratiolab.model.files import PathLike
from ratiolab.online.registry import rule
from ratiolab.report.evaluation_table import IN_USE, Cells, report_table, shown

FORMATS = (".html", ".md")
LAST = "largest share"

NOTE = (
    "at most: times the best schedule of all replicas, at most; over a proven bound on every "
    "schedule and router with the same memory, clock and cost of evictions"
)

WORDS = (
    ("dispatch at once", "the router decides when a request arrives, for good"),
    ("central", "late binding: requests stay in one queue until a replica can start them"),
    (LAST, "requests of the replica with most of them, over the mean of replicas"),
)


def require_fleet_report(path: PathLike) -> Path:
    """Return a path whose ending names a format of these reports; raise ValueError for others."""
    from ratiolab.report.evaluation_report import require_report_format

    return require_report_format(path, FORMATS, " of several replicas")


def fleet_cells(made: FleetEvaluation) -> Cells:
    """Return the table of an evaluation of several replicas, the best rows first."""
    others = [metric for metric in made.metrics if metric.key != made.metric.key]
    titles = (metric.title for metric in others)
    names = ["policy", "router", made.metric.title, "at most", *titles, "evictions", LAST]
    own, *rest = (shown(made.bounds[metric.key], metric) for metric in (made.metric, *others))
    bound = ["no schedule is better", "", own, "1", *rest, "", ""]
    rows = [_row(made, row, others) for row in made.rows]
    return Cells(names, [("Policies behind routers", rows), ("Proven bound", [bound])], [])


def _row(made: FleetEvaluation, row: FleetRow, others: Sequence[Metric]) -> list[str]:
    ratio = made.ratio(row)
    times = "never ends" if ratio != ratio else f"{ratio + 0.0005:.3f}"
    own, *rest = (shown(row.value(metric), metric) for metric in (made.metric, *others))
    in_use = (row.name, row.router.name) == (made.policy, made.router)
    name = f"{row.router.name} ({IN_USE})" if in_use else row.router.name
    more = f"{row.evictions:,.0f}", f"{row.share:.2f}"
    return [row.name, name, own, times, *rest, *more]


def fleet_table(made: FleetEvaluation, width: int | None = None) -> Table:
    """Return the rows of an evaluation of several replicas.

    The last columns are left out where they do not fit into `width` letters.
    """
    found = fleet_cells(made)
    return report_table(
        found,
        width,
        found.names[:3:-1],
        title=f"{made.fleet.headline}; evictions: {made.preemption}",
        caption=f"{NOTE}; times in {'rounds' if made.clock is None else 'seconds'}",
    )


def charts(made: FleetEvaluation) -> dict[str, tuple[str, Any]]:
    """Return the pictures of a report by name, each with its caption.

    One compares the routers; then each router has one of the latencies under every policy.
    """
    from ratiolab.report.plots.fleets import draw_latencies, draw_routers

    first = "How far each policy is from the best schedule at most, behind each router"
    pictures: dict[str, tuple[str, Any]] = {"routers": (first, draw_routers(made))}
    for router in dict.fromkeys(row.router.name for row in made.rows):
        caption = f"Latency of requests behind {router}"
        pictures[f"latency-{router}"] = caption, draw_latencies(made, router)
    return pictures


def write_fleet_report(
    made: FleetEvaluation,
    path: PathLike,
    *,
    provenance: Sequence[tuple[str, str]] = (),
    log: Sequence[str] = (),
) -> None:
    """Write a report, in one step; the charts of a Markdown report stand beside it."""
    from ratiolab.report.evaluation_report import made_from, write_slots

    path = require_fleet_report(path)
    table = fleet_cells(made)
    first, *advice = made.advice
    policies = {row.name: rule(type(row.policy)) for row in made.rows}
    routers = {row.router.name: rule(type(row.router)) for row in made.rows}
    clock = "unit rounds" if made.clock is None else repr(made.clock)
    sizes = [f"{m:,}" for m in made.fleet.memories[: 1 if made.fleet.equal else None]]
    slots: dict[str, Any] = {
        "title": f"Routers and schedulers on {made.fleet.headline}",
        "situation": made.situation,
        "log": list(log),
        "recommendation": first,
        "lines": advice,
        "setting": [
            ("replicas", f"{made.fleet.replicas:,}"),
            ("memory of each", f"{'; '.join(sizes)} tokens"),
            ("requests", f"{len(made.fleet):,}"),
            ("clock", clock),
            ("cost of an eviction", made.preemption),
        ],
        "rules": [*routers.items(), *policies.items()],
        "words": list(WORDS),
        "note": f"{NOTE[0].upper()}{NOTE[1:]}.",
        "header": table.names,
        "narrow": [k < 4 for k in range(len(table.names))],
        "groups": table.groups,
        "folded": table.folded,
        "left_out": [],
        "in_use": f"({IN_USE})",
        "provenance": [*provenance, *made_from(made.fleet.instance, made.fleet.digest)],
    }
    write_slots(slots, charts(made), path)
