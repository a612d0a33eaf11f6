"""Papers are found by their folders, and stand alone."""

import re
from itertools import permutations
from pathlib import Path

import ratiolab.papers
from ratiolab.papers import papers

FOLDER = Path(ratiolab.papers.__file__).parent


def test_no_paper_names_another() -> None:
    for paper, other in permutations(papers(), 2):
        for path in (FOLDER / paper).rglob("*.py"):
            assert f"ratiolab.papers.{other}" not in path.read_text(encoding="utf-8"), path


def test_a_source_names_authors_place_and_version() -> None:
    known = papers()
    assert known["chen2025"].cite("Lemma 2") == "Chen, Ye, Zhou (2025), Lemma 2, arXiv 2508.14544v2"
    assert known["chen2025"].title == "Chen, Ye, Zhou (2025), arXiv 2508.14544v2"
    assert known["ours"].title == "This project"
    assert known["zheng2026"].cite("abstract") == (
        "Zheng et al. (2026), abstract, from a published summary, arXiv 2604.00499"
    )


def test_the_citation_names_every_paper_with_its_authors() -> None:
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
