"""Searches for schedules: populations, corridors around schedules, and the search beside stages."""

import numpy as np
import pytest
from oracle import least_latency
from relaxed_schedules import many
from tiny_instances import tiny

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling import corridors
from ratiolab.hindsight.labelling.corridors import Corridors
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.schedules import population as populations
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, list_schedule
from ratiolab.hindsight.schedules.population import PARAMS, Population
from ratiolab.hindsight.search import BackgroundHeuristic, SearchBeside
from ratiolab.hindsight.state import SolveState
from ratiolab.model import Instance, Schedule, require_feasible, stream
from ratiolab.model.feasibility import violations
from ratiolab.workloads.generators import generate


@pytest.fixture(autouse=True)
def steps_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(populations, "PARAMS", SearchParams(child_moves=1_000))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.usefixtures("narrow")
def test_the_search_is_the_same_each_time() -> None:
    one, other = begun(many(40)), begun(many(40))
    for state in (one, other):
        searched(state, 30)
    assert one.schedule.starts.tolist() == other.schedule.starts.tolist()


@pytest.mark.usefixtures("narrow")
def test_the_thread_beside_searches_until_the_solve_ends() -> None:
    state = begun(many(40), threads=2)
    first = state.upper
    with BackgroundHeuristic(state, cells=False):
        assert state.helped
        while state.upper == first:
            assert state.time_left
    assert not violations(state.schedule)


def grown(
    instance: Instance, steps: int, told: list[Schedule], seed: int = 0, stop: bool = False
) -> Population:
    first = best_list_schedule(instance)
    population = Population(first, stream(seed, "search"), lambda: stop, told.append)
    for _ in range(steps):
        population.step()
    return population


def test_what_is_told_is_feasible_and_better_each_time_and_the_same_for_a_seed() -> None:
    instance = generate("jaillet-model-1", 3, n_least=30, n_most=30)
    told: list[Schedule] = []
    population = grown(instance, 40, told)
    latencies = [require_feasible(schedule).total_latency for schedule in told]
    first = best_list_schedule(instance).total_latency
    assert first > latencies[0]
    assert latencies == sorted(set(latencies), reverse=True)
    assert population.best == latencies[-1]
    assert population.best == min(member.total_latency for member in population.members)
    again: list[Schedule] = []
    grown(instance, 40, again)
    assert [schedule.starts.tolist() for schedule in again] == [
        schedule.starts.tolist() for schedule in told
    ]


@pytest.mark.parametrize("seed", range(12))
def test_it_finds_the_optimum_of_tiny_instances(seed: int) -> None:
    instance = tiny(seed)
    assert grown(instance, PARAMS.members + 10, [], seed).best == least_latency(instance)


BOTH = pytest.mark.parametrize("forward", [False, True])


def around(instance: Instance, rounds: int = 1) -> Corridors:
    """Return corridors under few cuts, for schedules up to the best list schedule."""
    latency = best_list_schedule(instance).total_latency
    return Corridors(instance, cut_bound(instance, rounds=rounds).certificate.duals, latency + 1)


def some(instance: Instance, number: int, seed: int = 0, spread: float = 0.5) -> list[Schedule]:
    """Return list schedules of orders perturbed by so much."""
    rng = stream(seed, "search")
    factors = rng.uniform(1 - spread, 1 + spread, (number, len(instance)))
    return [list_schedule(instance, np.argsort(instance.volume * row)) for row in factors]


def starts_of_kinds(known: list[Schedule]) -> list[set[int]]:
    """Return, of each request, the starts that it or one equal to it has in any schedule."""
    kinds = list(known[0].instance.requests)
    pairs = [pair for one in known for pair in zip(kinds, one.starts.tolist(), strict=True)]
    return [{start for other, start in pairs if other == kind} for kind in kinds]


def never() -> bool:
    return False


@BOTH
@pytest.mark.parametrize("seed", range(20))
def test_as_wide_as_all_time_it_finds_the_optimum_of_tiny_instances(
    seed: int, forward: bool
) -> None:
    instance, optimum = tiny(seed), least_latency(tiny(seed))
    beams, known = around(instance), [best_list_schedule(instance)]
    far = int(instance.arrival.max() + instance.output.sum())
    found = beams.search(known, far, optimum + 1, never, forward=forward)
    assert found is not None
    assert require_feasible(found).total_latency == optimum
    assert beams.search(known, far, optimum, never, forward=forward) is None


@BOTH
@pytest.mark.parametrize(
    "kind", ["few", "few at once", pytest.param("more than bits", marks=pytest.mark.long)]
)
def test_what_it_finds_is_feasible_better_and_near(kind: str, forward: bool) -> None:
    instance = many(40) if kind.startswith("few") else generate("jaillet-model-2", 5)
    if kind == "few at once":
        instance = instance.replace(arrival=[0] * 40)
    known, beams = some(instance, 12, spread=0.1 if len(instance) > 64 else 0.5), around(instance)
    best = min(schedule.total_latency for schedule in known)
    for reach in (1, 5):
        found = beams.search(known, reach, best, never, forward=forward)
        assert found is not None
        assert require_feasible(found).total_latency < best
        for start, near in zip(found.starts, starts_of_kinds(known), strict=True):
            assert min(abs(start - other) for other in near) <= reach


def test_a_beam_that_is_stopped_finds_nothing() -> None:
    instance = many(30)
    known = some(instance, 8)
    best = min(schedule.total_latency for schedule in known)
    assert around(instance).search(known, 3, best, never, forward=False) is not None
    assert around(instance).search(known, 3, best, lambda: True, forward=False) is None
