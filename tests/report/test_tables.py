"""Tables say what they can in the width that there is, and never half a number."""

import json
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from ratiolab import (
    Comparison,
    Evaluation,
    Fleet,
    FleetSchedule,
    OptResult,
    Simulation,
    simulate_fleet,
)
from ratiolab.evaluation.fleets import FleetEvaluation
from ratiolab.hindsight import solve
from ratiolab.hindsight.promises import PromiseResult
from ratiolab.hindsight.result import FleetResult
from ratiolab.model import Instance, Schedule
from ratiolab.model.display import Result, Tabular
from ratiolab.online import make, simulate
from ratiolab.online.fleets.loop import FleetSimulation
from ratiolab.online.metrics import summary
from ratiolab.papers import run_claims
from ratiolab.papers import select as claims
from ratiolab.ratio import compare
from ratiolab.report.tables import comparison_table, figures_table

COLUMNS = ("knows", "TEL", "95%", "ratio", "evictions", "wasted", "mean", "P99", "TTFT")


@pytest.fixture(scope="module")
def comparison():
    return compare(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), runs=2)


def drawn(table: object, width: int) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_a_comparison_drops_whole_columns_and_says_so(comparison, width):
    text = drawn(comparison_table(comparison, width), width)
    assert "…" not in text
    table, _, caption = text.partition("└")
    caption = " ".join(caption.split())
    shown = [name for name in COLUMNS if f" {name} " in table.splitlines()[2]]
    assert {"TEL", "ratio"} <= set(shown)
    assert [name for name in COLUMNS if name not in shown and name not in caption] == []
    assert ("a wider terminal also shows" in caption) == (len(shown) < len(COLUMNS))
    for row in comparison.rows:
        assert f" {row.policy.name} " in table


def test_requests_of_one_token_have_no_time_between_tokens():
    run = simulate(Instance("ones", 4, [0, 0], [1, 1], [1, 1]), make("fcfs"))
    text = drawn(figures_table([summary(run)], "rounds"), 100)
    assert "TTFT" in text
    assert "TPOT" not in text


INSTANCE = Instance("EC.1 <b>", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
RESULTS: dict[str, Callable[[], Result]] = {
    "schedule": lambda: Schedule.from_starts(INSTANCE, [0, 0, 2, 4]),
    "half a schedule": lambda: Schedule.from_runs(INSTANCE, [(0, 0, 1)]),
    "optimum": lambda: solve(INSTANCE),
    "simulation": lambda: simulate(INSTANCE, make("fcfs")),
    "stalled": lambda: simulate(INSTANCE, make("fcfs"), patience=0),
    "comparison": lambda: compare(INSTANCE, [make("mc-sf"), make("a-min")], runs=2),
}
"""Made when a test asks: every process imports this module, and the solver may have to compile."""

RUNS = Simulation, FleetSimulation, Schedule, FleetSchedule
SOLVED = OptResult, FleetResult, PromiseResult

ROWS = {
    "instance": 4,
    "schedule": 4,
    "half a schedule": 1,
    "simulation": 4,
    "stalled": 4,
    "comparison": 2,
}


@pytest.mark.parametrize("name", ["instance", *RESULTS])
def test_data_are_json_and_the_table_is_html(name):
    result: Tabular = INSTANCE if name == "instance" else RESULTS[name]()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()
    frame = result.to_frame()
    assert len(frame) == ROWS.get(name, len(frame)) > 0
    html = result._repr_html_()
    assert "<table" in html
    assert "\n" not in result.headline
    assert "<b>" not in html, "names come from files: they are text, not markup"


@pytest.mark.parametrize("kind", [Comparison, Evaluation, FleetEvaluation, *RUNS, *SOLVED])
def test_a_result_equals_itself_alone(kind):
    assert issubclass(kind, Result)
    assert (kind.__eq__, kind.__hash__) == (object.__eq__, object.__hash__)


def test_runs_of_a_fleet_can_be_compared_and_hashed():
    runs = [simulate_fleet(Fleet(INSTANCE, 2), "fcfs") for _ in range(2)]
    assert len({*runs, runs[0]}) == 2
    assert runs[0].to_dict() == runs[1].to_dict()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_drawn(name):
    figure = RESULTS[name]().plot()
    assert isinstance(figure, Figure)
    assert figure.axes


def test_verdicts_are_a_list_a_table_and_a_picture():
    reports = run_claims(claims(ids=["chen2025/example-1", "jaillet2025/claim-4-8"]))
    assert len(reports) == len(reports.to_frame()) == 2
    assert reports.headline.startswith("2 holds")
    assert json.loads(json.dumps(reports.to_dict())) == reports.to_dict()
    assert "<td" in reports._repr_html_()
    (ax,) = reports.plot().axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["chen2025", "jaillet2025"]


def test_a_comparison_shows_the_proven_ends_of_each_ratio():
    comparison = compare(INSTANCE, [make("a-min")], runs=2)
    row, ratio = comparison.to_frame().iloc[0], comparison.row("a-min").ratio
    assert (row["ratio_low"], row["ratio_high"]) == (float(ratio.low), float(ratio.high))
