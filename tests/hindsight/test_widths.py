"""When walks follow steps by beams, and how wide they are."""

from collections.abc import Callable
from math import inf

import pytest
from test_merging import many

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import climb, proof
from ratiolab.hindsight.paths.bundle import Ascent
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.widths import (
    CLIMBING,
    COUNTED,
    CROWDED,
    EARLY,
    EARLY_PART,
    LAST,
    LEAST_WIDTH,
    LONG,
    MINUTE,
    MOST_PATIENCE,
    NARROW,
    NARROWER,
    PART,
    REMEMBERING,
    SLOWER,
    WIDEST,
    Effort,
    Pace,
    Plan,
)

MOST = 400_000


class Clock:
    """Seconds that are left, as a test lets them go by."""

    def __init__(self, left: float) -> None:
        self.left = left

    def __call__(self) -> float:
        return self.left


def make_step(plan: Plan, clock: Clock, seconds: float) -> None:
    """Let a step take so many seconds."""
    plan.begin()
    clock.left -= seconds
    plan.stepped()


def test_layers_share_the_time_of_a_walk_and_small_ones_leave_theirs() -> None:
    """A state takes a millisecond; of 200 layers 150 are small, and as many seconds are left."""
    clock = Clock(250.0)
    pace, states, widths = Pace(clock, 200.0, 50_000), 10, []
    for layers in range(200, 0, -1):
        width = pace(layers, states)
        states = min(width, 10 if layers > 50 else 30_000)
        clock.left -= states / 1000
        widths.append(width)
    assert widths[:150] == [50_000] * 150
    assert widths[-1] < 10_000
    assert 48.0 < clock.left < 80.0
    assert widths[160] > 2 * widths[-2] >= 4_000  # the first may take more than their share


def test_a_layer_may_keep_some_states_when_no_time_is_left() -> None:
    clock = Clock(10.0)
    pace = Pace(clock, 1.0, 50_000)
    clock.left -= 5
    assert pace(100, COUNTED) == LEAST_WIDTH
    assert Pace(clock, 1.0, 70)(100, COUNTED) == 70


def test_a_layer_may_take_what_a_complete_walk_leaves_it() -> None:
    """A state takes a millisecond; the walk before had 40,000 in two layers, and few in 98."""
    expected = (10,) * 60 + (40_000, 40_000) + (10,) * 38
    for seconds, complete in ((110.0, True), (60.0, False)):
        clock, states, widths = Clock(200.0), 10, []
        paces = Pace(clock, seconds, 500_000, expected), Pace(clock, seconds, 500_000)
        clock.left -= 5.0
        for pace in paces:
            pace.before, pace.each = clock.left, 0.001
        for place, number in enumerate(expected):
            widths.append(tuple(pace(100 - place, states) for pace in paces))
            states = min(widths[-1][0], number)
            clock.left -= states / 1000
        assert (widths[60][0] >= 40_000 and widths[61][0] >= 40_000) is complete
        assert widths[60][1] < 40_000  # equal shares would merge states


def test_the_last_walk_comes_when_its_part_of_the_time_is_left_or_steps_stall() -> None:
    clock = Clock(100.0)
    plan = Plan(clock, MOST)
    dues = []
    for number in range(1, 10):
        make_step(plan, clock, 10)
        dues.append(plan.due(number, 0.1, stalled=False))
    assert dues.index(WIDEST) == next(k for k in range(9) if 90 - 10 * k - 10 <= 100 * PART)
    assert Plan(Clock(100.0), MOST).due(1, 0.1, stalled=True) == WIDEST
    assert Plan(Clock(100.0), 50_000).due(1, 0.1, stalled=True) == 50_000


def test_the_last_walk_waits_until_there_is_time_for_the_widest_alone() -> None:
    clock = Clock(200.0)
    plan = Plan(clock, MOST)
    make_step(plan, clock, 2)
    clock.left = 2 * LAST + 3
    assert plan.due(8, 0.1, stalled=False) == 0
    clock.left = 2 * LAST + 1
    assert plan.due(8, 0.1, stalled=False) == WIDEST


