"""Charts of claim against computation: labelled, uncovered, and drawn from the right numbers."""

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ratiolab.papers import ClaimReport, Verdict, evidence, run_claims, select
from ratiolab.papers.chen2025 import figures as chen2025_figures
from ratiolab.papers.chen2025 import policy_figures as chen2025_policies
from ratiolab.papers.jaillet2025 import figures as jaillet2025
from ratiolab.papers.notebook import VerdictTable
from ratiolab.papers.shahout2025 import figures as shahout2025
from ratiolab.papers.shahout2025.queues import mg1
from ratiolab.papers.shahout2025.queues.mg1_simulation import exponential_predictions
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import PRINTED, SIMULATED, Curve, Panel, chart
from ratiolab.report.plots.names import symbols

CHARTS: dict[str, Callable[[], Chart]] = {
    "figure 1": lambda: chen2025_figures.figure_1(most=2**12),
    "prompts": lambda: chen2025_figures.prompts(most=256),
    "figure 2": lambda: chen2025_figures.figure_2(upper=12),
    "figure 3": lambda: chen2025_figures.figure_3(points=12, cut=10),
    "theorem 2": chen2025_policies.theorem_2,
    "A_min": chen2025_policies.a_min_simulated,
    "policies": lambda: chen2025_policies.all_policies(most=256),
    "theorem 4.1": jaillet2025.theorem_4_1,
    "lemma 4.7": jaillet2025.lemma_4_7,
    "constants": jaillet2025.constants,
    "section 5.1": jaillet2025.section_5_1,
    "section 5.1, small": lambda: jaillet2025.section_5_1_small(most=4, draws=3),
    "perfect": lambda: shahout2025.response_times("perfect"),
    "exponential": lambda: shahout2025.response_times("exponential"),
    "light traffic": shahout2025.light_traffic,
    "figure 8": lambda: shahout2025.figure_8("perfect"),
    "saturation": shahout2025.saturation,
    "refinement": shahout2025.refinement,
}


COARSE = mg1.Joint(mg1.exponential_density, nodes=35)


@cache
def drawn(name: str) -> Chart:
    """A chart from small simulations: what is tested is the drawing, not the precision."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "REQUESTS", 16)
        patch.setattr(evidence, "SEEDS", range(2))
        patch.setattr(chen2025_policies, "SEEDS", range(2))
        patch.setattr(chen2025_policies, "MEMORIES", [16, 32])
        patch.setattr(shahout2025, "JOBS", 20_000)
        patch.setattr(mg1, "EXPONENTIAL", COARSE)
        patch.setitem(shahout2025.SAMPLERS, "exponential", (COARSE, exponential_predictions))
        return CHARTS[name]()


def line(ax: Axes, label: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The data of the line with this label, or of the only one whose label begins so."""
    label = symbols(label)
    found = [(str(each.get_label()), each) for each in ax.lines]
    found += [(str(bars.get_label()), bars[0]) for bars in ax.containers]
    exact = [each for name, each in found if name == label]
    (only,) = exact or [each for name, each in found if name.startswith(label)]
    return np.asarray(only.get_xdata(), float), np.asarray(only.get_ydata(), float)


def ends(ax: Axes, label: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper ends of the bars with this label."""
    (bars,) = (each for each in ax.containers if str(each.get_label()).startswith(label))
    segments = np.array(bars[2][0].get_segments())
    return segments[:, 0, 1], segments[:, 1, 1]


@pytest.mark.studies
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_small_its_axes_are_named_and_no_legend_covers_data(name):
    figure = drawn(name)
    png = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert len(png) < 60_000  # notebooks store it
    figure.canvas.draw()
    for ax in figure.axes:
        assert ax.get_title(loc="left")
        assert ax.get_xlabel()
        legend = ax.get_legend()
        if legend is None:
            assert name == "refinement"
            continue
        assert ax.get_ylabel()
        box, frame = legend.get_window_extent(), ax.get_window_extent()
        assert box.y1 <= frame.y0
        assert box.y0 >= -1  # a pixel
        assert box.x1 <= figure.bbox.x1 + 1


def test_a_curve_is_drawn_as_given():
    bars = Curve("bars", [1, 2], [5.0, 6.0], SIMULATED, [4.0, 5.5], [7.0, 8.0])
    claim = Curve("claim", [1, 2], [3.0, 4.0], PRINTED)
    panel = Panel("t", "x", "y", [claim, bars], marks=[(1.5, "here")], y_range=(0, 9), whole_x=True)
    (ax,) = chart([panel]).axes
    assert line(ax, "claim")[1].tolist() == [3, 4]
    assert line(ax, "bars")[1].tolist() == [5, 6]
    low, high = ends(ax, "bars")
    assert (low.tolist(), high.tolist()) == ([4, 5.5], [7, 8])
    assert ax.get_ylim() == (0, 9)
    assert [text.get_text() for text in ax.texts] == ["here"]
    assert {tick % 1 for tick in ax.get_xticks()} == {0}


def test_a_table_of_verdicts_says_when_one_is_not_expected():
    (report,) = run_claims(select(ids=["chen2025/example-1"]))
    assert "(expected" not in VerdictTable([report])._repr_html_()
    assert repr(VerdictTable([report])) == "chen2025/example-1: holds (computed exactly)"
    result = dataclasses.replace(report.result, verdict=Verdict.FALSE, computed="a < b & c")
    html = VerdictTable([ClaimReport(report.claim, result, 0.0)])._repr_html_()
    assert "(expected holds)" in html
    assert "a &lt; b &amp; c" in html


def test_intervals_of_section_5_1_are_sorted_and_begin_above_one():
    for ax, draws in zip(drawn("section 5.1").axes, (20, 80), strict=True):
        low, high = ends(ax, "certified")
        assert len(low) == draws
        assert (np.diff(low) >= 0).all()
        assert (low > 1).all()
        assert (low < high).all()
        assert np.allclose(line(ax, "certified")[1], low)
