"""Verdicts as a notebook shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ratiolab.claims import ClaimReport
from ratiolab.report.verdicts import COLOURS


@dataclass(frozen=True)
class VerdictTable:
    """A small table: which statement, what became of it, what it claims, what was computed.

    Parameters
    ----------
    reports : what `ratiolab.claims.run_claims` returns.
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
