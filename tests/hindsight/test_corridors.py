"""Corridors around schedules: what beams find there is near, better, and often the best."""

from itertools import pairwise, product

import numpy as np
import pytest
from oracle import least_latency
from relaxed_schedules import many
from tiny_instances import tiny

from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling import corridors, extensions
from ratiolab.hindsight.labelling.corridors import Corridors
from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules import population as populations
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, list_schedule
from ratiolab.hindsight.schedules.population import PARAMS, REACHES, Population
from ratiolab.model import Instance, Schedule, require_feasible, stream
from ratiolab.model.feasibility import violations
from ratiolab.workloads.generators import generate

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
@pytest.mark.parametrize("seed", range(20))
def test_it_finds_the_best_of_all_mixtures_of_starts(seed: int, forward: bool) -> None:
    instance = tiny(seed)
    known = some(instance, 3, seed)
    mixtures = product(*starts_of_kinds(known))
    mixed = [Schedule.from_starts(instance, np.array(mixture)) for mixture in mixtures]
    best = min(schedule.total_latency for schedule in mixed if not violations(schedule))
    duals = cut_bound(instance, rounds=1).certificate.duals
    found = Corridors(instance, duals, best + 1).search(known, 0, best + 1, never, forward=forward)
    assert found is not None
    assert found.total_latency == best


@BOTH
def test_requests_take_bits_from_each_other_and_nothing_is_lost(
    forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many bits as requests, fewer, and so few that some are refused."""
    found_all = 0
    for n in range(6, 24):
        instance = many(n)
        instance = instance.replace(arrival=2 * instance.arrival)
        known, beams = [*some(instance, 3), best_list_schedule(instance)], around(instance)
        results = list[Schedule | None]()
        for bits in (n, 2 * n // 3, n // 2):
            monkeypatch.setattr(extensions, "MOST_REQUESTS", bits)
            results.append(beams.search(known, 1, beams.latency, never, forward=forward))
        assert results[0] is not None
        for fewer in results[1:]:
            if fewer is not None:
                assert require_feasible(fewer).total_latency == results[0].total_latency
                found_all += 1
    assert 18 <= found_all < 36


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


def test_latencies_beyond_those_of_its_tables_are_not_looked_for() -> None:
    instance = many(30)
    worst = Schedule.from_starts(instance, 50 * instance.output.cumsum())
    beams = around(instance)
    found = beams.search([worst, *some(instance, 8)], 3, worst.total_latency, never, forward=False)
    assert found is None or found.total_latency < beams.latency


def test_a_beam_that_is_stopped_finds_nothing() -> None:
    instance = many(30)
    known = some(instance, 8)
    best = min(schedule.total_latency for schedule in known)
    assert around(instance).search(known, 3, best, never, forward=False) is not None
    assert around(instance).search(known, 3, best, lambda: True, forward=False) is None


def test_more_requests_around_one_round_than_a_word_has_bits_are_not_crossed() -> None:
    instance = generate("jaillet-model-2", 5)
    assert len(instance) > 64
    known, beams = some(instance, 12, spread=0.1), around(instance)
    best = min(schedule.total_latency for schedule in known)
    assert beams.search(known, 10**3, best, never, forward=False) is None


def test_larger_memory_has_no_corridors() -> None:
    small = cut_bound(tiny(1), rounds=1).certificate.duals
    with pytest.raises(OverflowError, match="memory 128"):
        Corridors(many(20).replace(memory=128), small, 10**6)


@pytest.mark.long
def test_a_population_crosses_all_its_members_and_then_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(populations, "PARAMS", SearchParams(child_moves=1_000))
    monkeypatch.setattr(corridors, "WIDTH", 200)
    instance = generate("jaillet-model-1", 3, n_least=30, n_most=30)
    beams, told, calls = around(instance), list[Schedule](), list[tuple[int, int, int, bool]]()

    def cross(known: object, reach: int, target: int) -> Schedule | None:
        assert isinstance(known, list)
        found = beams.search(known, reach, target, never, forward=len(calls) % 2 == 0)
        calls.append((len(known), reach, target, found is not None))
        assert target == min(schedule.total_latency for schedule in known)
        return found

    first = best_list_schedule(instance)
    population = Population(first, stream(0, "search"), never, told.append, cross)
    while len(population.elders) < 3:
        population.step()
    assert any(found for *_, found in calls)
    assert {reach for _, reach, *_ in calls} == set(REACHES)
    assert {number for number, *_ in calls} >= {PARAMS.members}
    assert max(number for number, *_ in calls) > PARAMS.members // 2
    latencies = [require_feasible(schedule).total_latency for schedule in told]
    assert latencies == sorted(set(latencies), reverse=True)
    assert population.best == latencies[-1]
    elders = [schedule.total_latency for schedule in population.elders]
    assert elders[0] == population.best
    assert elders == sorted(elders)
    for before, after in pairwise(calls):
        if before[3]:  # after a better one, from the shortest reach again
            assert after[1] == REACHES[0]
