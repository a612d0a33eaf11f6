"""The search for schedules beside the stages: in its own thread, or in turns with the loop."""

import pytest
from relaxed_schedules import many

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling import corridors
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.schedules import population as populations
from ratiolab.hindsight.search import BackgroundHeuristic, SearchBeside
from ratiolab.hindsight.state import Found, SolveState
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


def test_the_search_is_the_same_each_time() -> None:
    one, other = begun(many(40)), begun(many(40))
    for state in (one, other):
        searched(state, 60)
    assert one.schedule.starts.tolist() == other.schedule.starts.tolist()


def test_the_thread_beside_searches_until_the_solve_ends() -> None:
    state = begun(many(40), threads=2)
    first = state.upper
    with BackgroundHeuristic(state, cells=False):
        assert state.helped
        while state.upper == first:
            assert state.time_left
    assert not violations(state.schedule)
