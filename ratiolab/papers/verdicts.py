"""Verdicts on the papers' claims, for people: a table, and a page for a referee."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from ratiolab.papers import Claim, ClaimReport, Verdict, experiments, papers
from ratiolab.papers.proof import read_proof
from ratiolab.papers.verdict_table import COLOURS, VerdictTable
from ratiolab.report.tables import folding_table

MEANINGS = {
    Verdict.HOLDS: "proved, or true of everything that was checked, as its scope says",
    Verdict.TIGHTENED: "true, and a better value is given",
    Verdict.FALSE: "a witness speaks against the statement as it is made",
    Verdict.NOT_REPRODUCED: "a statistic that is rejected when its experiment is repeated",
    Verdict.NOT_IMPLIED: "measured on a real system; the paper's model alone does not give it",
    Verdict.UNDECIDED: "what is known does not decide; the evidence says what is missing",
}


def claims_table(reports: VerdictTable) -> Table:
    """Return one row a claim: what it says, what became of it, and how far the evidence goes."""
    columns = ("claim", "statement", "verdict", "scope", "computed", "s")
    table = folding_table(*columns, show_lines=False)
    for report in reports:
        result = report.result
        verdict = Text(result.verdict.value, COLOURS[result.verdict])
        if not report.is_expected:
            verdict.append(f" (expected {report.claim.expected.value})", "bold red")
        statement, scope, computed = (
            _plain(text) for text in (report.claim.statement, result.scope, result.computed)
        )
        seconds = f"{report.seconds:.1f}"
        table.add_row(report.claim.id, statement, verdict, scope, computed, seconds)
    table.caption = reports.headline
    return table


def listing_table(claims: Iterable[Claim]) -> Table:
    """Return the claims without checking them."""
    table = folding_table("claim", "statement", "expected", "source")
    for claim in claims:
        table.add_row(claim.id, _plain(claim.statement), claim.expected.value, claim.source)
    return table


def claims_page(reports: VerdictTable) -> str:
    """Return a page for a referee: which statements stand, which fall, and why."""
    lines = [
        "# What stands, what falls, and why",
        "",
        "Every statement that was checked, by paper. Regenerate this page with",
        "`ratiolab claims --page results/claims.md`; verify a witness, without any solver, with",
        "`ratiolab claims --recheck ID`; print a proof with `ratiolab claims --proof ID`.",
        "",
        *(f"- **{verdict.value}**: {meaning}." for verdict, meaning in MEANINGS.items()),
        "",
        f"{len(reports)} statements: {reports.headline}.",
    ]
    for paper in papers().values():
        own = [report for report in reports if report.claim.paper == paper.key]
        if not own:
            continue
        lines += ["", f"## {paper.title}", "", "| claim | statement | verdict | computed |"]
        lines += ["|---|---|---|---|"]
        for report in own:
            result = report.result
            cells = (
                f"[{report.claim.id.split('/')[1]}](#{_anchor(report.claim.id)})",
                report.claim.statement,
                f"**{result.verdict.value}** ({result.scope})",
                result.computed,
            )
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines += _experiments(paper.key)
        for report in own:
            lines += _entry(report)
        for name in dict.fromkeys(r.claim.proof for r in own if r.claim.proof is not None):
            proof = read_proof(paper.key, name)
            if proof.is_text and "/" not in name:  # another paper's proof stands there
                lines += ["", f"### Proof: {paper.key}/{name}", "", f"**{proof.title}**", ""]
                lines += [f"###{line}" if line.startswith("#") else line for line in proof.lines]
    return "\n".join(lines) + "\n"


def _experiments(paper: str) -> list[str]:
    """Return where the paper's measurements are repeated, with a verdict on each statement."""
    prefix = f"ratiolab.papers.{paper}."
    found = [e for e in experiments().values() if e.module.startswith(prefix)]
    if not found:
        return []
    pages = [f"- [{e.head.title}]({e.name}.md): {e.head.source}" for e in found]
    return ["", "What the paper measures is repeated, and judged, by experiments:", "", *pages]


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
    ]
    if result.evidence:
        lines.append(f"- Evidence: {result.evidence}")
    if result.witness is not None:
        lines.append(f"- Witness: {result.witness}")
    if claim.proof is not None:
        proof = read_proof(claim.paper, claim.proof)
        name = claim.proof if "/" in claim.proof else f"{claim.paper}/{claim.proof}"
        link = f"[{proof.title}](#proof-{_anchor(name)})"
        lines.append(f"- Proof: {link if proof.is_text else f'in `{proof.place}`'}")
    return [*lines, f"- Source: {claim.source}"]


def _anchor(id_: str) -> str:
    return id_.replace("/", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> Text:
    """Return text that rich does not take for markup."""
    return Text(text)
