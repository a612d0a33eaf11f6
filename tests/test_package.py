"""What the package says of itself, and README as a package index shows it."""

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ratiolab import version
from ratiolab.game.ranges.finite_range import Enclosure
from ratiolab.report import ranges_page, templating
from ratiolab.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

STAMP = re.compile(r"^\*Written by ratiolab \S+, commit (\S+),", re.MULTILINE)
"""The commit that a page names, with ``-dirty`` where that is not all."""


def built(monkeypatch: pytest.MonkeyPatch, url: str | None) -> dict[str, Any]:
    """Return what the build adds to the metadata."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if url is None:
        monkeypatch.delenv("RATIOLAB_URL", raising=False)
    else:
        monkeypatch.setenv("RATIOLAB_URL", url)
    metadata: dict[str, Any] = {}
    module.CustomMetadataHook(str(ROOT), {}).update(metadata)
    return metadata


def test_a_release_has_urls_and_no_relative_link(monkeypatch):
    metadata = built(monkeypatch, "https://example.org/me/ratiolab/")
    text = metadata["readme"]["text"]
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    assert len(links) > 10
    for picture, link in links:
        kind = "raw" if picture else "blob"
        start = f"https://example.org/me/ratiolab/{kind}/v{__version__}/"
        assert link.startswith(("https://", "http://"))
        if "example.org" in link:
            assert (ROOT / link.removeprefix(start)).exists(), link
    assert metadata["urls"]["Issues"] == "https://example.org/me/ratiolab/issues"


def test_the_metadata_is_complete():
    assert {"readme", "urls", "version"} == set(PROJECT["dynamic"])
    for field in ("description", "keywords", "classifiers", "license", "requires-python"):
        assert PROJECT[field]
    listed = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if ":: 3." in c]
    assert PROJECT["requires-python"] == f">={listed[0]}"
    everything = {r for extra in PROJECT["optional-dependencies"].values() for r in extra}
    assert all(re.match(r"[\w.-]+", requirement) for requirement in everything)
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()


def test_the_commit_is_that_of_the_checkout():
    told = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if told.returncode:
        pytest.skip("no checkout")
    found = version.commit()
    assert told.stdout.startswith(found.removesuffix("-dirty"))
    assert len(found.removesuffix("-dirty")) >= 12
    assert found in version.made_by()


def test_pages_of_results_name_commits_of_this_history():
    log = subprocess.run(
        ["git", "log", "--format=%H"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if log.returncode or (ROOT / ".git" / "shallow").exists():
        pytest.skip("no history")
    known, pages = log.stdout.split(), list((ROOT / "results").rglob("*.md"))
    stamps = [(page.name, m[1]) for page in pages if (m := STAMP.search(page.read_text()))]
    assert len(stamps) >= 30
    assert [s for s in stamps if not any(each.startswith(s[1]) for each in known)] == []


def test_a_page_says_what_it_was_made_by_and_keeps_that_while_it_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, table = tmp_path / "ranges.md", [Enclosure(2.0, 1.2, 1.3, 1.5)]
    ranges_page.write_page(table, page, "ranges.csv", "ranges.png")
    first = page.read_text()
    assert first.splitlines()[-1] == f"*Written by ratiolab {version.made_by()}.*"
    monkeypatch.setattr(templating, "made_by", lambda: "0.2.0, commit 0123456789ab, 2030-01-01")
    ranges_page.write_page(table, page, "ranges.csv", "ranges.png")
    assert page.read_text() == first
    ranges_page.write_page([*table, Enclosure(3.0, 1.3, 1.4, 1.6)], page, "r.csv", "r.png")
    assert page.read_text().endswith("0.2.0, commit 0123456789ab, 2030-01-01.*\n")
    assert "Written" not in templating.unsigned(first)
