"""Experiments as a notebook shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ratiolab.papers import experiments
from ratiolab.papers.finding import COLUMNS
from ratiolab.papers.page import Page
from ratiolab.papers.verdict_table import VerdictTable as VerdictTable
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

LEFT = "text-align:left;vertical-align:top"


@dataclass(frozen=True, eq=False)
class Reproduction:
    """An experiment that was run: its statements as a table, and its charts."""

    title: str
    page: Page

    def picture(self, name: str) -> "Chart":
        """Draw one chart of the page, by the part of its file's name behind the experiment's."""
        return self.page.charts[name]()

    def _repr_html_(self) -> str:
        """Return the table of statements, without the column of reasons."""
        rows = [COLUMNS, *(finding.cells() for finding in self.page.findings)]
        return "<table>" + "".join(_row(row[:4]) for row in rows) + "</table>"

    def __repr__(self) -> str:
        return self.title


def quick(name: str) -> Reproduction:
    """Run the quick version of an experiment, as ``ratiolab reproduce NAME --quick`` does.

    Nothing is kept on disk.

    Parameters
    ----------
    name : a key of `ratiolab.papers.experiments`.
    """
    experiment = experiments()[name]
    study = experiment.study(quick=True)
    with TemporaryDirectory() as folder:
        return Reproduction(
            experiment.head.title, experiment.page(run_study(study, Store(Path(folder))))
        )


def _row(cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<td style="{LEFT}">{escape(cell)}</td>' for cell in cells) + "</tr>"
