"""Pictures of an evaluation: how far policies are from any schedule, and what requests feel."""

from collections.abc import Callable, Mapping
from io import StringIO

import matplotlib as mpl
import numpy as np

from ratiolab.online.metrics import over_time
from ratiolab.ratio.evaluation import Evaluation, Row
from ratiolab.report.plots.canvas import Chart, in_style, new_chart

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple")
FAR = 10.0
"""Ratio beyond which a bar is cut off: one terrible policy would flatten all others."""


def drawn_rows(made: Evaluation) -> list[Row]:
    """Return the rows whose requests are drawn: the best, the current one, and the log."""
    rows = [*made.deployable[:2], made.row(made.current), *made.knowing[:1]]
    rows += [made.observed] if made.observed else []
    return [row for row in {row.name: row for row in rows}.values() if row.services]


@in_style
def ratio_chart(made: Evaluation) -> Chart:
    """Draw for each row how many times the bound it is at most above the best schedule."""
    rows = [row for row in made.rows if np.isfinite(made.ratio(row))][::-1]
    figure = new_chart((8, 0.9 + 0.26 * len(rows)))
    ax = figure.subplots()
    ratios = np.array([made.ratio(row) for row in rows])
    colours = [
        "tab:gray" if row.knows_everything else "tab:red" if row.policy is None else "tab:blue"
        for row in rows
    ]
    places = np.arange(len(rows))
    ax.barh(places, np.minimum(ratios, FAR), color=colours, height=0.7)
    for place, ratio in zip(places.tolist(), ratios.tolist(), strict=True):
        text = f" {ratio:.2f}" if ratio <= FAR else f" {ratio:.3g}, cut off"
        ax.text(min(ratio, FAR), place, text, va="center")
    ax.set_yticks(places, [row.name for row in rows])
    ax.axvline(1, color="black", lw=1)
    ax.set_xlim(0, min(FAR, float(ratios.max())) * 1.2)
    ax.set_title(
        f"{made.metric.title} over the bound on any schedule; grey: knows every output length"
    )
    return figure


@in_style
def distribution_chart(made: Evaluation) -> Chart:
    """Draw the share of requests that are served within a time, for latency, TTFT and TPOT."""
    figure = new_chart((10, 3.4))
    rows = drawn_rows(made)
    for ax, name in zip(figure.subplots(1, 3), ("latency", "ttft", "tpot"), strict=True):
        for row, colour in zip(rows, COLOURS, strict=False):
            values = np.sort(np.concatenate([getattr(s, name) for s in row.services]))
            values = values[np.isfinite(values)]
            if len(values):
                shares = np.arange(1, len(values) + 1) / len(values)
                ax.step(values, shares, where="post", color=colour, label=row.name)
        ax.set_xscale("symlog", linthresh=0.01)
        ax.set_ylim(0, 1)
        ax.set_xlabel(made.unit)
        ax.set_title(f"share of requests with {name.upper() if name != 'latency' else name} below")
    figure.axes[0].legend(frameon=False, loc="upper left")
    return figure


@in_style
def time_chart(made: Evaluation) -> Chart:
    """Draw memory and waiting requests over time, for the rows that were simulated."""
    figure = new_chart((10, 3.4))
    memory, waiting = figure.subplots(1, 2)
    rows = [row for row in drawn_rows(made) if row.run is not None]
    for row, colour in zip(rows, COLOURS, strict=False):
        assert row.run is not None
        frame = over_time(row.run, bins=200)
        edges = [*frame["begin"], frame["end"].iloc[-1]]
        memory.stairs(frame["memory"], edges, color=colour, label=row.name)
        waiting.stairs(frame["waiting"], edges, color=colour, label=row.name)
    memory.axhline(made.instance.memory, color="black", lw=1, ls="--")
    memory.set_title("tokens in the KV cache; the dashed line is its size")
    waiting.set_title("requests that wait")
    for ax in (memory, waiting):
        ax.set_ylim(bottom=0)
        ax.set_xlabel(made.unit)
    waiting.legend(frameon=False)
    return figure


CHARTS: Mapping[str, tuple[Callable[[Evaluation], Chart], str]] = {
    "ratios": (ratio_chart, "How far each policy is from any schedule at most"),
    "distributions": (distribution_chart, "What the requests feel"),
    "time": (time_chart, "The server over time"),
}
"""Charts of a report by name, each with its caption."""


def inline_svg(chart: Chart, name: str) -> str:
    """Return a chart as an SVG element for a page, its ids told apart by a name."""
    text = StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        chart.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
