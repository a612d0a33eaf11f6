"""Reports of several claims: as a list, as data, as a table in a notebook, and as a picture."""

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from ratiolab.model.display import Result
from ratiolab.papers.claim import ClaimReport, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.TIGHTENED: "cyan",
    Verdict.CONSISTENT: "#008080",
    Verdict.FALSE: "red",
    Verdict.NOT_REPRODUCED: "magenta",
    Verdict.NOT_IMPLIED: "blue",
    Verdict.UNDECIDED: "yellow",
}


class VerdictTable(list[ClaimReport], Result):
    """Reports of several claims, which notebooks show as a table."""

    @property
    def headline(self) -> str:
        """The number of claims with each verdict."""
        counts = Counter(report.result.verdict for report in self)
        return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return what each claim says and what was found, as plain data."""
        return {"claims": [report.to_dict() for report in self]}

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each claim."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["claims"])

    def plot(self) -> "Figure":
        """Return a picture of how many claims of each paper have which verdict."""
        from ratiolab.report.plots.curves import counts

        papers = {report.claim.paper: Counter[str]() for report in self}
        for report in self:
            papers[report.claim.paper][report.result.verdict.value] += 1
        return counts(papers, {verdict.value: colour for verdict, colour in COLOURS.items()})

    def _repr_html_(self) -> str:
        left = "text-align:left;vertical-align:top"
        heads = ("statement", "verdict", "computed")
        head = "".join(f'<th style="{left}">{name}</th>' for name in heads)
        lines = []
        for report in self:
            claim, result = report.claim, report.result
            verdict = f'<b style="color:{COLOURS[result.verdict]}">{result.verdict.value}</b>'
            if not report.is_expected:
                verdict += f" (expected {claim.expected.value})"
            cells = (
                f"<b>{escape(claim.id)}</b><br>{escape(claim.statement)}",
                f"{verdict}<br>{escape(result.scope)}",
                escape(result.computed),
            )
            lines.append("".join(f'<td style="{left}">{cell}</td>' for cell in cells))
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return "\n".join(
            f"{report.claim.id}: {report.result.verdict.value} ({report.result.scope})"
            for report in self
        )
