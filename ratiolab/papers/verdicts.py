"""Verdicts on the papers' claims, for people: a table, plain data, and a page for a referee."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from ratiolab.papers import Claim, ClaimReport, Verdict, papers

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.FALSE: "red",
    Verdict.TIGHTENED: "cyan",
    Verdict.UNDECIDED: "yellow",
}


def listing_data(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """What the claims say, as plain data."""
    return [
        {
            "id": claim.id,
            "source": claim.source,
            "statement": claim.statement,
            "assumptions": list(claim.assumptions),
            "expected": claim.expected.value,
            "proof": claim.proof,
        }
        for claim in claims
    ]


def report_data(report: ClaimReport) -> dict[str, Any]:
    """One verdict as plain data."""
    (said,), result = listing_data([report.claim]), report.result
    return said | {
        "verdict": result.verdict.value,
        "scope": result.scope,
        "claimed": result.claimed,
        "computed": result.computed,
        "witness": result.witness,
        "evidence": result.evidence,
        "seconds": round(report.seconds, 3),
    }


def claims_table(reports: Sequence[ClaimReport]) -> Table:
    """One row a claim: what it says, what became of it, and how far the evidence goes."""
    table = Table()
    for name in ("claim", "verdict", "scope", "claimed", "computed", "s"):
        table.add_column(name, overflow="fold")
    for report in reports:
        result = report.result
        verdict = Text(result.verdict.value, COLOURS[result.verdict])
        if not report.is_expected:
            verdict.append(f" (expected {report.claim.expected.value})", "bold red")
        row = (result.scope, result.claimed, result.computed)
        table.add_row(
            report.claim.id, verdict, *(_plain(cell) for cell in row), f"{report.seconds:.1f}"
        )
    counts = {v: sum(r.result.verdict is v for r in reports) for v in Verdict}
    table.caption = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    return table


def listing_table(claims: Iterable[Claim]) -> Table:
    """The claims without checking them."""
    table = Table(show_lines=True)
    for name in ("claim", "statement", "expected", "source"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        table.add_row(claim.id, _plain(claim.statement), claim.expected.value, claim.source)
    return table


def claims_page(reports: Sequence[ClaimReport]) -> str:
    """A page for a referee: which statements stand, which fall, and why."""
    counts = {v: sum(r.result.verdict is v for r in reports) for v in Verdict}
    lines = [
        "# What stands, what falls, and why",
        "",
        "Every numbered statement that was checked, by paper. Regenerate this page with",
        "`ratiolab claims --page results/claims.md`; verify the witness of a false claim, without",
        "any solver, with `ratiolab claims --recheck ID`.",
        "",
        f"{len(reports)} statements: "
        + ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
        + ".",
    ]
    for paper in papers().values():
        own = [report for report in reports if report.claim.paper == paper.key]
        if not own:
            continue
        lines += ["", f"## {paper.title}", "", "| statement | verdict | claimed | computed |"]
        lines += ["|---|---|---|---|"]
        for report in own:
            result = report.result
            cells = (
                f"[{report.claim.id.split('/')[1]}](#{_anchor(report.claim.id)})",
                f"**{result.verdict.value}** ({result.scope})",
                result.claimed,
                result.computed,
            )
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        for report in own:
            lines += _entry(report)
    return "\n".join(lines) + "\n"


def _entry(report: ClaimReport) -> list[str]:
    claim, result = report.claim, report.result
    lines = [
        "",
        f"### {claim.id}",
        "",
        claim.statement,
        "",
        f"- Verdict: **{result.verdict.value}** ({result.scope})",
        f"- Assumes: {'; '.join(claim.assumptions) or 'nothing beyond the model'}",
        f"- Evidence: {result.evidence}",
    ]
    if result.witness is not None:
        lines.append(f"- Witness: {result.witness}")
    if claim.proof is not None:
        lines.append(f"- Proof: in `{claim.proof}`")
    return [*lines, f"- Source: {claim.source}"]


def _anchor(id_: str) -> str:
    return id_.replace("/", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> Text:
    """Text that rich does not take for markup."""
    return Text(text)
