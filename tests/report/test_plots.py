"""Pictures of schedules and experiments: what is drawn adds up to what it shows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from numpy.typing import NDArray

from ratiolab import Fleet, simulate_fleet, solve_promises
from ratiolab.model import Instance, Schedule
from ratiolab.online import make, simulate
from ratiolab.report.plots import picture, save
from ratiolab.report.plots.canvas import FORMATS, save_all
from ratiolab.report.plots.experiments import dots, grouped_bars, lines, panels
from ratiolab.report.plots.schedules import FEW, LOST, MANY
from ratiolab.studies.frames import intervals
from ratiolab.workloads.blocks import in_blocks
from ratiolab.workloads.generators import generate

FEW_REQUESTS = generate("jaillet-model-2", 3)
EVICTING = Instance(
    "evicting", 12, [0, 0, 0, 3], [1, 1, 1, 2], [9, 8, 2, 4], lower=[1] * 4, upper=[9] * 4
)


def lengths(lines: LineCollection) -> float:
    """All segments together, along the time axis."""
    return float(sum(segment[-1, 0] - segment[0, 0] for segment in lines.get_segments()))


def area(corners: NDArray[np.float64]) -> float:
    """Of a polygon, by the shoelace formula."""
    x, y = corners.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def areas(collection: PolyCollection) -> float:
    return sum(area(np.asarray(path.vertices)) for path in collection.get_paths())


def drawn(schedule: Schedule) -> tuple[Any, Any]:
    """The left and the right axes of a picture of one schedule."""
    left, right, *_ = picture([("alone", schedule)]).axes
    return left, right


def test_few_requests_wait_and_run_for_the_total_latency():
    assert len(FEW_REQUESTS) <= FEW
    schedule = simulate(FEW_REQUESTS, make("mc-sf")).schedule
    left, _ = drawn(schedule)
    waiting, lost, kept = left.collections
    assert lengths(lost) == 0
    assert lengths(kept) == FEW_REQUESTS.output.sum()
    assert lengths(waiting) + lengths(kept) == schedule.total_latency


def test_lost_runs_are_drawn_apart_and_explained():
    schedule = simulate(EVICTING, make("a-min"), seed=1).schedule
    assert schedule.evictions > 0
    left, _ = drawn(schedule)
    waiting, lost, kept = left.collections
    assert lengths(lost) == schedule.wasted_tokens
    # the line of a request goes on under its lost runs: it has waited for its last start
    assert lengths(waiting) + lengths(kept) == schedule.total_latency
    (legend,) = left.figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert any("evicted" in text for text in texts)
    assert any(handle.get_color() == LOST for handle in legend.get_lines())


def test_the_middle_shows_mean_usage_between_its_extremes():
    n = (FEW + MANY) // 2
    instance = generate("jaillet-model-1", 5, n_least=n, n_most=n)
    schedule = simulate(instance, make("mc-sf")).schedule
    left, right = drawn(schedule)
    assert lengths(left.collections[0]) + lengths(left.collections[2]) == schedule.total_latency
    curve, _limit = right.lines
    edges = np.append(curve.get_xdata(), len(schedule.usage()))
    assert np.diff(edges) @ curve.get_ydata() == pytest.approx(schedule.usage().sum())
    (band,) = right.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == schedule.usage().max()


def test_many_requests_are_counted_and_the_area_is_the_total_latency():
    instance = generate("uniform", 2, n=MANY)
    schedule = simulate(instance, make("mc-sf")).schedule
    left, _ = drawn(schedule)
    wait, run = left.collections
    # the curves are sampled at a few hundred points
    assert areas(wait) + areas(run) == pytest.approx(schedule.total_latency, rel=0.02)
    assert areas(run) == pytest.approx(int(instance.output.sum()), rel=0.02)


def test_a_picture_is_saved_in_one_step_and_alike_each_time(tmp_path):
    panels = [("one", simulate(EVICTING, make("mc-sf")).schedule)]
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for name in ("a", "b"):
        written = save_all(picture(panels), tmp_path / f"{name}.png", FORMATS)
        assert [path.name for path in written] == [f"{name}.{kind}" for kind in FORMATS]
    for kind in FORMATS:
        first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("a", "b"))
        assert first.startswith(starts[kind])
        assert first == second
    with pytest.raises(ValueError, match="png, svg, pdf"):
        save(picture(panels), tmp_path / "picture.txt")
    assert len(list(tmp_path.iterdir())) == 2 * len(FORMATS)


def test_one_terrible_policy_is_cut_off_and_says_where_it_ends():
    two = Instance("two", 30, [0, 0], [1, 1], [5, 5])
    good = Schedule.from_starts(two, [0, 0])
    bad = Schedule.from_starts(two, [0, 95])
    top, _, bottom, right = picture([("good", good), ("bad", bad)]).axes[:4]
    assert top.get_xlim() == bottom.get_xlim() == (0, 2 * 5)
    for ax in (bottom, right):
        assert any("ends at round 100" in text.get_text() for text in ax.texts)
    assert not any("ends at" in text.get_text() for text in top.texts)


@pytest.mark.parametrize("method", ["schedule", "simulation"])
def test_each_replica_has_a_panel_with_the_numbers_of_its_requests_in_the_fleet(method):
    fleet = Fleet(Instance("f", 30, [0] * 4, [1] * 4, [20, 5, 5, 6]), 2)
    run = simulate_fleet(fleet, "fcfs", "least-work")
    assert run.replica.tolist() == [0, 1, 1, 1]
    top, right, bottom, *_ = (run if method == "simulation" else run.schedule).plot().axes
    names = [[label.get_text() for label in ax.get_yticklabels()] for ax in (top, bottom)]
    assert names == [["0"], ["1", "2", "3"]]
    assert [ax.get_title(loc="left") for ax in (top, bottom)] == ["replica 0", "replica 1"]
    assert [lengths(ax.collections[2]) for ax in (top, bottom)] == [20, 16]
    assert top.get_xlim()[1] == run.schedule.runs.makespan
    assert len({ax.collections[2].norm for ax in (top, bottom)}) == 1  # one colour, one length
    assert areas(right.collections[0]) == run.parts[0].schedule.usage().sum()


def test_requests_that_never_complete_wait_until_the_end():
    two = Instance("two", 4, [0, 3], [1, 1], [3, 3])
    for runs, waited in (([], 0), ([(1, 3, 6)], 6)):
        left, right = drawn(Schedule.from_runs(two, runs))
        assert lengths(left.collections[0]) == waited
        assert areas(right.collections[0]) == sum(2 + k for k in range(3)) * len(runs)
    many = Instance("many", 4, [0] * MANY, [1] * MANY, [3] * MANY)
    assert drawn(Schedule.from_runs(many, []))[0].get_xlim() == (0, 1)


def test_a_solve_of_promises_is_drawn_as_its_schedule():
    solved = solve_promises(Instance("two", 9, [0, 0], [1, 1], [3, 3], weight=[1, 2]), "weighted")
    assert lengths(solved.plot().axes[0].collections[2]) == 6


def test_axes_say_whether_memory_is_in_tokens_or_in_blocks():
    blocks = in_blocks(Instance("b", 160, [0, 0], [16, 33], [40, 20]), 16)
    schedule = simulate(blocks, make("mc-sf")).schedule
    left, right, bar = picture([("one", schedule)]).axes
    assert right.get_ylabel() == "held (blocks of 16 tokens)"
    assert left.get_xlabel() == right.get_xlabel() == "round (of 16 tokens)"
    assert bar.get_ylabel() == "output length (blocks of 16 tokens)"
    assert drawn(simulate(EVICTING, make("mc-sf")).schedule)[1].get_ylabel() == "held (tokens)"


def test_paused_requests_are_drawn_with_the_memory_that_they_keep():
    one = Instance("one", 9, [0], [2], [5])
    schedule = Schedule(one, [0, 0], [0, 5], [3, 7], "pause", [5, 7])
    left, right = drawn(schedule)
    (wedges,) = right.collections
    assert areas(wedges) == schedule.usage().sum() == 3 + 4 + 5 + 5 + 5 + 6 + 7
    (legend,) = left.figure.legends
    assert "runs, then paused" in [text.get_text() for text in legend.get_texts()]


def test_charts_draw_a_line_or_bar_for_every_label(tmp_path):
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


def test_a_line_breaks_where_a_label_has_no_value():
    frame = pd.DataFrame({"n": [1000, 3000, 6000, 1000, 6000, 3000], "policy": list("aaabbc")})
    _figure, (ax,) = panels(1)
    lines(frame.assign(mean=2.0, low=1.0, high=3.0), "n", "policy", ax)
    drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    assert [len(points) for points in drawn.values()] == [3, 3, 1]
    assert np.isnan(drawn["b"][1, 1])
    assert not np.isnan(drawn["a"]).any()
    assert len({str(line.get_linestyle()) + line.get_color() for line in ax.get_lines()}) == 3
    assert ax.xaxis.get_major_formatter()(6000, 0) == "6,000"


def test_bars_stand_on_their_base_or_hang_from_it():
    frame = pd.DataFrame({"n": [1, 2], "policy": "a", "mean": [1.5, 0.75], "low": 0.7, "high": 1.6})
    _, (ax,) = panels(1)
    grouped_bars(frame, "n", "policy", ax, base=1)
    ends = [sorted(patch.get_bbox().intervaly.tolist()) for patch in ax.patches]
    assert ends == [[1, 1.5], [0.75, 1]]


def test_a_row_of_dots_has_a_point_for_every_label_that_has_a_value():
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
