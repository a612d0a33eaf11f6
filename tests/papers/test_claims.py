"""Every claim: its pinned verdict, a control that gets another one, a witness that can fail."""

import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

import ratiolab.papers
from ratiolab.papers import all_claims, papers, run_claims, select, witness
from ratiolab.papers.claim import AGAINST, PROVED
from ratiolab.papers.proof import read_proof

CLAIMS = [pytest.param(claim, id=claim.id) for claim in all_claims()]
RECHECKED = [pytest.param(c, id=c.id) for c in all_claims() if c.recheck is not None]


def test_the_stored_pages_have_every_claim_and_no_id_stands_twice():
    ids = [claim.id for claim in all_claims()]
    assert len(set(ids)) == len(ids)
    pages = (Path(__file__).parents[2] / "results" / "claims").glob("*.md")
    text = "".join(page.read_text() for page in pages)
    assert sorted(re.findall(r"^### (\w+/\S+)$", text, re.M)) == sorted(ids)


def test_every_statement_can_be_read_alone_and_has_one_verdict():
    statements = [claim.statement for claim in all_claims()]
    assert sorted({s for s in statements if statements.count(s) > 1}) == []
    assert [s for s in statements if s.startswith(("The same", "This ", "It is "))] == []


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_gets_its_pinned_verdict_and_its_control_another(claim):
    (report,) = run_claims([claim])
    assert report.result.verdict is claim.expected, report.result
    control = claim.check(claim.control)
    assert control.verdict is claim.control_verdict, control
    if claim.expected in AGAINST:
        assert report.result.witness


PROOFS = sorted({(c.paper, c.proof) for c in all_claims() if c.proof is not None})


@pytest.mark.parametrize(("paper", "name"), PROOFS)
def test_a_proof_that_a_claim_points_to_can_be_read(paper, name):
    proof = read_proof(paper, name)
    assert proof.title
    assert len(proof.text) > 300


def test_nothing_is_called_proved_without_a_proof():
    claim = next(c for c in all_claims() if c.proof is not None)
    result = replace(claim.check(claim.claimed), scope=f"{PROVED} in a model")
    careless = replace(claim, decide=lambda _: result, proof=None)
    with pytest.raises(ValueError, match="the claim points to no proof"):
        careless.check(careless.claimed)
    assert replace(careless, proof=claim.proof).check(None) == result
    with pytest.raises(ValueError, match="there is no file"):
        read_proof(claim.paper, "no_such_text")


def test_the_page_prints_each_proof_once_and_links_to_it():
    from ratiolab.papers.verdicts import claims_pages

    reports = run_claims(select(ids=["chen2025/alpha-star", "chen2025/theorem-6"]))
    ((path, page),) = claims_pages(reports, Path("verdicts.md")).items()
    assert path == Path("verdicts.md")
    assert page.count("### Proof: chen2025/two_lengths") == 1
    assert page.count("(#proof-chen2025two_lengths)") == 2


@pytest.mark.slow
@pytest.mark.parametrize("claim", [p for p in CLAIMS if p.values[0].searches])
def test_a_longer_search_comes_to_the_pinned_verdict(claim):
    (report,) = run_claims([claim], slow=True)
    assert report.is_expected, report.result


@pytest.mark.long
@pytest.mark.parametrize("claim", RECHECKED)
def test_a_witness_is_rechecked_without_a_solver(claim, monkeypatch):
    import ratiolab.hindsight

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a recheck called the solver")

    monkeypatch.setattr(ratiolab.hindsight, "solve", refuse)
    assert claim.recheck()


FILES = sorted(path.stem for path in witness.folder().glob("*.json"))


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_tampered_witness_fails_its_recheck(name, tmp_path, monkeypatch):
    original = witness.folder() / f"{name}.json"
    data = json.loads(original.read_text())
    claims = [c for c in all_claims() if c.id == data["claim"]]
    assert claims, f"{name} speaks of {data['claim']}, which is no claim"
    for other in witness.folder().glob("*.json"):  # the recheck may read several
        (tmp_path / other.name).write_text(other.read_text())
    monkeypatch.setattr(witness, "folder", lambda: tmp_path)
    key = next(iter(data["figures"]))
    value = data["figures"][key]
    data["figures"][key] = value + 1 if isinstance(value, int) else "1/1000003"
    (tmp_path / original.name).write_text(json.dumps(data))
    with pytest.raises((AssertionError, ValueError)):
        claims[0].recheck()


def test_selection_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="paper 'nobody' is unknown"):
        select(paper="nobody")
    with pytest.raises(ValueError, match="claim 'chen2025/lemma-99' is unknown"):
        select(ids=["chen2025/lemma-99"])
    assert all(claim.paper == "chen2025" for claim in select(paper="chen2025"))


def test_a_narrow_terminal_gets_lines_in_place_of_a_table():
    from ratiolab.papers.verdicts import claims_lines

    reports = run_claims(select(ids=["chen2025/alpha-star"]))
    first, statement, computed, headline = claims_lines(reports)
    assert first.startswith("chen2025/alpha-star: holds")
    assert reports[0].claim.statement in statement
    assert reports[0].result.computed in computed
    assert headline == reports.headline


FOLDER = Path(ratiolab.papers.__file__).parent


def test_no_paper_names_another():
    for paper, other in permutations(papers(), 2):
        for path in (FOLDER / paper).rglob("*.py"):
            assert f"ratiolab.papers.{other}" not in path.read_text(encoding="utf-8"), path


def test_a_source_names_authors_place_and_version():
    known = papers()
    assert known["chen2025"].cite("Lemma 2") == "Chen, Ye, Zhou (2025), Lemma 2, arXiv 2508.14544v2"
    assert known["chen2025"].title == "Chen, Ye, Zhou (2025), arXiv 2508.14544v2"
    assert known["ours"].title == "This project"
    assert known["zheng2026"].cite("abstract") == (
        "Zheng et al. (2026), abstract, from a published summary, arXiv 2604.00499"
    )


def test_the_citation_names_every_paper_with_its_authors():
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    found = {}
    for reference in text.split("references:")[1].split("  - type: ")[1:]:
        families = re.findall(r"family-names: (\w+)", reference)
        (year,) = re.findall(r"year: (\d+)", reference)
        found[f"{families[0].lower()}{year}"] = reference, families
    assert set(found) == set(papers()) - {"ours"}
    for key, (reference, families) in found.items():
        assert papers()[key].arxiv in reference
        assert len(families) > 2 or "et al" not in papers()[key].authors
