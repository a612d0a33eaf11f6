"""The pages for people name only what is there."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
IDS = [page.name for page in PAGES]
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_dotted_name_exists(page: Path) -> None:
    for name in re.findall(r"`(ratiolab(?:\.\w+)+)`", page.read_text()):
        module, _, attribute = name.rpartition(".")
        assert find_spec(name) or hasattr(__import__(module, fromlist=["_"]), attribute), name


def test_every_file_and_function_of_the_architecture_exists() -> None:
    named = re.findall(r"`((?!ratiolab/)(?:\w+/)+\w+\.py)(?:: (\w+))?`", ARCHITECTURE)
    assert len(named) > 30
    for path, function in named:
        source = (ROOT / "ratiolab" / path).read_text()
        assert not function or re.search(rf"^(def|class) {function}\b", source, re.M), path
    for folder, content in re.findall(r"^\| `([\w/]+)` \| (.*) \|$", ARCHITECTURE, re.M):
        for name in re.findall(r"`([\w.]+)`", content):
            assert (ROOT / folder / name).exists(), f"{folder}/{name}"


def test_the_layers_are_those_that_are_enforced() -> None:
    block = re.findall(r"<!-- layers -->\n```\n(.*?)```", ARCHITECTURE, re.DOTALL)[0]
    drawn = [set(re.split(r"  +", line)[0].split(", ")) for line in block.splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    assert drawn == [set(re.findall(r"ratiolab\.(\w+)", layer)) for layer in layers]


def test_the_glossary_defines_each_term_once() -> None:
    glossary = (ROOT / "docs/glossary.md").read_text()
    terms = re.findall(r"^\*\*(.+?)\.\*\*|^\*\*(.+?)\*\* \(", glossary, re.M)
    words = [(a or b).lower() for a, b in terms]
    assert len(words) > 60
    assert len(words) == len(set(words))


def test_the_workflow_and_the_issue_forms_are_well_formed() -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["checks"]["steps"]]
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= set(form), path.name
        assert all({"type", "attributes"} <= set(field) for field in form["body"]), path.name
