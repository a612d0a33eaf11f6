"""The page of what changed: what it says of the pages of today stands on them."""

import re
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "results"
VERDICTS = ("holds", "not reproduced", "undecided")


def rows() -> list[tuple[str, str]]:
    """Return page and present figure of each change."""
    lines = (RESULTS / "changes.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    return [(re.findall(r"\((.+?\.md)\)", cells[0])[0], cells[3]) for cells in table]


def test_every_present_figure_of_a_change_stands_on_its_page() -> None:
    assert len(rows()) > 10
    for name, now in rows():
        page = (RESULTS / name).read_text(encoding="utf-8")
        verdict, colon, figure = now.partition(": ")
        assert (figure if colon and verdict in VERDICTS else now) in page, now
        if colon and verdict in VERDICTS:
            line = next(line for line in page.splitlines() if figure in line)
            assert f"| {verdict} |" in line, now
