"""The pages for people name only what is there."""

import doctest
import re
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ratiolab.testing import assert_ratio_at_most

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/site"))
reading = import_module("reading")
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_dotted_name_exists(page):
    for name in re.findall(r"`(ratiolab(?:\.\w+)+)`", page.read_text()):
        module, _, attribute = name.rpartition(".")
        assert find_spec(name) or hasattr(__import__(module, fromlist=["_"]), attribute), name


@pytest.mark.parametrize("page", DOCS, ids=IDS[2:])
def test_every_example_gives_what_stands_below_it(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_the_assertion_of_the_tutorial_holds():
    page = (ROOT / "docs/tutorials/ratio_in_ci.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    names["test_mc_sf_stays_within_its_bound"](assert_ratio_at_most)


def test_every_page_of_the_site_is_in_a_list_of_contents():
    index = (ROOT / "docs/index.md").read_text()
    pages = [str(page.relative_to(ROOT / "docs"))[:-3] for page in DOCS]
    assert [page for page in pages if page not in ("README", "index") and page not in index] == []


def test_every_file_and_function_of_the_architecture_exists():
    named = re.findall(r"`((?!ratiolab/|docs/|tests/)(?:\w+/)+\w+\.py)(?:: (\w+))?`", ARCHITECTURE)
    assert len(named) > 30
    for path, function in named:
        source = (ROOT / "ratiolab" / path).read_text()
        assert not function or re.search(rf"^(def|class) {function}\b", source, re.M), path
    for folder, content in re.findall(r"^\| `([\w/]+)` \| (.*) \|$", ARCHITECTURE, re.M):
        for name in re.findall(r"`([\w.]+)`", content):
            inside = ROOT / folder if (ROOT / folder).exists() else ROOT / "ratiolab" / folder
            assert (inside / name).exists(), f"{folder}/{name}"


def test_the_core_can_be_read_and_every_module_has_its_place():
    core, rest = (
        [path for row in table for path in reading.modules(row)] for table in reading.tables()
    )
    assert sum(path.read_text().count("\n") for path in core) <= 23_000
    package = (ROOT / "ratiolab").rglob("*.py")
    assert sorted(core + rest) == sorted(package)


def test_the_layers_are_those_that_are_enforced():
    block = re.findall(r"<!-- layers -->\n```\n(.*?)```", ARCHITECTURE, re.DOTALL)[0]
    drawn = [set(re.split(r"  +", line)[0].split(", ")) for line in block.splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    assert drawn == [set(re.findall(r"ratiolab\.(\w+)", layer)) for layer in layers]


def test_the_glossary_defines_each_term_once():
    glossary = (ROOT / "docs/glossary.md").read_text()
    terms = re.findall(r"^\*\*(.+?)\.\*\*|^\*\*(.+?)\*\* \(", glossary, re.M)
    words = [(a or b).lower() for a, b in terms]
    assert len(words) > 60
    assert len(words) == len(set(words))


def test_the_workflow_and_the_issue_forms_are_well_formed():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["checks"]["steps"]]
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= set(form), path.name
        assert all({"type", "attributes"} <= set(field) for field in form["body"]), path.name


def test_the_code_of_the_front_page_prints_what_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/index.md").read_text(), re.DOTALL)
    exec(example, {})
    told = re.findall(r"# ([\d. ]+)", example)
    assert len(example.split("\n\n")[-1].splitlines()) + 1 == 5
    assert capsys.readouterr().out.split("\n")[:-1] == [words.strip() for words in told]


def test_every_author_of_the_citation_file_is_on_the_page():
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs/cite.md").read_text()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert len(cited) == page.count("@") - 1
    for each in cited:
        names = [f"{who['family-names']}, {who['given-names']}" for who in each["authors"]]
        assert " and ".join(names) in page


def test_claims_are_split_by_paper_and_proofs_name_what_they_decide():
    findings = import_module("findings")
    index = (ROOT / "results/claims.md").read_text()
    pages = {p.stem: p.read_text() for p in (ROOT / "results/claims").glob("*.md")}
    claims = findings.Claims(pages)
    assert f"\n{len(claims.claims)} statements: " in index
    assert all(f"](claims/{claim.link}) | " in index for claim in claims.claims)
    proofs = re.findall(r"^### Proof: (\S+)$", "\n".join(pages.values()), re.M)
    assert set(claims.proved) <= set(proofs)
    assert claims.proof_of("#proof-chen2025two_lengths") == "chen2025/two_lengths"
    linked = claims.proof("chen2025/two_lengths", "# Title\n\nWords\n")
    assert "- [chen2025/alpha-star](chen2025.md#chen2025alpha-star): " in linked


def test_docstrings_are_brought_into_the_form_of_numpydoc():
    numpydoc = import_module("docstrings").numpydoc
    brief = ["Parameters", "---", "n : how many.", "", "Raises", "---", "ValueError", "    if."]
    whole = ["Parameters", "---", "n", "    how many.", "", *brief[4:]]
    assert numpydoc([*brief, "", "Source: a book.", "", ">>> f(1)"]) == [
        *[*whole, "", "", "", "Source: a book.", ""],
        *[">>> f(1)"],
    ]
    assert doctest.testmod(import_module("docstrings")).failed == 0


def test_formulas_of_proofs_are_set_with_balanced_brackets_and_equal_powers():
    mathematics = import_module("mathematics")
    assert doctest.testmod(mathematics).failed == 0
    assert mathematics.latex("4 a^2/3") == "4 a^{2}/3"  # the power ends before the slash
    proofs = sorted((ROOT / "ratiolab/papers").glob("*/proofs/*.md"))
    displayed = [
        formula
        for proof in proofs
        for formula in mathematics.with_formulas(proof.read_text()).split("$$")[1::2]
    ]
    assert len(displayed) > 50
    for formula in displayed:
        plain = formula.replace("\\{", "").replace("\\}", "")
        assert plain.count("{") == plain.count("}"), formula
        assert not any(sign in formula for sign in ("<=", ">=", "sqrt(", "**")), formula
