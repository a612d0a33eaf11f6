"""Verdicts and experiments as a notebook shows them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

from ratiolab.papers import ClaimReport
from ratiolab.papers.verdicts import COLOURS


@dataclass(frozen=True)
class VerdictTable:
    """A small table: which statement, what became of it, what it claims, what was computed.

    Parameters
    ----------
    reports : what `ratiolab.papers.run_claims` returns.
    """

    reports: Sequence[ClaimReport]

    def _repr_html_(self) -> str:
        left = "text-align:left;vertical-align:top"
        heads = ("statement", "verdict", "claimed", "computed")
        head = "".join(f'<th style="{left}">{name}</th>' for name in heads)
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
            lines.append("".join(f'<td style="{left}">{cell}</td>' for cell in cells))
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return "\n".join(
            f"{report.claim.id}: {report.result.verdict.value} ({report.result.scope})"
            for report in self.reports
        )


@dataclass(frozen=True)
class Picture:
    """A chart that is stored as PNG."""

    content: bytes = field(repr=False)

    def _repr_png_(self) -> bytes:
        return self.content


@dataclass(frozen=True)
class Reproduction:
    """An experiment that was run: its statements as a table, and its pictures.

    Parameters
    ----------
    text : the page, in Markdown.
    pictures : PNG files by the part of the name behind that of the experiment.
    """

    text: str
    pictures: Mapping[str, bytes]

    def picture(self, name: str) -> Picture:
        """One picture of the page."""
        return Picture(self.pictures[name])

    def _repr_html_(self) -> str:
        """The table of statements, without the column of reasons."""
        rows = [split_row(line) for line in self.text.splitlines() if line.startswith("| ")]
        first = next(i for i, row in enumerate(rows) if row[0] == "statement")
        kept = list(takewhile(lambda row: len(row) == len(rows[first]), rows[first:]))
        left = "text-align:left;vertical-align:top"
        lines = [
            "".join(f'<td style="{left}">{escape(cell)}</td>' for cell in row[:4]) for row in kept
        ]
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"

    def __repr__(self) -> str:
        return self.text.partition("\n")[0].removeprefix("# ")


def quick(name: str) -> Reproduction:
    """Run the quick version of an experiment, as ``ratiolab reproduce NAME --quick`` does.

    Nothing is kept on disk.

    Parameters
    ----------
    name : a key of `ratiolab.papers.experiments`.
    """
    from ratiolab.papers import experiments, reproduce

    with TemporaryDirectory() as folder:
        page = reproduce(experiments()[name], Path(folder), quick=True)
        pictures = {
            path.stem.removeprefix(f"{name}-"): path.read_bytes()
            for path in sorted(Path(folder).glob("*.png"))
        }
        return Reproduction(page.read_text(encoding="utf-8"), pictures)


def split_row(line: str) -> list[str]:
    r"""The cells of a row of a Markdown table.

    >>> split_row(r"| a\|b | 1 |")
    ['a|b', '1']
    """
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]
