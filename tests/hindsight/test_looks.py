"""Schedules from which searches begin anew: beams offer them, one thread or another takes them."""

import threading
from collections.abc import Callable

import pytest
from test_merging import many
from test_paths import drawn

from ratiolab.hindsight.background import BackgroundHeuristic
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.path_stages import Paths
from ratiolab.hindsight.paths import proof
from ratiolab.hindsight.paths import walk as walks
from ratiolab.hindsight.paths.potentials import directions
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.schedules import heuristics
from ratiolab.hindsight.schedules.heuristics import Look, best_list_schedule, search_anew
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model import Instance, Schedule, stream
from ratiolab.model.feasibility import violations


@pytest.fixture(autouse=True)
def searches_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristics, "ANEW", 2_500)


def offered(instance: Instance, asks: int) -> tuple[list[Look], int]:
    """Return what a proof offers within so many questions, and the best schedule's latency."""
    duals, asked = cut_bound(instance, rounds=1).certificate, iter(range(asks))
    upper, looks = best_list_schedule(instance).total_latency, list[Look]()
    stop = lambda: next(asked, None) is None  # noqa: E731
    proof.prove(instance, duals, lambda: upper, stop, lambda *found: None, 200, looks.append)
    return looks, upper


def test_what_a_proof_offers_are_schedules_little_longer_than_the_best_at_any_later_time() -> None:
    looks, upper = offered(many(40), 15_000)
    assert len(looks) > 1
    found = [schedule for look in looks if (schedule := look(lambda: False)) is not None]
    assert found
    assert not any(violations(schedule) for schedule in found)
    assert all(schedule.total_latency < proof.ABOVE * upper for schedule in found)
    assert looks[0](lambda: True) is None


def test_few_requests_those_beyond_a_word_and_those_there_at_once_are_offered_nothing() -> None:
    at_once = many(40).replace(arrival=[0] * 40)
    for instance in (many(20), many(70), at_once):
        assert offered(instance, 500)[0] == []
    assert offered(many(40), 500)[0]


def test_a_search_anew_tells_of_the_schedule_itself_and_of_better_ones() -> None:
    instance, told = many(40), list[Schedule]()
    late = Schedule.from_starts(instance, 50 * instance.output.cumsum())
    search_anew(lambda stop: late, stream(0, "search"), lambda: False, told.append)
    assert told[0] is late
    assert min(schedule.total_latency for schedule in told[1:]) < late.total_latency
    search_anew(lambda stop: None, stream(0, "search"), lambda: False, told.clear)  # type: ignore[arg-type]
    assert told


def test_the_thread_beside_takes_what_a_stage_has_left() -> None:
    state = SolveState(many(40), SolveOptions("auto", time_limit=600.0, threads=2, steps=1))
    taken, over = threading.Event(), threading.Event()

    def look(stop: Callable[[], bool]) -> None:
        taken.set()
        over.wait(60)

    state.look = look
    with BackgroundHeuristic(state):
        assert state.helped
        assert taken.wait(60)
        assert state.look is None
        over.set()


@pytest.mark.parametrize("helped", [False, True])
def test_a_stage_leaves_looks_or_searches_from_them_itself(
    monkeypatch: pytest.MonkeyPatch, helped: bool
) -> None:
    instance = many(40)
    state = SolveState(instance, SolveOptions("auto", threads=1, steps=1))
    state.duals, state.helped = cut_bound(instance, rounds=1).certificate, helped
    late = state.schedule
    best = Schedule.from_starts(instance, late.starts)

    def look(stop: Callable[[], bool]) -> Schedule:
        asked.append(stop)
        return best

    def prove(*given: Callable[[Look], None]) -> None:
        for _ in range(5):
            given[-2](look)

    asked: list[object] = []
    monkeypatch.setattr(proof, "prove", prove)
    kept: list[Found] = []
    Paths(part=1.0, most=120)(state, Callbacks(kept.append, lambda *shown: None, state.offer))
    assert len(asked) == (0 if helped else 2)
    assert (state.look is None) == (not helped)
    assert (best in [found.schedule for found in kept]) == (not helped)


def test_a_walk_finds_the_same_whenever_its_states_are_compared_and_room_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(6):
        instance, _, potentials, multipliers = drawn(seed)
        for side in directions(potentials, multipliers, 20 * potentials.unit):
            found = []
            for crowd, room in ((2_000, 20_000), (1, 20_000), (2_000, 1), (1, 1)):
                monkeypatch.setattr(walks, "CROWD", crowd)
                monkeypatch.setattr(walks, "FIRST_CAPACITY", room)
                walked = walks.walk(instance, side, 20 * potentials.unit, 10**6)
                found.append((walked.least, walked.left, len(walked.paths)))
            assert len({least for least, _, _ in found}) == 1, seed
            assert found[0] == found[2]
            assert found[1] == found[3]
