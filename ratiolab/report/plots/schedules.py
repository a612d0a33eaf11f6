"""Pictures of schedules: when requests wait and run, and the memory that they hold."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from ratiolab.model import IntArray, Preemption, Schedule, held
from ratiolab.model.eviction import EVICTIONS
from ratiolab.online.metrics import FloatArray
from ratiolab.report.plots.canvas import BLUE, RED, Chart, in_style, new_chart
from ratiolab.report.plots.curves import plain_thousands
from ratiolab.report.plots.names import named
from ratiolab.workloads.blocks import unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "viridis"
LOST = RED
FEW = 60
"""Most requests that are drawn with a wedge of memory for each run."""

MOST_WEDGE = 10**5
"""Most rounds in all these wedges: each has a corner for every round."""

MANY = 300
"""Least number of requests that are counted instead of drawn one by one."""

MOST_ROUNDS = 10**7
"""Rounds of the longest schedule that is drawn: usage is computed for every round."""

BINS = 500
"""Points of a curve over time: more than a page can show."""

FAR = 2.0
"""A schedule that ends later than this multiple of the first end is cut off there, and says so:
one terrible policy does not flatten all others."""

NAMED = 40
"""Most requests whose rows are named one by one; beyond that, a regular selection."""


@in_style
def picture(
    panels: Sequence[tuple[str, Schedule]], numbers: Sequence[IntArray] | None = None
) -> Chart:
    """Draw schedules below one another, on one time axis.

    Parameters
    ----------
    panels : a title and a schedule each, all of one instance; or with ``numbers`` of different
        ones, such as the requests of each replica.
    numbers : for each panel the numbers by which its requests are named.

    Returns
    -------
    Left, when each request waits (thin grey), runs (colour: its output length) and runs until an
    eviction that loses its tokens (red), a row each, named by its position in the instance or its
    number. The order is that of final starts: of the first schedule in all panels, or with
    ``numbers`` of each panel. For many requests it shows how many wait and run, so that the area is
    the total latency. Right, the memory that the requests hold, against its limit.

    Raises
    ------
    ValueError
        when a schedule has more than `MOST_ROUNDS` rounds.
    """
    end = max(_end(schedule) for _, schedule in panels)
    if end > MOST_ROUNDS:
        raise ValueError(f"a picture can show {MOST_ROUNDS} rounds, the schedules have {end}")
    first = panels[0][1]
    unit = unit_of(first.instance)
    shown = max(1, end) if numbers else max(1, min(end, int(FAR * _end(first))))
    outputs = np.concatenate([schedule.instance.output for _, schedule in panels])
    many = any(len(schedule.instance) >= MANY for _, schedule in panels)
    orders = [_by_start(first if numbers is None else schedule) for _, schedule in panels]
    names = [None] * len(panels) if numbers is None else numbers
    colours = _norm(outputs)
    figure = new_chart((11, 1.0 + 2.1 * len(panels)))
    axes = figure.subplots(len(panels), 2, squeeze=False, sharex=True)
    drawn = zip(panels, orders, names, axes, strict=True)
    for (title, schedule), order, name, (left, right) in drawn:
        if many:
            draw_counts(schedule, left)
        else:
            draw_requests(schedule, left, order, names=name, colours=colours)
        draw_memory(schedule, right, unit, colours)
        left.set_title(named(title))
        left.set_xlim(0, shown)
        if _end(schedule) > shown:
            for ax in (left, right):
                _say_that_it_goes_on(ax, _end(schedule))
    for ax in axes[-1]:
        ax.set_xlabel("round" if unit == "tokens" else f"round (of {unit.split(' ', 2)[2]})")
    for ax in axes.flat:
        plain_thousands(ax)
    if many:
        axes[0, 0].legend(loc="upper right", frameon=False)
        axes[0, 1].legend(loc="lower center", frameon=False)
        top = max(ax.get_ylim()[1] for ax in axes[:, 0])
        for ax in axes[:, 0]:
            ax.set_ylim(0, top)
        return figure
    early = dict.fromkeys(s.preemption for _, s in panels if s.preemptions)
    _explain(figure, axes[0, 0], early)
    scale = mpl.cm.ScalarMappable(colours, COLOURS)
    bar = figure.colorbar(scale, ax=axes, label=f"output length ({unit})", fraction=0.03, pad=0.01)
    if outputs.min() == outputs.max():
        bar.set_ticks([float(outputs[0])], labels=[str(outputs[0])])
    return figure


def _end(schedule: Schedule) -> int:
    """Return the round in which the last run ends; 0 without runs."""
    return int(schedule.stop.max(initial=0))


def _by_start(schedule: Schedule) -> IntArray:
    """Return the requests in the order of their final starts; those without one come last."""
    starts = schedule.starts
    return np.lexsort((schedule.instance.output, starts, starts < 0))


def draw_requests(
    schedule: Schedule,
    ax: "Axes",
    order: IntArray,
    times: FloatArray | None = None,
    *,
    names: IntArray | None = None,
    colours: mpl.colors.Normalize | None = None,
) -> None:
    """Draw one line for each request, from top to bottom in an order: waiting, running, lost.

    A request that never completes waits until the last run ends.

    Parameters
    ----------
    times : seconds at which each round begins; by default the axis counts rounds.
    names : the number by which each request is named; by default its position.
    colours : scale of the output lengths; by default that of the instance.
    """
    instance = schedule.instance
    place = np.full(len(instance), -1)
    place[order] = np.arange(len(order))
    width = min(9.0, 110.0 / len(order))

    def lines(start: IntArray, stop: IntArray, row: IntArray) -> Sequence[FloatArray]:
        ends = (start, stop) if times is None else (times[start], times[stop])
        return list(np.stack([np.column_stack([end, row]) for end in ends], axis=1))

    starts = schedule.starts[order]
    ends = np.where(starts < 0, np.maximum(instance.arrival[order], _end(schedule)), starts)
    waiting = lines(instance.arrival[order], ends, place[order])
    ax.add_collection(LineCollection(waiting, colors="0.85", linewidths=min(1.0, width)))
    row = place[schedule.request]
    done = schedule.completes & (row >= 0)
    early = ~schedule.completes & (row >= 0)
    lost = lines(schedule.start[early], schedule.stop[early], row[early])
    ax.add_collection(
        LineCollection(lost, colors=LOST, linewidths=0.6 * width, capstyle="butt", alpha=0.8)
    )
    kept = LineCollection(
        lines(schedule.start[done], schedule.stop[done], row[done]),
        array=instance.output[schedule.request[done]],
        cmap=COLOURS,
        norm=colours or _norm(instance.output),
        linewidths=width,
        capstyle="butt",
    )
    ax.add_collection(kept)
    ax.set_ylim(len(order) - 0.5, -0.5)
    rows: IntArray = np.arange(0, len(order), -(-len(order) // NAMED))
    shown = order[rows] if names is None else names[order[rows]]
    ax.set_yticks(rows, [str(i) for i in shown], fontsize=max(4.0, min(8.0, 160 / len(rows))))
    ax.tick_params(axis="y", length=0, pad=2)
    ax.set_ylabel("request")


def draw_counts(schedule: Schedule, ax: "Axes") -> None:
    """Draw how many requests wait and run over time; the whole area is the total latency."""
    instance = schedule.instance
    time = np.linspace(0, _end(schedule), BINS)

    def begun(rounds: IntArray) -> IntArray:
        return np.searchsorted(np.sort(rounds), time, side="right")

    present = begun(instance.arrival) - begun(schedule.completion[schedule.completion >= 0])
    running = begun(schedule.start) - begun(schedule.stop)
    label = "wait (the whole area is the total latency)"
    ax.fill_between(time, running, present, color="0.8", lw=0, label=label)
    ax.fill_between(time, running, color=BLUE, lw=0, label="run")
    ax.set_ylabel("requests")


def draw_memory(
    schedule: Schedule,
    ax: "Axes",
    unit: str = "tokens",
    colours: mpl.colors.Normalize | None = None,
) -> None:
    """Draw the memory held over time under the limit M; few requests have a wedge for each run."""
    instance = schedule.instance
    usage = schedule.usage()
    if len(instance) <= FEW and instance.output.sum() <= MOST_WEDGE:
        ax.add_collection(_wedges(schedule, colours or _norm(instance.output)))
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
            color=BLUE,
            alpha=0.25,
            lw=0,
        )
        label = "held" if each == 1 else f"mean of {each:,} rounds"
        ax.plot(edges[:-1], mean, color=BLUE, lw=1, label=label)
    ax.axhline(instance.memory, color="black", lw=1)
    ax.annotate(
        f"$M$ = {instance.memory:,}",
        (1, instance.memory),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
    )
    ax.set_ylim(0, max(instance.memory, int(usage.max())) * 1.14)
    ax.set_ylabel(f"held ({unit})")


def _wedges(schedule: Schedule, colours: mpl.colors.Normalize) -> PolyCollection:
    """Return the tokens of every run, stacked in order of start; round t is drawn on (t - 1, t]."""
    instance = schedule.instance
    last = max(_end(schedule), int(schedule.release.max(initial=0)))
    base = np.zeros(last + 1, dtype=np.int64)
    shapes = []
    leads = (schedule.start + schedule.lead).tolist()
    columns = (schedule.runs, schedule.kept.tolist(), schedule.release.tolist(), leads)
    for run, kept, release, begin in zip(*columns, strict=True):
        time: IntArray = np.arange(run.start + 1, release + 1)
        # paused, it holds what it held at its stop; before its first token, room for that
        age = np.maximum(np.minimum(time, run.stop) - begin, 1)
        low = base[time]
        high = low + held(instance.prompt[run.request] + kept, age)
        base[time] = high
        edges = np.repeat(time, 2) - np.tile([1, 0], len(time))
        outline = np.concatenate([np.repeat(low, 2), np.repeat(high, 2)[::-1]])
        shapes.append(np.column_stack([np.concatenate([edges, edges[::-1]]), outline]))
    done = schedule.completes
    colour = mpl.colormaps[COLOURS](colours(instance.output[schedule.request]))
    colour[~done] = mpl.colors.to_rgba(LOST, 0.8)
    return PolyCollection(shapes, facecolors=colour, edgecolors="white", linewidths=0.4)


def _say_that_it_goes_on(ax: "Axes", end: int) -> None:
    """Write at the right edge where a schedule ends that is cut off there."""
    ax.annotate(
        f"ends at round {end:,} $\\rightarrow$",
        (1, 0),
        xycoords="axes fraction",
        xytext=(-3, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        bbox={"facecolor": "white", "edgecolor": "0.6", "lw": 0.5, "pad": 2},
        zorder=5,
    )


def _explain(figure: Chart, ax: "Axes", preemptions: Iterable[Preemption]) -> None:
    """Add a legend: in the corner that stays empty as requests are sorted by start, or below."""
    handles = explain_rows(preemptions)
    if len(figure.axes) > 2:
        ax.legend(handles=handles, loc="upper right", frameon=False)
    else:  # a single panel is too low for a legend inside it
        figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False)


def explain_rows(preemptions: Iterable[Preemption], runs: str = "runs") -> list[Line2D]:
    """Return what the lines of requests mean, for a legend, under some semantics of evictions."""
    middle = mpl.colors.to_hex(mpl.colormaps[COLOURS](0.6))
    meanings: list[tuple[str, str, float]]
    meanings = [("waits", "0.85", 1.0), (runs, middle, 5.0)]
    meanings += [(EVICTIONS[kind].mark, LOST, 3.0) for kind in dict.fromkeys(preemptions)]
    return [Line2D([], [], color=colour, lw=lw, label=text) for text, colour, lw in meanings]


def _norm(outputs: IntArray) -> mpl.colors.Normalize:
    low, high = int(outputs.min()), int(outputs.max())
    if high > 20 * low:
        return mpl.colors.LogNorm(low, high)
    return mpl.colors.Normalize(low, max(high, low + 1))
