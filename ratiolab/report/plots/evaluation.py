"""Pictures of an evaluation: how far policies are from any schedule, and times of requests."""

import json
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter

from ratiolab.evaluation.result import Evaluation
from ratiolab.evaluation.row import Row
from ratiolab.model.footprint import IntArray
from ratiolab.online.metrics import over_time
from ratiolab.report.plots.canvas import BLUE, GREEN, ORANGE, PINK, RED, Chart, in_style, new_chart
from ratiolab.report.plots.schedules import draw_requests, explain_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

COLOURS = (BLUE, ORANGE, GREEN, RED, PINK)
KINDS = {
    "ready to deploy": BLUE,
    "needs predictions": ORANGE,
    "knows every output": "0.6",
    "the log itself": RED,
}
"""Colours of bars, by what their rows stand for."""

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
"""Of curves: those of policies that serve nearly alike lie on one another."""

FAR = 10.0
"""Ratio beyond which a bar is cut off: one terrible policy would flatten all others."""

ABOVE: dict[str, Any] = {"loc": "outside upper left", "ncols": 5, "frameon": False}
"""Place of the names of policies, which cover no curve there."""

IN_A_ROW = 80
"""Consecutive requests whose rows are drawn one by one."""


def drawn_rows(made: Evaluation) -> list[Row]:
    """Return the rows whose requests are drawn: the best two, the current one, and the log.

    Of policies that serve all requests alike only the first is drawn; where nothing waits, only the
    current one.
    """
    best: list[Row] = []
    for row in made.deployable:
        alike = (np.array_equal(row.services, other.services, equal_nan=True) for other in best)
        if row.services and len(best) < 2 and not any(alike):
            best.append(row)
    used = made.row(made.current)
    if made.nothing_waits and used.services:  # all others would lie on it
        best = []
    rows = [*best, used, *made.knowing[: len(best)]]
    rows += [made.observed] if made.observed else []
    return [row for row in {row.name: row for row in rows}.values() if row.services]


def draw_ratios(made: Evaluation, figure: "FigureBase") -> None:
    """Draw for each row how many times the bound it is at most above the best schedule."""
    rows = _with_ratio(made)[::-1]
    ax = figure.subplots()
    ratios = np.array([made.ratio(row) for row in rows])
    kinds = [_kind(made, row) for row in rows]
    places = np.arange(len(rows))
    bars = ax.barh(places, np.minimum(ratios, FAR), color=[KINDS[k] for k in kinds], height=0.7)
    for bar, row in zip(bars, rows, strict=True):
        if row.name == made.current:
            bar.set(hatch="//", edgecolor="white")
    for place, (row, ratio) in enumerate(zip(rows, ratios.tolist(), strict=True)):
        text, right = (f"{ratio:.2f}", ratio) if ratio <= FAR else (f"{ratio:.3g}, cut off", FAR)
        if (ends := made.ratio_interval(row)) is not None and ratio <= FAR:
            low, right = ends[0], min(max(*ends, ratio), FAR)
            ax.plot([low, right], [place, place], color="black", lw=1.2, marker="|")
            if (told := f"{low:.2f} to {ends[1]:.2f}") != f"{text} to {text}":
                text += f" ({told})"
        ax.text(right, place, f" {text}", va="center")
    names = [f"{row.name} (in use)" if row.name == made.current else row.name for row in rows]
    ax.set_yticks(places, names)
    ax.axvline(1, color="black", lw=1)
    ax.set_xlim(0, min(FAR, float(ratios.max(initial=1))) * 1.25)
    ax.set_xlabel(f"{made.metric.title} over the proven bound (lines: 95% over seeds)")
    handles = [Patch(color=colour, label=kind) for kind, colour in KINDS.items() if kind in kinds]
    figure.legend(handles=handles, **ABOVE)


