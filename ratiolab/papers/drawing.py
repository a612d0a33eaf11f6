"""Charts of experiments as data: tables and words, drawn when a page is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from ratiolab.report.plots import experiments as plots
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.experiments import enclosures
from ratiolab.studies.frames import intervals


class Panel:
    """A table that is drawn on axes of its own, with options such as title, labels and scale."""

    def __init__(self, table: pd.DataFrame, title: str = "", **options: Any) -> None:
        self.table, self.options = table, {"title": title, **options}


@dataclass(frozen=True, eq=False)
class Panels:
    """A chart of several panels, with the same colours and one legend.

    Parameters
    ----------
    kind : the function of `ratiolab.report.plots.experiments` that draws a panel.
    x, by : columns of the tables: what is on the x axis, or a row of dots; what has a colour.
    panels : row by row.
    labels : labels in the order of their colours; by default the order of the first table.
    looks : line properties of labels that differ from the default.
    columns, height : panels in a row, and how high each is, inches.
    legend : entries in a row of the legend; None for no legend.
    size : width and height of the whole chart, inches.
    heading : what all panels have in common, above them.
    options : options of every panel.
    """

    kind: Literal["lines", "grouped_bars", "boxes", "dots"]
    x: str
    by: str | None
    panels: Sequence[Panel]
    labels: Sequence[str] | None = None
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    columns: int = 2
    height: float = 3.4
    legend: int | None = 5
    size: tuple[float, float] | None = None
    heading: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Chart:
        """Draw the chart."""
        figure, axes = plots.panels(len(self.panels), columns=self.columns, height=self.height)
        if self.size is not None:
            figure.set_size_inches(*self.size)
        labels = self.labels
        if labels is None:
            labels = [str(label) for label in self.panels[0].table[self.by or self.x].unique()]
        look = {**plots.looks(labels), **self.looks}
        draw = getattr(plots, self.kind)
        for number, (panel, ax) in enumerate(zip(self.panels, axes, strict=True)):
            options = {**self.options, **panel.options}
            draw(panel.table, self.x, self.by, ax, look=look, **options)
            if self.kind == "dots" and number % self.columns:  # rows are named once
                ax.tick_params(labelleft=False)
        if self.heading:
            plots.heading(figure, self.heading)
        if self.legend is not None:
            plots.shared_legend(figure, axes, columns=self.legend)
        return figure


@dataclass(frozen=True, eq=False)
class Enclosures:
    """A chart of intervals, a panel for each value of one column and a bar for each of another."""

    table: pd.DataFrame
    panel: str
    by: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Chart:
        """Draw the chart."""
        return enclosures(self.table, self.panel, self.by, **self.options)


def ratio_enclosures(runs: pd.DataFrame, panel: str, by: str, *, missing: str = "") -> Enclosures:
    """Return the chart of intervals of cost / OPT, from runs with their bounds."""
    low, high = (intervals(runs, [panel, by], f"ratio_{end}") for end in ("low", "high"))
    table = high.rename(columns={"mean": "top"}).assign(bottom=low["mean"])
    options = {"x_label": "total latency / hindsight optimum", "reference": 1.0, "missing": missing}
    return Enclosures(table, panel, by, options)
