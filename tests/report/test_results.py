"""Every result can be read as data, as a table, as HTML and as a picture."""

import json

import pytest
from matplotlib.figure import Figure

from ratiolab.hindsight import solve
from ratiolab.model import Instance, Schedule
from ratiolab.model.display import Result, Tabular
from ratiolab.online import make, simulate
from ratiolab.papers import run_claims
from ratiolab.papers import select as claims
from ratiolab.ratio import compare

INSTANCE = Instance("EC.1 <b>", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
RESULTS: dict[str, Result] = {
    "schedule": Schedule.from_starts(INSTANCE, [0, 0, 2, 4]),
    "half a schedule": Schedule.from_runs(INSTANCE, [(0, 0, 1)]),
    "optimum": solve(INSTANCE),
    "simulation": simulate(INSTANCE, make("fcfs")),
    "stalled": simulate(INSTANCE, make("fcfs"), patience=0),
    "comparison": compare(INSTANCE, [make("mc-sf"), make("a-min")], runs=2),
}
TABLES: dict[str, Tabular] = {"instance": INSTANCE, **RESULTS}
ROWS = {
    "instance": 4,
    "schedule": 4,
    "half a schedule": 1,
    "simulation": 4,
    "stalled": 4,
    "comparison": 2,
}


@pytest.mark.parametrize("name", TABLES)
def test_data_are_json_and_the_table_is_html(name: str) -> None:
    result = TABLES[name]
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()
    frame = result.to_frame()
    assert len(frame) == ROWS.get(name, len(frame)) > 0
    html = result._repr_html_()
    assert "<table" in html
    assert "\n" not in result.headline
    assert "<b>" not in html, "names come from files: they are text, not markup"


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_drawn(name: str) -> None:
    figure = RESULTS[name].plot()
    assert isinstance(figure, Figure)
    assert figure.axes


def test_verdicts_are_a_list_a_table_and_a_picture() -> None:
    reports = run_claims(claims(ids=["chen2025/example-1", "jaillet2025/claim-4-8"]))
    assert len(reports) == len(reports.to_frame()) == 2
    assert reports.headline.startswith("2 holds")
    assert json.loads(json.dumps(reports.to_dict())) == reports.to_dict()
    assert "<td" in reports._repr_html_()
    (ax,) = reports.plot().axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["chen2025", "jaillet2025"]


def test_the_data_of_an_instance_make_it_again() -> None:
    assert Instance(**INSTANCE.to_dict()) == INSTANCE


def test_a_comparison_shows_the_proven_ends_of_each_ratio() -> None:
    comparison = compare(INSTANCE, [make("a-min")], runs=2)
    row, ratio = comparison.to_frame().iloc[0], comparison.row("a-min").ratio
    assert ratio is not None
    assert (row["ratio_low"], row["ratio_high"]) == (float(ratio.low), float(ratio.high))
