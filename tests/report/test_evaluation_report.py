"""Reports: complete, self-contained, and the same in a real browser, narrow and wide."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from processes import PATIENCE

from ratiolab.model import Instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA3_8B_A100
from ratiolab.ratio.evaluate import evaluate
from ratiolab.ratio.evaluation import Evaluation
from ratiolab.report.evaluation_report import write_report
from ratiolab.report.plots.pages import Pages, pages, width_of, wrapped

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
    assert parsed.seen.count("svg") == parsed.seen.count("figure") == 4
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids)) > 0
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)
    assert "<text" not in text  # letters are outlines, as wide as they were laid out


def test_the_page_says_what_the_evaluation_says(made: Evaluation, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for row in made.rows:
        assert f"<td>{row.name}</td>" in text
    assert "A line of its own." in text
    assert made.enclosed in text
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


def test_a_pdf_has_all_that_the_page_has_and_brings_its_fonts(
    made: Evaluation, tmp_path: Path
) -> None:
    notes = [("command", "ratiolab evaluate " + "a-long-name" * 30), ("price", "$5 and $6, 100 %")]
    write_report(made, tmp_path / "out.pdf", lines=["A line of its own."], provenance=notes)
    content = (tmp_path / "out.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type /Page\b", content))
    assert 2 <= pages <= 5
    fonts = content.count(b"/Type /FontDescriptor")
    assert fonts == content.count(b"/FontFile") > 0  # none is left to the reader's machine


def test_the_table_in_latex_is_whole_and_obeys_no_name(made: Evaluation, tmp_path: Path) -> None:
    write_report(made, tmp_path / "my report_1.tex")
    text = (tmp_path / "my report_1.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [
        line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert len(rows) == 1 + len(made.rows) + 1
    assert len({row.count("&") - row.count(r"\&") for row in rows}) == 1
    assert r"<b>a \& b</b>" in text
    assert r"\label{tab:my-report-1}" in text
    for chart in ("ratios", "distributions", "time", "gantt"):
        assert (tmp_path / f"my report_1-{chart}.pdf").read_bytes().startswith(b"%PDF")


def test_lines_are_wrapped_to_their_width() -> None:
    words = "a paragraph of several words and " + "one-word-that-is-wider-than-the-line" * 3
    lines = wrapped(words, 10, 2.0)
    assert all(width_of(line, 10) <= 2.0 for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")


def test_a_long_table_goes_on_with_its_header_on_the_next_page() -> None:
    rows = [[f"p{i}", "nothing", "1.0", "2.0"] for i in range(150)]

    def write(page: Pages) -> None:
        page.heading("Many")
        page.table(["policy", "knows", "mean latency", "at most"], [("all", rows)])

    made = pages(write)
    assert len(re.findall(rb"/Type /Page\b", made)) >= 3
    assert made == pages(write)  # undated: the same report is the same file


def test_other_formats_are_refused(made: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a report can be .html, .pdf, .tex, .md, not '.docx'"):
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
        timeout=PATIENCE,
        check=True,
    )
    assert 'data-ready="yes"' in done.stdout
    assert 'data-found="false,true,true,true"' in done.stdout
    assert "CONSOLE" not in done.stderr
