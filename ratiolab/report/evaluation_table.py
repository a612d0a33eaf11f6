"""An evaluation as a table for the terminal."""

from math import isnan

from rich.table import Table

from ratiolab.ratio.evaluation import Evaluation, Row
from ratiolab.ratio.service import Metric


def evaluation_table(made: Evaluation) -> Table:
    """Return the policies that can be deployed, then those that know everything, then the log."""
    clock = "rounds" if made.clock is None else "seconds"
    table = Table(
        title=f"{made.instance.headline}; {clock}, evictions: {made.preemption}",
        caption="at most: over a certified bound on every schedule under the same clock and "
        "semantics, so the distance from the best schedule is at most that",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("policy")
    table.add_column("knows")
    table.add_column(made.metric.title, justify="right")
    table.add_column("at most", justify="right")
    others = [metric for metric in made.metrics if metric.key != made.metric.key]
    for metric in others:
        table.add_column(metric.title, justify="right")
    table.add_column("evictions", justify="right")
    for _, group in made.groups:
        for row in group:
            values = [shown(row.value(metric), metric) for metric in others]
            table.add_row(
                row.name,
                "the log itself" if row.policy is None else row.policy.information.value,
                shown(row.value(made.metric), made.metric),
                ratio_words(made, row),
                *values,
                "" if row.policy is None else f"{row.evictions:,.0f}",
            )
        table.add_section()
    bounds = [shown(made.bounds[metric.key], metric) for metric in others]
    table.add_row(
        "bound", "any schedule", shown(made.bounds[made.metric.key], made.metric), "1", *bounds
    )
    return table


def ratio_words(made: Evaluation, row: Row) -> str:
    """Return how far a row is from the best schedule at most, rounded up."""
    ratio = made.ratio(row)
    if isnan(ratio):
        return "never ends"
    return f"{ratio + 0.0005:.3f}" if ratio < 1e6 else "inf"


def shown(value: float, metric: Metric) -> str:
    """Return a value of a metric: a share of requests, or a time."""
    if isnan(value):
        return "-"
    return f"{value:.1%}" if metric.key == "goodput" else f"{value:,.4g}"
