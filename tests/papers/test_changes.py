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


def test_every_present_verdict_of_a_claim_is_the_one_on_the_page_of_claims() -> None:
    lines = (RESULTS / "changes.md").read_text(encoding="utf-8").splitlines()
    turned = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    page = (RESULTS / "claims.md").read_text(encoding="utf-8")
    assert len(turned) > 10
    for claim, _, now, _ in turned:
        text = page.partition(f"### {claim.strip('`')}\n")[2]
        assert text.partition("- Verdict: ")[2].startswith(f"**{now}**"), claim
