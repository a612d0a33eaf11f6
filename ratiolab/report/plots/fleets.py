"""Pictures of an evaluation of several replicas."""

import numpy as np
import pandas as pd

from ratiolab.evaluation.fleets import FleetEvaluation
from ratiolab.report.plots.canvas import Chart, in_style, new_chart
from ratiolab.report.plots.evaluation import ABOVE
from ratiolab.report.plots.experiments import dots, looks


@in_style
def draw_routers(made: FleetEvaluation) -> Chart:
    """Draw for each policy how many times the bound it is behind each router, over the seeds."""
    bound = made.bounds[made.metric.key]
    table = pd.DataFrame(
        [
            {
                "policy": row.name,
                "router": row.router.name,
                "mean": made.ratio(row),
                "low": min(made.metric.ratio(end, bound) for end in row.ends(made.metric)),
                "high": max(made.metric.ratio(end, bound) for end in row.ends(made.metric)),
            }
            for row in made.rows
            if row.services
        ]
    ).sort_values(["policy", "router"])
    number, routers = table["policy"].nunique(), table["router"].nunique()
    figure = new_chart((8, 1.4 + number * (0.35 + 0.09 * routers)))
    ax = figure.subplots()
    words = f"{made.metric.title} over the proven bound (lines: least and largest over seeds)"
    wide = bool(table["mean"].max() > 4)
    dots(table, "policy", "router", ax, log_x=wide, left=1.0, reference=1.0, x_label=words)
    figure.legend(*ax.get_legend_handles_labels(), **ABOVE)
    return figure


@in_style
def draw_latencies(made: FleetEvaluation, router: str) -> Chart:
    """Draw the share of requests that are served within a time behind one router, by policy."""
    figure = new_chart((8, 3.2))
    ax = figure.subplots()
    rows = [row for row in made.rows if row.router.name == router and row.services]
    look = looks(sorted({row.name for row in made.rows}))
    for row in rows:
        values = np.sort(np.concatenate([service.latency for service in row.services]))
        shares = np.arange(1, len(values) + 1) / len(values)
        mine = look[row.name]
        ax.step(values, shares, where="post", color=mine["color"], ls=mine["ls"], label=row.name)
    ax.set_xscale("log")
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"latency ({made.unit})")
    ax.set_ylabel("share of requests")
    figure.legend(*ax.get_legend_handles_labels(), **ABOVE)
    return figure
