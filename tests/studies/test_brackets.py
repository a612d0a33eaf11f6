"""Brackets whose effort is counted: walks close them, or leave what is proven."""

import pytest

from ratiolab.hindsight.labelling import weights
from ratiolab.studies.cell import Cell, Value
from ratiolab.studies.tasks import TASKS, bounds


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "STEPS", 5)


def eleven(walks: int) -> tuple[int, int]:
    """Return the bracket of eleven requests after so many questions of walks."""
    fields: dict[str, Value] = {
        "task": "bracket",
        "workload": "jaillet-model-1",
        "workload.n_least": 11,
        "workload.n_most": 11,
        "seed": 8,
        "option.steps": 1,
        "option.rounds": 1,
        "option.walks": walks,
    }
    row = TASKS["bracket"].run(Cell(fields))[0]
    lower, upper = row["opt_lower"], row["opt_upper"]
    assert isinstance(lower, int)
    assert isinstance(upper, int)
    return lower, upper


def test_walks_close_a_bracket_and_stop_after_so_many_questions() -> None:
    without, few, many = eleven(0), eleven(10), eleven(10**6)
    assert few == eleven(10)
    assert without[0] <= few[0] <= many[0] <= many[1] <= few[1] <= without[1]
    assert many[0] == many[1]
    assert without[0] < without[1]


def test_a_bracket_keeps_what_is_proven_where_tables_are_too_large_for_walks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower, (proven, latency) = eleven(0)[0], eleven(10**6)
    monkeypatch.setattr(weights, "MOST_CELLS", 0)
    refused = eleven(10**6)
    assert refused[0] == lower < proven
    assert latency <= refused[1]