def test_once_a_walk_has_merged_nothing_the_next_waits_until_there_is_time_for_it_alone() -> None:
    clock = Clock(100.0)
    plan = Plan(clock, MOST)
    plan.begin()
    clock.left -= 10
    plan.walked()
    make_step(plan, clock, 40)
    clock.left = 40 + 10 * SLOWER + 0.5
    assert plan.due(2, 0.1, stalled=False) == 0
    clock.left = 40 + 10 * SLOWER - 0.5
    assert plan.due(2, 0.1, stalled=False) == WIDEST


def test_with_minutes_a_walk_comes_early_and_the_last_has_room_for_more_states() -> None:
    clock = Clock(2 * LONG)
    plan = Plan(clock, MOST, None, 3.0)
    make_step(plan, clock, 2)
    clock.left = EARLY * 2 * LONG + 3
    assert plan.due(1, 0.1, stalled=False) == 0
    clock.left = EARLY * 2 * LONG + 1
    assert plan.due(2, 0.1, stalled=False) == WIDEST
    pace = plan.pace(WIDEST)
    assert pace is not None
    assert pace.before - pace.end == pytest.approx(EARLY_PART * 2 * LONG)
    plan.tried()
    assert plan.due(3, 0.1, stalled=False) == 0
    clock.left = 3 * 2 * LAST + 3
    assert plan.due(3, 0.1, stalled=False) == 0
    clock.left = 3 * 2 * LAST + 1
    assert plan.due(4, 0.1, stalled=False) == 3 * WIDEST
    pace = plan.pace(WIDEST)
    assert pace is not None
    assert pace.end < 0.1 * clock.left  # the last walk has all that is left


def test_a_minute_has_no_early_walk_and_no_wider_ones() -> None:
    assert not Plan(Clock(60.0), MOST, None, 3.0).early
    assert Plan(Clock(60.0), MOST, None, 3.0).due(1, 0.1, stalled=True) == WIDEST
    assert not Plan(lambda: inf, MOST).early
    assert not Plan(Clock(600.0), MOST, Effort(4, 9, 0.02, 500)).early
    assert Plan(Clock(600.0), MOST, None, 3.0).early


def test_steps_that_are_walks_have_a_part_of_the_time() -> None:
    clock = Clock(100.0)
    plan = Plan(clock, MOST)
    clock.left = 100 * (1 - CLIMBING) + 1
    assert not plan.spent
    clock.left -= 2
    assert plan.spent
    assert not Plan(lambda: inf, MOST).spent


def test_steps_go_on_where_walks_that_remember_would_not_end() -> None:
    for seconds, waits in ((0.9 * 50 / REMEMBERING, False), (1.1 * 50 / REMEMBERING, True)):
        clock = Clock(100.0)
        plan = Plan(clock, MOST)
        clock.left = 50.0 + seconds
        make_step(plan, clock, seconds)
        assert plan.spent is not waits


def test_without_a_limit_walks_are_narrow_until_steps_stall() -> None:
    plan = Plan(lambda: inf, MOST)
    plan.begin()
    plan.stepped()
    assert plan.due(8, 0.1, stalled=False) == 0
    assert plan.narrow() == NARROW
    assert plan.due(8, 0.1, stalled=True) == WIDEST
    assert plan.pace(WIDEST) is None


def test_walks_before_the_last_are_made_while_they_take_little_of_the_time() -> None:
    clock = Clock(100.0)
    plan = Plan(clock, MOST)
    make_step(plan, clock, 2.5)
    assert plan.narrow() == NARROW
    assert plan.probes(1.0)
    assert not plan.probes(CROWDED)
    clock.left = 50.0
    assert plan.narrow() == NARROWER
    assert plan.probes(1.0)
    clock.left = 30.0
    assert plan.narrow() == 0
    assert plan.probes(1.0)
    clock.left = 20.0
    assert not plan.probes(1.0)


def test_where_a_walk_has_merged_nothing_another_comes_in_place_of_a_narrow_one() -> None:
    clock = Clock(100.0)
    plan = Plan(clock, MOST)
    plan.begin()
    clock.left -= 4
    plan.walked((1, 2))
    make_step(plan, clock, 1)
    assert plan.narrow() == WIDEST
    clock.left = 40.0
    assert plan.narrow() == 0


