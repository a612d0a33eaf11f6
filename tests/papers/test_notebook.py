"""What notebooks show of experiments."""

from pathlib import Path

import pytest

from ratiolab import papers
from ratiolab.papers.notebook import Reproduction, quick, split_row

PAGE = """# A title

| other | x |
|---|---|
| 1 | 2 |

| statement | paper | ours | reproduced | why |
|---|---|---|---|---|
| a < b\\|c | 1 | 2 | no | because |

| policy | y |
|---|---|
| z | 3 |
"""


def test_a_reproduction_shows_its_statements_and_nothing_else() -> None:
    shown = Reproduction(PAGE, {"rates": b"png"})
    html = shown._repr_html_()
    assert html.count("<tr>") == 2
    assert "a &lt; b|c</td>" in html
    assert "because" not in html
    assert repr(shown) == "A title"
    assert shown.picture("rates")._repr_png_() == b"png"
    assert "png" not in repr(shown.picture("rates"))


def test_cells_of_a_row_keep_bars_of_their_own() -> None:
    assert split_row("| a\\|b |  | 1 |") == ["a|b", "", "1"]


def test_quick_runs_the_quick_version_and_keeps_its_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(experiment: str, out: Path, *, quick: bool) -> Path:
        assert quick
        (out / "mine-rates.png").write_bytes(b"1")
        (out / "mine.md").write_text(f"{PAGE}{experiment}", encoding="utf-8")
        return out / "mine.md"

    monkeypatch.setattr(papers, "experiments", lambda: {"mine": "the experiment"})
    monkeypatch.setattr(papers, "reproduce", run)
    found = quick("mine")
    assert found.pictures == {"rates": b"1"}
    assert found.text.endswith("the experiment")
