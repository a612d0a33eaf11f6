"""Verdicts and experiments as a notebook shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ratiolab.papers import ClaimReport, experiments
from ratiolab.papers.finding import COLUMNS
from ratiolab.papers.page import Page
from ratiolab.papers.verdicts import COLOURS
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

LEFT = "text-align:left;vertical-align:top"


@dataclass(frozen=True)
class VerdictTable:
    """A small table: which statement, what became of it, what it claims, what was computed.

    Parameters
    ----------
    reports : what `ratiolab.papers.run_claims` returns.
    """

    reports: Sequence[ClaimReport]

    def _repr_html_(self) -> str:
        heads = ("statement", "verdict", "claimed", "computed")
        head = "".join(f'<th style="{LEFT}">{name}</th>' for name in heads)
        lines = []
        for report in self.reports:
            claim, result = report.claim, report.result
            verdict = f'<b style="color:{COLOURS[result.verdict]}">{result.verdict.value}</b>'
            if not report.is_expected:
                verdict += f" (expected {claim.expected.value})"
            cells = (
                f"<b>{escape(claim.id)}</b><br>{escape(claim.statement)}",
                f"{verdict}<br>{escape(result.scope)}",
                escape(result.claimed),
                escape(result.computed),
            )
            lines.append("".join(f'<td style="{LEFT}">{cell}</td>' for cell in cells))
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return "\n".join(
            f"{report.claim.id}: {report.result.verdict.value} ({report.result.scope})"
            for report in self.reports
        )


@dataclass(frozen=True, eq=False)
class Reproduction:
    """An experiment that was run: its statements as a table, and its charts.

    Parameters
    ----------
    title : that of the experiment.
    page : what its page says.
    """

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
