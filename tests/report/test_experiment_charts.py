"""Charts of experiments: what is drawn for every label, and what is written around it."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.text import Text

from ratiolab.report.plots import save
from ratiolab.report.plots.experiments import (
    dots,
    enclosures,
    grouped_bars,
    lines,
    panels,
    shared_legend,
)
from ratiolab.studies.frames import intervals


def test_charts_draw_a_line_or_bar_for_every_label(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"n": [1, 1, 2, 2] * 2, "policy": ["a"] * 4 + ["b"] * 4, "v": [1, 2, 3, 4, 5, 6, 7, 9.0]}
    )
    table = intervals(frame, ["n", "policy"], "v")
    figure, axes = panels(2)
    lines(table, "n", "policy", axes[0], log_y=True)
    assert [line.get_label() for line in axes[0].get_lines()] == ["a", "b"]
    assert axes[0].get_lines()[1].get_ydata().tolist() == [5.5, 8.0]
    grouped_bars(table, "n", "policy", axes[1])
    assert sorted(patch.get_height() for patch in axes[1].patches) == [1.5, 3.5, 5.5, 8.0]
    save(figure, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_line_breaks_where_a_label_has_no_value() -> None:
    frame = pd.DataFrame({"n": [1000, 3000, 6000, 1000, 6000, 3000], "policy": list("aaabbc")})
    _figure, (ax,) = panels(1)
    lines(frame.assign(mean=2.0, low=1.0, high=3.0), "n", "policy", ax)
    drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    assert [len(points) for points in drawn.values()] == [3, 3, 1]
    assert np.isnan(drawn["b"][1, 1])
    assert not np.isnan(drawn["a"]).any()
    assert len({str(line.get_linestyle()) + line.get_color() for line in ax.get_lines()}) == 3
    assert ax.xaxis.get_major_formatter()(6000, 0) == "6,000"


def test_bars_stand_on_their_base_or_hang_from_it() -> None:
    frame = pd.DataFrame({"n": [1, 2], "policy": "a", "mean": [1.5, 0.75], "low": 0.7, "high": 1.6})
    _, (ax,) = panels(1)
    grouped_bars(frame, "n", "policy", ax, base=1)
    ends = [sorted(patch.get_bbox().intervaly.tolist()) for patch in ax.patches]
    assert ends == [[1, 1.5], [0.75, 1]]


def test_a_row_of_dots_has_a_point_for_every_label_that_has_a_value() -> None:
    frame = pd.DataFrame({"row": list("xxy"), "policy": list("aba"), "mean": [1.0, 2, 1]})
    _, (ax,) = panels(1)
    dots(frame.assign(low=0.5, high=3), "row", "policy", ax, reference=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]
    drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    assert drawn["a"][:, 0].tolist() == [1, 1]
    assert drawn["b"][0, 0] == 2
    assert np.isnan(drawn["b"][1, 0])
    assert (drawn["a"][:, 1] < drawn["b"][:, 1]).all()  # no label hides another
    assert ax.get_ylim() == (1.5, -0.5)


def test_a_note_stands_above_the_axes_and_below_their_title() -> None:
    frame = pd.DataFrame({"n": [256, 512], "policy": "a", "mean": 1.0, "low": 0.0, "high": 2.0})
    figure, (ax,) = panels(1)
    lines(
        *(frame, "n", "policy", ax),
        title="t",
        note="one\ntwo",
        log_x=True,
        ticks={256: "256", 512: "whole"},
    )
    figure.draw_without_rendering()
    (note,) = ax.texts
    assert note.get_window_extent().y0 >= ax.get_window_extent().y1
    (title,) = (t for t in ax.get_children() if isinstance(t, Text) and t.get_text() == "t")
    assert title.get_window_extent().y0 >= note.get_window_extent().y1
    assert [label.get_text() for label in ax.get_xticklabels(which="both")] == ["256", "whole"]


def test_the_legend_takes_the_place_that_the_last_row_leaves_free() -> None:
    frame = pd.DataFrame({"n": [1, 2], "policy": "a", "mean": 1.0, "low": 0.0, "high": 2.0})
    for count, free in ((2, False), (3, True), (4, False)):
        figure, axes = panels(count, columns=2)
        for ax in axes:
            lines(frame, "n", "policy", ax)
        shared_legend(figure, axes)
        assert (not figure.legends) == (len(figure.axes) > count) == free


def test_no_bar_of_an_enclosure_touches_the_frame() -> None:
    frame = pd.DataFrame({"s": "x", "policy": ["a", "b"], "bottom": [1.0, 2], "top": [2.0, 4]})
    for log_x in (True, False):
        (ax,) = enclosures(frame, "s", "policy", log_x=log_x).axes
        low, high = ax.get_xlim()
        assert low < 1
        assert high > 4


def test_a_row_without_a_bar_keeps_its_place() -> None:
    frame = pd.DataFrame(
        {"s": list("xxyy"), "policy": list("abab"), "bottom": [1.0, 2, 1, 2], "top": [2.0, 4, 2, 9]}
    )
    first, second = enclosures(frame, "s", "policy", most=5).axes  # the last bar is an arrow
    assert first.get_ylim() == second.get_ylim() == (1.5, -0.5)
