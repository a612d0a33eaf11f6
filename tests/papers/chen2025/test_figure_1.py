"""Figure 1 of Chen et al.: the page agrees with the claim, by its own table."""

from fractions import Fraction
from pathlib import Path

import pytest

from ratiolab.papers import experiments, redraw, reproduce
from ratiolab.theory.rayleigh.amin import matrices
from ratiolab.version import made_by

FIGURE_1 = experiments()["chen2025-figure-1"]


def test_the_table_has_the_exact_maximum_at_u_2(tmp_path: Path) -> None:
    """At u = 2, 5/4 B - A is singular and has no negative direction, so the maximum is 5/4."""
    page = reproduce(FIGURE_1, tmp_path, quick=True, workers=1)
    lines = (tmp_path / "chen2025-figure-1.csv").read_text().splitlines()
    place = {name: lines[0].split(",").index(name) for name in ("u", "ratio")}
    table = {int(row[place["u"]]): float(row[place["ratio"]]) for row in map(_cells, lines[1:])}
    assert sorted(table) == list(range(2, 61))
    A, B = matrices(1, 2, exact=True)
    rest = Fraction(5, 4) * B - A
    assert rest[0, 0] * rest[1, 1] == rest[0, 1] ** 2
    assert table[2] == pytest.approx(1.25, abs=1e-8)
    assert "| 2 | 1.250000 | 1.369198 |" in page.read_text()
    picture = tmp_path / "chen2025-figure-1-ratio.png"
    # drawn once more from the table alone
    written, drawn = page.read_text(), picture.read_bytes()
    assert written.endswith(f"{made_by()}.*\n")
    picture.unlink()
    assert redraw(FIGURE_1, tmp_path, quick=True).read_text() == written
    assert picture.read_bytes() == drawn


def _cells(line: str) -> list[str]:
    return line.split(",")
