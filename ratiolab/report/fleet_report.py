"""Reports of an evaluation of several replicas: the table, a page, Markdown, and their charts."""

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ratiolab.evaluation.fleets import FleetEvaluation, FleetRow
from ratiolab.model.files import write_bytes, write_text
from ratiolab.online.registry import rule
from ratiolab.report.evaluation_table import shown
from ratiolab.report.templating import filled
from ratiolab.version import made_by

FORMATS = (".html", ".md")

NOTE = (
    "at most: times the best schedule of all replicas, at most; over a proven bound on every "
    "schedule and router with the same memory, clock and cost of evictions"
)

WORDS = (
    ("dispatch at once", "the router decides when a request arrives, for good"),
    ("central", "late binding: requests stay in one queue until a replica can start them"),
    ("largest share", "requests of the replica with most of them, over the mean of replicas"),
)


def require_fleet_report(path: Path) -> None:
    """Raise ValueError unless the ending of a path names a format of these reports."""
    if path.suffix not in FORMATS:
        raise ValueError(
            f"{path}: a report of several replicas can be {' or '.join(FORMATS)}, not "
            f"{path.suffix!r}"
        )
    if path.is_dir():
        raise ValueError(f"{path}: is a directory, not a file")


def _header(made: FleetEvaluation) -> list[str]:
    others = [metric.title for metric in made.metrics if metric.key != made.metric.key]
    return ["policy", "router", made.metric.title, "at most", *others, "evictions", "largest share"]


def _cells(made: FleetEvaluation, row: FleetRow) -> list[str]:
    others = [m for m in made.metrics if m.key != made.metric.key]
    ratio = made.ratio(row)
    times = "never ends" if ratio != ratio else f"{ratio + 0.0005:.3f}"
    rest = [shown(row.value(metric), metric) for metric in others]
    own = shown(row.value(made.metric), made.metric)
    used = " (in use)" if (row.policy.name, row.router.name) == (made.policy, made.router) else ""
    name = f"{row.router.name}{used}"
    more = f"{row.evictions:,.0f}", f"{row.share:.2f}"
    return [row.policy.name, name, own, times, *rest, *more]


def _bound(made: FleetEvaluation) -> list[str]:
    others = [m for m in made.metrics if m.key != made.metric.key]
    bounds = [shown(made.bounds[metric.key], metric) for metric in others]
    own = shown(made.bounds[made.metric.key], made.metric)
    return ["no schedule is better", "", own, "1", *bounds, "", ""]


def fleet_table(made: FleetEvaluation, width: int | None = None) -> Table:
    """Return the rows of an evaluation of several replicas, the best first.

    The last columns are left out where they do not fit into `width` letters.
    """
    header = _header(made)
    rows = [*(_cells(made, row) for row in made.rows), _bound(made)]
    sizes = [
        max(max(map(len, name.split())), *(len(row[k]) for row in rows))
        for k, name in enumerate(header)
    ]
    kept = len(header)
    while width is not None and kept > 4 and sum(size + 2 for size in sizes[:kept]) > width:
        kept -= 1
    table = Table(
        box=SIMPLE_HEAD,
        title=f"{made.fleet.headline}; evictions: {made.preemption}",
        caption=f"{NOTE}; times in {'rounds' if made.clock is None else 'seconds'}",
        title_justify="left",
        caption_justify="left",
    )
    for name in header[:kept]:
        left = name in ("policy", "router")
        table.add_column("\n".join(name.split()), justify="left" if left else "right")
    for row in rows[:-1]:
        table.add_row(*row[:kept])
    table.add_section()
    table.add_row(*rows[-1][:kept])
    return table


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
    path: Path,
    *,
    provenance: Sequence[tuple[str, str]] = (),
    log: Sequence[str] = (),
) -> None:
    """Write a report, in one step; the charts of a Markdown report stand beside it."""
    from ratiolab.report.plots.evaluation import inline_svg

    require_fleet_report(path)
    figures: list[tuple[str, str, str | Markup]] = []
    for name, (caption, drawn) in charts(made).items():
        if path.suffix == ".html":
            figures.append((name, caption, Markup(inline_svg(drawn, name))))
            continue
        file = path.with_name(f"{path.stem}-{name}.png")
        write_bytes(file, drawn.png(120))
        figures.append((name, caption, file.name))
    header = _header(made)
    first, *advice = made.advice
    policies = {row.policy.name: rule(type(row.policy)) for row in made.rows}
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
        "header": header,
        "narrow": [k < 4 for k in range(len(header))],
        "groups": [
            ("Policies behind routers", [_cells(made, row) for row in made.rows]),
            ("Proven bound", [_bound(made)]),
        ],
        "folded": [],
        "left_out": [],
        "in_use": "(in use)",
        "latex": _latex(made),
        "figures": figures,
        "provenance": [
            *provenance,
            ("instance", f"{made.fleet.name}, digest {made.fleet.digest}"),
            ("source", made.fleet.instance.source or "not stated"),
            ("ratiolab", made_by()),
            ("Python", platform.python_version()),
        ],
    }
    write_text(path, filled(f"evaluation{path.suffix}", slots))


def _latex(made: FleetEvaluation) -> str:
    """Return the rows as LaTeX; needs the package booktabs."""
    rows = [*(_cells(made, row) for row in made.rows), _bound(made)]
    text: str = pd.DataFrame(rows, columns=_header(made)).to_latex(index=False, escape=True)
    return text
