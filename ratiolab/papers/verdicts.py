"""Verdicts on the papers' claims, for people: a table, and a page for a referee."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from ratiolab.papers import Claim, ClaimReport, Verdict, experiments, papers
from ratiolab.papers.paper import Paper
from ratiolab.papers.proof import read_proof
from ratiolab.papers.verdict_table import COLOURS, VerdictTable
from ratiolab.report.tables import folding_table
from ratiolab.report.templating import filled

MEANINGS = {
    Verdict.HOLDS: "proved, or true of everything that was checked, as its scope says",
    Verdict.TIGHTENED: "true, and a better value is given",
    Verdict.CONSISTENT: "the paper's own figures agree with it; nothing was measured again",
    Verdict.FALSE: "a witness speaks against the statement as it is made",
    Verdict.NOT_REPRODUCED: "a statistic that is rejected when its experiment is repeated",
    Verdict.NOT_IMPLIED: "the paper's model alone does not give it; a system or a reading may",
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
            Text(text) for text in (report.claim.statement, result.scope, result.computed)
        )
        seconds = f"{report.seconds:.1f}"
        table.add_row(report.claim.id, statement, verdict, scope, computed, seconds)
    table.caption = reports.headline
    return table


def claims_lines(reports: VerdictTable) -> Iterator[str]:
    """Yield what `claims_table` shows, for a terminal too narrow for its columns."""
    for report in reports:
        result, expected = report.result, report.claim.expected.value
        other = "" if report.is_expected else f" (expected {expected})"
        yield f"{report.claim.id}: {result.verdict.value}{other}, {result.scope}"
        yield f"  {report.claim.statement}"
        yield f"  computed: {result.computed}"
    yield reports.headline


def listing_table(claims: Iterable[Claim]) -> Table:
    """Return the claims without checking them."""
    table = folding_table("claim", "statement", "expected", "source")
    for claim in claims:
        table.add_row(claim.id, Text(claim.statement), claim.expected.value, claim.source)
    return table


def claims_pages(reports: VerdictTable, page: Path) -> dict[Path, str]:
    """Return pages for a referee by path: which statements stand, which fall, and why.

    Of one paper it is one page. Of several it is an index, and a page each in a folder beside it.
    """
    present = [
        paper for key, paper in papers().items() if any(r.claim.paper == key for r in reports)
    ]
    if len(present) < 2:
        return {
            page: _filled(
                "claims_page.md", reports, [_paper(each, reports, True) for each in present]
            )
        }
    folder = page.with_suffix("")
    every = {paper.key: _paper(paper, reports, False) for paper in present}
    index = {page: _filled("claims_index.md", reports, list(every.values()), folder=folder.name)}
    return index | {
        folder / f"{key}.md": _filled("claims_page.md", own["reports"], [own])
        for key, own in every.items()
    }


def _filled(template: str, reports: VerdictTable, shown: list[dict[str, Any]], **slots: str) -> str:
    counts = {"count": len(reports), "headline": reports.headline}
    return filled(
        template, {"meanings": MEANINGS, "papers": shown, **counts, **slots}, Path(__file__).parent
    )


def _paper(paper: Paper, every: Iterable[ClaimReport], alone: bool) -> dict[str, Any]:
    """Return what a page says of a paper: its claims, experiments and proofs.

    `alone` says that other papers have no page, and that pages of experiments are beside this one.
    """
    reports = VerdictTable(report for report in every if report.claim.paper == paper.key)
    prefix = f"ratiolab.papers.{paper.key}."
    names = dict.fromkeys(r.claim.proof for r in reports if r.claim.proof is not None)
    proofs = {name: read_proof(paper.key, name) for name in names}

    def linked(text: str) -> str:
        """Return a text whose links lead to the proofs of another paper on its page."""
        others = "|".join(key for key in papers() if key != paper.key)
        return text if alone else re.sub(rf"\(#proof-({others})", r"(\1.md#proof-\1", text)

    return {
        "key": paper.key,
        "title": paper.title,
        "reports": reports,
        "counts": re.sub(r"\b0 [a-z ]+(, |$)", "", reports.headline).removesuffix(", "),
        "up": "" if alone else "../",
        "rows": [list(map(_cell, _row(report))) for report in reports],
        "experiments": [e for e in experiments().values() if e.module.startswith(prefix)],
        "details": [(report, linked(_proof(report.claim))) for report in reports],
        # another paper's proof stands there
        "proofs": [
            (name, proof.title, linked(proof.text).split("\n"))
            for name, proof in proofs.items()
            if proof.is_text and "/" not in name
        ],
    }


def _row(report: ClaimReport) -> tuple[str, str, str, str]:
    claim, result = report.claim, report.result
    link = f"[{claim.id.split('/')[1]}](#{_anchor(claim.id)})"
    return link, claim.statement, f"**{result.verdict.value}** ({result.scope})", result.computed


def _proof(claim: Claim) -> str:
    """Return where the proof of a claim stands; empty when it points to none."""
    if claim.proof is None:
        return ""
    proof = read_proof(claim.paper, claim.proof)
    name = claim.proof if "/" in claim.proof else f"{claim.paper}/{claim.proof}"
    return f"[{proof.title}](#proof-{_anchor(name)})" if proof.is_text else f"in `{proof.place}`"


def _anchor(id_: str) -> str:
    return id_.replace("/", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
