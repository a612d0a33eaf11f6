"""Reports: complete, self-contained, and the same in a real browser, narrow and wide."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.ratio.evaluate import Evaluation, evaluate
from ratiolab.report.evaluation_report import write_report

NAME = "<b>a & b</b>"


@pytest.fixture(scope="module")
def made() -> Evaluation:
    rng = np.random.default_rng(1)
    arrival = np.sort(rng.integers(0, 3000, 60))
    columns = arrival, rng.integers(1, 50, 60), rng.integers(1, 80, 60)
    instance = Instance(NAME, 600, *columns, tick_seconds=0.001)
    keys = ("fcfs", "rr", "alpha-beta-clearing", "svf")
    return evaluate(instance, [make(key) for key in keys], clock=LLAMA3_8B_A100, runs=3)


@pytest.fixture(scope="module")
def page(made: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "out.html"
    write_report(made, path, lines=["A line of its own."], provenance=[("command", "ratiolab x")])
    return path


class Parsed(HTMLParser):
    """Elements that are open, those seen, and what refers to other files."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]


def test_the_page_needs_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    parsed = Parsed()
    parsed.feed(text)
    assert all(link.startswith("#") for link in parsed.links)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert parsed.seen.count("svg") == parsed.seen.count("figure") == 3
    ids = re.findall(r'<clipPath id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) > 0


def test_the_page_says_what_the_evaluation_says(made: Evaluation, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for row in made.rows:
        assert f"<td>{row.name}</td>" in text
    assert "A line of its own." in text
    assert "<dd>ratiolab x</dd>" in text
    assert made.instance.digest in text
    assert NAME not in text  # a name is text, not markup
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in text
    assert r"\begin{tabular}" in text


def test_markdown_has_its_charts_beside_it(made: Evaluation, tmp_path: Path) -> None:
    write_report(made, tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    for chart in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (tmp_path / chart).read_bytes().startswith(b"\x89PNG")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert len(rows) == 2 + len(made.rows) + 1


def test_other_formats_are_refused(made: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a report can be .html or .md, not '.docx'"):
        write_report(made, tmp_path / "out.docx")


CHECK = """<script>
const wide = document.documentElement.scrollWidth > window.innerWidth + 1;
const drawn = [...document.querySelectorAll("figure svg")].every(s => s.getBBox().width > 100);
const svg = document.querySelector("figure svg"), before = svg.getAttribute("viewBox");
const turn = {deltaY: -1, clientX: 50, clientY: 50, cancelable: true};
svg.dispatchEvent(new WheelEvent("wheel", turn));
const zoomed = svg.getAttribute("viewBox") !== before;
document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
const back = svg.getAttribute("viewBox").split(" ").every((v, i) => +v === +before.split(" ")[i]);
document.documentElement.dataset.found = [wide, drawn, zoomed, back].join();
</script></body>"""


@pytest.mark.long
@pytest.mark.parametrize("width", [375, 1440])
def test_a_browser_renders_the_page_and_zooms_its_figures(
    page: Path, tmp_path: Path, width: int
) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no chromium on this machine")
    checked = tmp_path / "checked.html"
    checked.write_text(page.read_text(encoding="utf-8").replace("</body>", CHECK), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900"]
    done = subprocess.run(
        [browser, *options, "--dump-dom", checked.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert 'data-ready="yes"' in done.stdout
    assert 'data-found="false,true,true,true"' in done.stdout
    assert "CONSOLE" not in done.stderr