def _kind(made: Evaluation, row: Row) -> str:
    """Return what a row stands for, as the legend says it."""
    if row.policy is None:
        return "the log itself"
    if row in made.deployable:
        return "ready to deploy"
    return "needs predictions" if row in made.predicting else "knows every output"


def draw_distributions(made: Evaluation, figure: "FigureBase") -> None:
    """Draw the share of requests that are served within a time, for latency, TTFT and TPOT."""
    axes = figure.subplots(1, 3, sharey=True)
    names = {"latency": "latency", "ttft": "TTFT", "tpot": "TPOT"}
    for ax, (name, title) in zip(axes, names.items(), strict=True):
        for row, colour, style in zip(drawn_rows(made), COLOURS, STYLES, strict=False):
            values = np.sort(np.concatenate([getattr(s, name) for s in row.services]))
            values = values[np.isfinite(values)]
            if len(values):
                shares = np.arange(1, len(values) + 1) / len(values)
                ax.step(values, shares, where="post", color=colour, ls=style, label=row.name)
        if made.clock is None:
            ax.set_xlim(left=0)
        else:
            _in_decades(ax)
        ax.set_ylim(0, 1)
        ax.set_xlabel(f"{title} ({made.unit})")
    axes[0].set_ylabel("share of requests")
    figure.legend(*axes[0].get_legend_handles_labels(), **ABOVE)


def draw_time(made: Evaluation, figure: "FigureBase") -> None:
    """Draw memory and waiting requests over time, for the rows that were simulated."""
    memory, waiting = figure.subplots(1, 2)
    for row, colour, style in zip(drawn_rows(made), COLOURS, STYLES, strict=False):
        if row.run is None:
            continue
        frame = over_time(row.run, bins=200)
        edges = [*frame["begin"], frame["end"].iloc[-1]]
        memory.stairs(frame["memory"], edges, color=colour, ls=style, label=row.name)
        waiting.stairs(frame["waiting"], edges, color=colour, ls=style, label=row.name)
    memory.axhline(made.instance.memory, color="black", lw=1, ls="--")
    memory.set_title("tokens in the KV cache (dashed: its size)")
    waiting.set_title("requests that wait")
    for ax in (memory, waiting):
        ax.set_ylim(bottom=0)
    if max(patch.get_data().values.max() for patch in waiting.patches) == 0:
        waiting.set_yticks([0])
        waiting.text(0.5, 0.5, "no request waits", ha="center", transform=waiting.transAxes)
    for ax in (memory, waiting):
        ax.set_xlabel("time (rounds)" if made.clock is None else "time (s)")
    figure.legend(*waiting.get_legend_handles_labels(), **ABOVE)


def draw_gantt(made: Evaluation, figure: "FigureBase") -> None:
    """Draw when each of some consecutive requests waits and runs, a panel for each policy."""
    rows = _simulated(made)
    chosen = busiest(made)
    axes = figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    spans: list[tuple[float, float]] = []
    starts = [row.run.schedule.starts for row in rows if row.run is not None]
    order = chosen[np.lexsort((chosen, starts[0][chosen]))] if starts else chosen
    for row, ax in zip(rows, axes, strict=True):
        run = row.run
        assert run is not None
        draw_requests(run.schedule, ax, order, run.times)
        ax.set_yticks([])  # in a panel so low, their numbers run into one another
        ax.set_ylabel(f"{len(order)} requests")
        ax.set_title(row.name)
        own = run.schedule
        begin, end = own.instance.arrival[order].min(), own.completion[order].max()
        spans.append((begin, end) if run.times is None else (run.times[begin], run.times[end]))
    if rows:
        axes[0].set_xlim(min(b for b, _ in spans), max(e for _, e in spans))
        axes[-1].set_xlabel("time (rounds)" if made.clock is None else "time (s)")
        kinds = [row.run.schedule.preemption for row in rows if row.run and row.evictions]
        meanings = explain_rows(kinds[:1], "runs (the lighter, the longer its output)")
        figure.legend(handles=meanings, loc="outside lower left", ncols=3)


