"""The picture of the record library: the width of each interval."""

from collections.abc import Mapping, Sequence

from matplotlib.ticker import FixedLocator, FuncFormatter

from ratiolab.records.record import Record
from ratiolab.report.plots.canvas import Chart, in_style
from ratiolab.report.plots.experiments import looks, panels, shared_legend

LINEAR = 1.0
"""Gaps up to this, percent, are drawn on a linear scale, larger ones on a logarithmic one."""


@in_style
def gaps(families: Mapping[str, Sequence[Record]]) -> Chart:
    """Draw the certified gap over the number of requests, with a colour and mark for each family.

    Hollow marks are schedules that a search has proven optimal, beyond what the certificate shows.
    """
    figure, (ax,) = panels(1, columns=1, height=4.0)
    figure.set_size_inches(8.5, 4.6)
    styles = looks(list(families))
    for family, records in families.items():
        look = styles[family]
        for hollow in (False, True):
            chosen = [record for record in records if (record.status == "proved") is hollow]
            ax.plot(
                [record.requests for record in chosen],
                [100 * float(record.gap) for record in chosen],
                ls="",
                ms=4.5,
                marker=look["marker"],
                color=look["color"],
                fillstyle="none" if hollow else "full",
                alpha=0.8,
                label="" if hollow else family,
            )
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
    largest = max(float(record.gap) for records in families.values() for record in records)
    ax.set_ylim(-0.1, max(1.3 * 100 * largest, 2 * LINEAR))
    ax.yaxis.set_major_locator(FixedLocator([0, 0.5, 1, 2, 5, 10, 20, 50, 100]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.set_xlabel("requests")
    ax.set_ylabel("certified gap, %")
    ax.grid(color="0.92", lw=0.6)
    for fill, label in (("full", "open, or certified"), ("none", "proved by a search")):
        ax.plot([], [], "o", color="0.4", ms=4.5, fillstyle=fill, label=label)
    shared_legend(figure, [ax], columns=5)
    return figure
