"""The documentation site: built, then opened in a browser, narrow and wide, without a network."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from browser import browser, visit

ROOT = Path(__file__).parents[1]
PAGES = ("index", "commands", "glossary", "results/claims", "results/records", "policies/a-min")
PAGES += (
    "introduction",
    "faq",
    "results/claims/chen2025",
    "api/optimum",
    "proofs/ours/mc_sf_constant",
)

FITS = """({
  fits: document.documentElement.scrollWidth <= innerWidth,
  pictures: [...document.querySelectorAll("article img")].every(each => each.naturalWidth > 0),
})"""
FILTERED = """(() => {
  const box = document.querySelector("input.filter"), before = document.body.scrollHeight;
  box.value = "corollary";
  box.dispatchEvent(new Event("input"));
  const rows = [...box.nextElementSibling.querySelectorAll("tbody tr")].filter(row => !row.hidden);
  return rows.length > 1 && rows.every(row => row.textContent.toLowerCase().includes("corollary"))
    && document.body.scrollHeight < before;
})()"""
SEARCHED = """new Promise(resolve => {
  const look = () => {
    const found = document.querySelectorAll("#search-results li").length;
    found >= 5 ? resolve(found) : setTimeout(look, 50);
  };
  look();
})"""

FIRST = """new Promise(resolve => {
  const look = () => {
    const found = [...document.querySelectorAll("#search-results li a")].map(each => each.href);
    found.length > 0 ? setTimeout(() => resolve(found), 500) : setTimeout(look, 50);
  };
  look();
})"""


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_works_in_a_browser(tmp_path):
    if importlib.util.find_spec("sphinx") is None or browser() is None:
        pytest.skip("needs the extra ratiolab[docs] and chromium")
    built = subprocess.run(
        [sys.executable, ROOT / "docs/build.py", tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    site = (tmp_path / "site").as_uri()
    visits = [(f"{site}/{page}.html", width, FITS) for page in PAGES for width in (375, 1440)]
    visits += [(f"{site}/results/claims.html", 375, FILTERED)]
    visits += [(f"{site}/search.html?q=eviction", 375, SEARCHED)]
    wanted = {"pip": "getting_started", "cite": "cite", "competitive ratio": "introduction"}
    visits += [(f"{site}/search.html?q={w.replace(' ', '+')}", 1440, FIRST) for w in wanted]
    *seen, filtered, searched = (found := visit(visits, tmp_path / "profile"))[: -len(wanted)]
    for page, each in zip(wanted.values(), found[-len(wanted) :], strict=True):
        assert any(page in link for link in each.value[:3]), (page, each.value[:5])
    for (url, width, _), each in zip(visits, seen, strict=False):
        assert each.faults == [], (url, width)
        assert each.value == {"fits": True, "pictures": True}, (url, width)
    assert filtered == (True, [])
    assert searched.faults == []
    assert searched.value >= 5