def test_without_a_clock_it_comes_once_the_schedule_is_near_or_steps_are_many() -> None:
    plan = Plan(lambda: inf, MOST, Effort(4, 9, 0.02, 500))
    far = [plan.due(number, 0.03, stalled=False) for number in range(1, 11)]
    near = [plan.due(number, 0.02, stalled=False) for number in range(1, 11)]
    assert far == [0] * 8 + [500] * 2
    assert near == [0] * 3 + [500] * 7
    assert plan.due(1, 0.03, stalled=True) == 500
    assert Plan(lambda: inf, 300, plan.effort).due(9, 0.03, stalled=False) == 300
    assert not plan.limited
    assert not plan.probes(1.0)
    assert plan.narrow() == 0


@pytest.mark.parametrize("steps", [1, 3])
def test_without_a_clock_steps_are_counted(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    instance = many(40)
    duals = cut_bound(instance, rounds=1).certificate
    events, bounds = watched(monkeypatch), []
    proof.prove(
        *(instance, duals, lambda: 2 * duals.bound, lambda: bool(bounds)),
        lambda _, proven: bounds.append(proven.bound if proven else 0),
        effort=Effort(1, steps, 0.0, 400),
    )
    beams = steps + (steps > 1)  # a wide one follows narrow ones
    assert events[: beams + 1] == ["beam"] * beams + [400]
    assert bounds[-1] > duals.bound


def watched(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note steps by beams and the widths of walks that merge, as they come."""
    events: list[object] = []
    merge, step = Passes.merge, Ascent.step

    def merged(self: Passes, width: int, *more: object) -> object:
        events.append(width)
        return merge(self, width, *more)  # type: ignore[arg-type]

    def stepped(self: Ascent, stop: Callable[[], bool]) -> tuple[int, bool]:
        events.append("beam")
        return step(self, stop)

    monkeypatch.setattr(Passes, "merge", merged)
    monkeypatch.setattr(Ascent, "step", stepped)
    return events


def climbed(
    monkeypatch: pytest.MonkeyPatch, left: Callable[[], float], events: int
) -> list[object]:
    """What a proof of forty requests does first."""
    instance = many(40)
    duals = cut_bound(instance, rounds=1).certificate
    seen = watched(monkeypatch)
    nobody = (lambda: 2 * duals.bound), (lambda: len(seen) >= events), (lambda *found: None)
    proof.prove(instance, duals, *nobody, left=left)
    return seen


def test_walks_that_merge_nothing_take_the_place_of_beams(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = climb.EXACT_WIDTH
    monkeypatch.setattr(climb, "EXACT_STATES", 100)
    monkeypatch.setattr(climb, "PROBED", 100)
    chosen: list[Ascent] = []
    monkeypatch.setattr(Ascent, "by_levels", lambda ascent: chosen.append(ascent))
    assert climbed(monkeypatch, lambda: inf, 4) == ["beam", exact, exact, exact]
    assert chosen


def test_where_walks_merge_steps_are_beams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climb, "EXACT_WIDTH", 10)
    seen = climbed(monkeypatch, lambda: inf, 11)
    assert seen == ["beam", 10, *["beam"] * 7, NARROW, 10]


@pytest.mark.parametrize(("seconds", "room"), [(60.0, 1.0), (250.0, 2.5), (900.0, 3.0), (inf, 3.0)])
def test_walks_keep_more_states_where_there_is_more_time_and_memory(
    seconds: float, room: float
) -> None:
    assert Plan(Clock(seconds), MOST, roomiest=3.0).room == room
    assert Plan(Clock(seconds), MOST).room == 1.0
    assert Plan(Clock(seconds), MOST, Effort(1, 1, 0.0, 100), roomiest=3.0).room == 1.0


@pytest.mark.parametrize(("seconds", "times"), [(30.0, 1.0), (60.0, 1.0), (180.0, 3.0), (inf, 6.0)])
def test_more_steps_may_gain_little_where_there_is_more_time(seconds: float, times: float) -> None:
    assert Plan(Clock(seconds), MOST).patience == times


def test_many_requests_wait_longer_with_a_longer_limit_and_few_only_when_they_have_to() -> None:
    assert Plan(Clock(3 * MINUTE), MOST).patience == 3
    assert not Plan(Clock(3 * MINUTE), MOST).wait_longer()
    few, waited = Plan(Clock(3 * MINUTE), MOST, many=False), [1.0]
    assert few.patience == 1
    while few.wait_longer():
        waited.append(few.patience)
    assert waited == [1, 2, 4, MOST_PATIENCE]