def busiest(made: Evaluation) -> IntArray:
    """Return up to `IN_A_ROW` consecutive requests, those whose latency is longest in use."""
    arrived: IntArray = np.argsort(made.instance.arrival, kind="stable")
    if len(arrived) <= IN_A_ROW:
        return arrived
    rows = [made.row(made.current), *made.rows]
    latency = next(row.services[0].latency for row in rows if row.services)[arrived]
    sums = np.convolve(np.nan_to_num(latency), np.ones(IN_A_ROW), "valid")
    begin = int(sums.argmax())
    return arrived[begin : begin + IN_A_ROW]


def _in_decades(ax: "Axes") -> None:
    """Set a logarithmic axis, with numbers that do not run into one another."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    few = (1.0, 2.0, 5.0) if high < 30 * low else (1.0,)
    ax.xaxis.set_major_locator(LogLocator(subs=few))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


class Plate(NamedTuple):
    """One picture of a report: how it is drawn, its caption, its size in inches."""

    draw: "Callable[[Evaluation, FigureBase], None]"
    caption: str
    size: Callable[[Evaluation], tuple[float, float]]


CHARTS: Mapping[str, Plate] = {
    "ratios": Plate(
        draw_ratios,
        "How far each policy is from the best schedule at most",
        lambda made: (8, 1.3 + 0.26 * len(_with_ratio(made))),
    ),
    "distributions": Plate(
        draw_distributions,
        "Latency, time to first token (TTFT) and time per output token (TPOT)",
        lambda _: (9, 3.2),
    ),
    "time": Plate(draw_time, "Memory and waiting requests over time", lambda _: (9, 3.2)),
    "gantt": Plate(
        draw_gantt,
        f"The {IN_A_ROW} consecutive requests of the longest latency under the policy in use",
        lambda made: (9, 1.0 + 1.7 * len(_simulated(made))),
    ),
}
"""Pictures of a report by name."""


@in_style
def chart(made: Evaluation, name: str) -> Chart:
    """Return one of the pictures of a report."""
    plate = CHARTS[name]
    figure = new_chart(plate.size(made))
    plate.draw(made, figure)
    return figure


def _with_ratio(made: Evaluation) -> list[Row]:
    """Return the rows of the table that have a ratio."""
    shown = {row.name for _, rows in made.listed for row in rows}
    return [row for row in made.rows if np.isfinite(made.ratio(row)) and row.name in shown]


def _simulated(made: Evaluation) -> list[Row]:
    """Return the rows that are drawn and whose schedule is known."""
    return [row for row in drawn_rows(made) if row.run is not None]


def inline_svg(figure: Chart, name: str) -> str:
    """Return a chart as an SVG element for a page, its ids told apart by a name.

    Letters are outlines: a browser that lacks the font would set wider ones, over the edge. The
    places and scales of its axes stand in an attribute, for a script that reads values off.
    """
    svg = figure.vector("svg").decode()
    axes = escape(json.dumps([_scale(ax, figure) for ax in figure.axes]), quote=True)
    words = f'<svg role="img" aria-label="{name}" data-axes="{axes}"'
    element = svg[svg.index("<svg") :].replace("<svg", words, 1)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", element)


def _scale(ax: "Axes", figure: Chart) -> dict[str, Any]:
    """Return where axes are in a chart, in points from its upper left corner, and their scales."""
    width, height = (72 * float(inches) for inches in figure.get_size_inches())
    place = ax.get_position()
    return {
        "x": [place.x0 * width, place.x1 * width],
        "y": [(1 - place.y1) * height, (1 - place.y0) * height],
        "from": [*map(float, ax.get_xlim())],
        "up": [*map(float, ax.get_ylim())],
        "log": ax.get_xscale() == "log",
        "name": ax.get_xlabel(),
        "what": ax.get_ylabel(),
    }
