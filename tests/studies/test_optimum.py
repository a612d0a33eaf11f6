"""The task that solves to proof, and features of schedules, on cases by hand."""

import pytest

from ratiolab.model import Instance, Schedule
from ratiolab.papers import experiments
from ratiolab.studies.tasks.optimum import held_back, idle, inverted, optimum

EXPERIMENT = experiments()["exact-ratios"]


def test_pairs_are_inverted_when_the_longer_starts_strictly_first() -> None:
    three = Instance("three", 9, [0, 0, 4], [1, 1, 1], [1, 2, 1])
    assert inverted(Schedule.from_starts(three, [0, 0, 4])) == 0
    assert inverted(Schedule.from_starts(three, [2, 0, 4])) == 1  # the third comes later
    assert inverted(Schedule.from_starts(three, [5, 4, 4])) == 1 / 2


def test_a_request_is_held_back_when_it_fits_to_its_end_and_waits() -> None:
    two = Instance("two", 5, [0, 0], [1, 1], [2, 3])
    # started together they would hold 3 + 3 at time 2; a round apart 3 + 2
    assert held_back(Schedule.from_starts(two, [0, 1])) == 0
    assert held_back(Schedule.from_starts(two, [0, 2])) == 1 / 2
    roomy = two.replace(memory=9)
    assert held_back(Schedule.from_starts(roomy, [0, 1])) == 1 / 2


def test_memory_is_idle_while_somebody_waits() -> None:
    two = Instance("two", 5, [0, 0], [1, 1], [2, 3])
    # 2, 3 + 2 tokens at times 1 and 2, then 3, 4: before the last start, at 1, only the first time
    assert idle(Schedule.from_starts(two, [0, 1])) == 1 - 2 / 5
    assert idle(Schedule.from_starts(two, [0, 0])) == 0
    assert idle(Schedule.from_starts(two, [0, 3])) == pytest.approx(1 - (2 + 3 + 0) / 15)


def test_rows_of_a_cell_are_exact() -> None:
    cell = EXPERIMENT.study(quick=True).cells[0]
    rows = optimum(cell)
    assert [row["policy"] for row in rows] == ["mc-sf", "svf"]
    for row in rows:
        assert row["opt_lower"] == row["opt_upper"] <= row["total_latency"]
