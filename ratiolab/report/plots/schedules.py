"""Pictures of schedules: when requests wait and run, and the memory that they hold."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from ratiolab.model import Schedule
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.io import PathLike, write_bytes
from ratiolab.report.plots.canvas import Chart, in_style, new_chart
from ratiolab.report.plots.curves import plain_thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "viridis"
LOST = "tab:red"
FEW = 60
"""Most requests that are drawn with a wedge of memory for each run."""

MOST_WEDGE = 10**5
"""Most rounds in all these wedges: each has a corner for every round."""

MANY = 300
"""Least number of requests that are counted instead of drawn one by one."""

FORMATS = ("png", "pdf", "svg")

MOST_ROUNDS = 10**7
"""Rounds of the longest schedule that is drawn: usage is computed for every round."""

BINS = 500
"""Points of a curve over time: more than a page can show."""


@in_style
def picture(panels: Sequence[tuple[str, Schedule]]) -> Chart:
    """Draw schedules of one instance below one another, on one time axis.

    Parameters
    ----------
    panels : a title and a schedule each.

    Returns
    -------
    Left, when each request waits (thin grey), runs (colour: its output length) and loses its
    tokens (red), or for many requests how many wait and run, so that the area is the total
    latency; right, the memory that the requests hold, against its limit.

    Raises
    ------
    ValueError
        when a schedule has more than `MOST_ROUNDS` rounds.
    """
    end = max(int(schedule.stop.max()) for _, schedule in panels)
    if end > MOST_ROUNDS:
        raise ValueError(f"a picture can show {MOST_ROUNDS} rounds, the schedules have {end}")
    many = len(panels[0][1].instance) >= MANY
    figure = new_chart((11, 1.0 + 2.1 * len(panels)))
    axes = figure.subplots(len(panels), 2, squeeze=False, sharex=True)
    for (title, schedule), (left, right) in zip(panels, axes, strict=True):
        (draw_counts if many else draw_requests)(schedule, left)
        draw_memory(schedule, right)
        left.set_title(title)
        left.set_xlim(0, end)
    for ax in axes[-1]:
        ax.set_xlabel("round")
    for ax in axes.flat:
        plain_thousands(ax)
    if many:
        axes[0, 0].legend(loc="upper right", frameon=False)
        axes[0, 1].legend(loc="lower center", frameon=False)
        top = max(ax.get_ylim()[1] for ax in axes[:, 0])
        for ax in axes[:, 0]:
            ax.set_ylim(0, top)
        return figure
    _explain(figure, axes[0, 0], lost=any(schedule.evictions for _, schedule in panels))
    outputs = panels[0][1].instance.output
    scale = mpl.cm.ScalarMappable(_norm(outputs), COLOURS)
    figure.colorbar(scale, ax=axes, label="output length (tokens)", fraction=0.03, pad=0.01)
    return figure


def save(figure: Chart, path: PathLike) -> None:
    """Write a figure in the format of its ending (png, pdf, svg), in one step."""
    kind = require_format(path)
    if kind == "png":
        write_bytes(path, figure.png(160))
        return
    content = BytesIO()
    figure.savefig(content, format=kind)
    write_bytes(path, content.getvalue())


def require_format(path: PathLike) -> str:
    """Return the format that the ending of a path names; `ValueError` for an unknown one."""
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in FORMATS:
        raise ValueError(f"{path}: pictures can be {', '.join(FORMATS)}, not {kind!r}")
    return kind


def draw_requests(schedule: Schedule, ax: "Axes") -> None:
    """Draw one line for each request, sorted by final start: waiting, running, and lost runs."""
    instance = schedule.instance
    order = np.lexsort((instance.output, schedule.starts))
    place = np.empty(len(instance), dtype=np.int64)
    place[order] = np.arange(len(instance))
    width = min(9.0, 110.0 / len(instance))

    def lines(start: IntArray, stop: IntArray, row: IntArray) -> Sequence[IntArray]:
        ends = [np.column_stack([start, row]), np.column_stack([stop, row])]
        return list(np.stack(ends, axis=1))

    waiting = lines(instance.arrival, schedule.starts, place)
    ax.add_collection(LineCollection(waiting, colors="0.85", linewidths=min(1.0, width)))
    done = schedule.completes
    row = place[schedule.request]
    lost = lines(schedule.start[~done], schedule.stop[~done], row[~done])
    ax.add_collection(
        LineCollection(lost, colors=LOST, linewidths=0.6 * width, capstyle="butt", alpha=0.8)
    )
    kept = LineCollection(
        lines(schedule.start[done], schedule.stop[done], row[done]),
        array=instance.output[schedule.request[done]],
        cmap=COLOURS,
        norm=_norm(instance.output),
        linewidths=width,
        capstyle="butt",
    )
    ax.add_collection(kept)
    ax.set_ylim(len(instance) - 0.5, -0.5)
    ax.set_yticks([])
    ax.set_ylabel(f"{len(instance):,} requests")


def draw_counts(schedule: Schedule, ax: "Axes") -> None:
    """Draw how many requests wait and run over time; the whole area is the total latency."""
    instance = schedule.instance
    time = np.linspace(0, int(schedule.stop.max()), BINS)

    def begun(rounds: IntArray) -> IntArray:
        return np.searchsorted(np.sort(rounds), time, side="right")

    present = begun(instance.arrival) - begun(schedule.completion)
    running = begun(schedule.start) - begun(schedule.stop)
    label = "wait (the whole area is the total latency)"
    ax.fill_between(time, running, present, color="0.8", lw=0, label=label)
    ax.fill_between(time, running, color="tab:blue", lw=0, label="run")
    ax.set_ylabel("requests")


def draw_memory(schedule: Schedule, ax: "Axes") -> None:
    """Draw the tokens held over time under the limit M; few requests have a wedge for each run."""
    instance = schedule.instance
    usage = schedule.usage()
    if len(instance) <= FEW and instance.output.sum() <= MOST_WEDGE:
        ax.add_collection(_wedges(schedule))
    else:
        edges = np.unique(np.linspace(0, len(usage), BINS, dtype=np.int64))
        least, most = (extreme.reduceat(usage, edges[:-1]) for extreme in (np.minimum, np.maximum))
        mean = np.add.reduceat(usage, edges[:-1]) / np.diff(edges)
        each = round(len(usage) / (len(edges) - 1))
        ax.fill_between(
            edges[:-1],
            least,
            most,
            label="least to most" if each > 1 else None,
            color="tab:blue",
            alpha=0.25,
            lw=0,
        )
        label = "tokens held" if each == 1 else f"mean of {each:,} rounds"
        ax.plot(edges[:-1], mean, color="tab:blue", lw=1, label=label)
    ax.axhline(instance.memory, color="black", lw=1)
    ax.annotate(
        f"M = {instance.memory:,}",
        (1, instance.memory),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
    )
    ax.set_ylim(0, instance.memory * 1.14)
    ax.set_ylabel("tokens held")


def _wedges(schedule: Schedule) -> PolyCollection:
    """Return the tokens of every run, stacked in order of start; round t is drawn on (t - 1, t]."""
    instance = schedule.instance
    base = np.zeros(int(schedule.stop.max()) + 1, dtype=np.int64)
    shapes = []
    for run, kept in zip(schedule.runs, schedule.kept.tolist(), strict=True):
        time: IntArray = np.arange(run.start + 1, run.stop + 1)
        low = base[time]
        high = low + held(instance.prompt[run.request] + kept, time - run.start)
        base[time] = high
        edges = np.repeat(time, 2) - np.tile([1, 0], len(time))
        outline = np.concatenate([np.repeat(low, 2), np.repeat(high, 2)[::-1]])
        shapes.append(np.column_stack([np.concatenate([edges, edges[::-1]]), outline]))
    done = schedule.completes
    colour = mpl.colormaps[COLOURS](_norm(instance.output)(instance.output[schedule.request]))
    colour[~done] = mpl.colors.to_rgba(LOST, 0.8)
    return PolyCollection(shapes, facecolors=colour, edgecolors="white", linewidths=0.4)


def _explain(figure: Chart, ax: "Axes", lost: bool) -> None:
    """Add a legend: in the corner that stays empty as requests are sorted by start, or below."""
    middle = mpl.colors.to_hex(mpl.colormaps[COLOURS](0.6))
    meanings: list[tuple[str, str, float]]
    meanings = [("waits", "0.85", 1.0), ("runs", middle, 5.0)]
    meanings += [("runs, then evicted: its tokens are lost", LOST, 3.0)] * lost
    handles = [Line2D([], [], color=colour, lw=lw, label=text) for text, colour, lw in meanings]
    if len(figure.axes) > 2:
        ax.legend(handles=handles, loc="upper right", frameon=False)
    else:  # a single panel is too low for a legend inside it
        figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False)


def _norm(outputs: IntArray) -> mpl.colors.Normalize:
    low, high = int(outputs.min()), int(outputs.max())
    if high > 20 * low:
        return mpl.colors.LogNorm(low, high)
    return mpl.colors.Normalize(low, max(high, low + 1))
