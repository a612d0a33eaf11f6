"""The search for schedules beside the stages: in its own thread, or in turns with the walks."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace

import pytest
from test_merging import many

from ratiolab.hindsight import memory, path_stages
from ratiolab.hindsight.background import BackgroundHeuristic
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.path_stages import LATER, SELDOM, TURN, Paths, Turns
from ratiolab.hindsight.paths import corridors, proof
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.schedules import population as populations
from ratiolab.hindsight.search import SearchBeside
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model import Instance, stream
from ratiolab.model.feasibility import violations


@pytest.fixture(autouse=True)
def steps_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(populations, "PARAMS", SearchParams(child_moves=1_000))
    monkeypatch.setattr(corridors, "WIDTH", 200)


def begun(instance: Instance, threads: int = 1) -> SolveState:
    """Return a solve that has duals of cuts."""
    state = SolveState(instance, SolveOptions("auto", time_limit=600.0, threads=threads, steps=1))
    state.duals = cut_bound(instance, rounds=1).certificate
    return state


def searched(state: SolveState, steps: int) -> SearchBeside:
    search = SearchBeside(state, stream(0, "search"), lambda: False)
    for _ in range(steps):
        search.step()
    return search


def test_what_the_search_finds_is_kept_and_it_crosses_all_once_there_are_duals() -> None:
    state = begun(many(40))
    duals, state.duals, first = state.duals, None, state.upper
    search = searched(state, 20)
    assert search.population.cross is None
    state.duals = duals
    search.step()
    assert search.population.cross is not None
    for _ in range(60):
        search.step()
    assert state.upper == search.population.best < first
    assert not violations(state.schedule)


def test_with_more_memory_than_a_beam_takes_there_are_children_alone() -> None:
    instance = many(40)
    state = begun(instance.replace(memory=140, prompt=20 * instance.prompt))
    first = state.upper
    search = searched(state, 40)
    assert search.guided
    assert search.population.cross is None
    assert state.upper < first


def test_a_schedule_that_a_stage_has_found_joins_the_population() -> None:
    state = begun(many(40))
    search = searched(state, 3)
    found = searched(begun(many(40)), 60).population
    best = min(found.members, key=lambda schedule: schedule.total_latency)
    assert best.total_latency < search.population.best
    state.keep(Found(best))
    search.step()
    assert search.population.best <= best.total_latency
    assert any(member is best for member in search.population.members)


@pytest.mark.parametrize("limits", [None, {}, {"steps": 0}, {"memory_limit": 4_000}])
def test_walks_and_search_take_turns_where_there_is_one_thread(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int] | None
) -> None:
    """Not with steps of 0, which ask for no search, nor where memory is limited."""
    state, steps, alone = begun(many(40)), [], limits == {}
    state.helped = limits is None
    state.options = replace(state.options, **(limits or {}))
    monkeypatch.setattr(SearchBeside, "step", lambda self: steps.append(self))

    def prove(*given: object, begin: object, left: object, room: float) -> None:
        assert begin is state.walked
        assert room == (3.0 if state.memory_budget is None else 1.0)
        between = given[-2]
        assert callable(between) == alone
        for _ in range(5 if callable(between) else 0):
            between()  # type: ignore[operator]

    monkeypatch.setattr(proof, "prove", prove)
    monkeypatch.setattr(memory, "room", lambda: 3.0)
    call = Callbacks(lambda found: None, lambda *shown: None)
    Paths(part=1.0, most=120)(state, call)
    assert len(steps) > LATER if alone else not steps


@pytest.mark.parametrize(("ended", "over", "steps"), [(False, 0, 20), (True, 0, 6), (False, 95, 4)])
def test_a_turn_takes_as_long_as_what_went_before_and_less_once_a_population_has_ended(
    ended: bool, over: float, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds go by before the turn, and steps of the search take half a second each."""
    monkeypatch.setattr(path_stages, "TURN", 4)
    left, taken = [100.0], []

    def step() -> None:
        taken.append(left[0])
        left[0] -= 0.5

    search = SimpleNamespace(step=step, population=SimpleNamespace(elders=[1] * ended, best=9))
    turns = Turns(search, lambda: left[0], lambda: left[0] < over)  # type: ignore[arg-type]
    left[0] -= 10
    turns()
    assert len(taken) == steps


def test_turns_are_short_once_the_last_better_schedule_is_long_ago() -> None:
    """The 15th step finds a better schedule, so that more than 70 make turns short."""
    population = SimpleNamespace(elders=[], best=9)
    taken: list[int] = []

    def step() -> None:
        taken.append(0)
        population.best = 8 if len(taken) >= 15 else 9

    search = SimpleNamespace(step=step, population=population)
    turns = Turns(search, lambda: inf, lambda: False)  # type: ignore[arg-type]
    lengths = []
    for _ in range(12):
        before = len(taken)
        turns()
        lengths.append(len(taken) - before)
    long = (2 * 15 + LATER) // TURN + 1
    assert lengths == [TURN] * long + [SELDOM] * (12 - long)


@pytest.mark.long
def test_a_proof_gives_its_turn_after_each_step_of_multipliers_at_once_unless_few() -> None:
    for n, times, turns in (
        (20, 2_000, False),
        (20, 15_000, True),  # few requests that walks do not prove
        (40, 4_000, True),
        (70, 4_000, True),
    ):
        instance, asked, taken = many(n), iter(range(times)), []
        duals = cut_bound(instance, rounds=1).certificate
        upper = begun(instance).upper
        proof.prove(
            *(instance, duals, lambda upper=upper: upper),  # type: ignore[misc]
            *(lambda asked=asked: next(asked, None) is None, lambda *found: None, 200),  # type: ignore[misc]
            lambda taken=taken: taken.append(1),  # type: ignore[misc]
        )
        assert bool(taken) == turns


def test_the_search_is_the_same_each_time() -> None:
    one, other = begun(many(40)), begun(many(40))
    for state in (one, other):
        searched(state, 60)
    assert one.schedule.starts.tolist() == other.schedule.starts.tolist()


def test_the_thread_beside_searches_until_the_solve_ends() -> None:
    state = begun(many(40), threads=2)
    first = state.upper
    with BackgroundHeuristic(state):
        assert state.helped
        while state.upper == first:
            assert state.time_left
    assert not violations(state.schedule)
