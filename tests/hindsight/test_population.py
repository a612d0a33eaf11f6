"""A population of schedules: children are feasible, the best is told, and it is found."""

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.params import SearchParams
from ratiolab.hindsight.schedules import population as populations
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.hindsight.schedules.population import PARAMS, Population
from ratiolab.model import Instance, Schedule, require_feasible, stream
from ratiolab.workloads.generators import generate


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(populations, "PARAMS", SearchParams(child_moves=1_000))


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


def test_children_are_orders_of_all_requests() -> None:
    population = grown(generate("jaillet-model-1", 2, n_least=20, n_most=20), PARAMS.members, [])
    for _ in range(50):
        assert sorted(population._crossed(2, 9).tolist()) == list(range(20))


def test_a_schedule_takes_the_place_of_a_worse_one_unless_there_is_one_as_good() -> None:
    instance = generate("jaillet-model-1", 5, n_least=20, n_most=20)
    told: list[Schedule] = []
    population = grown(instance, PARAMS.members, told)
    one_by_one = np.concatenate([[0], np.cumsum(instance.output)[:-1]])
    worst = Schedule.from_starts(instance, one_by_one)
    population.members[3] = worst
    population.add(told[-1])  # it is in it
    assert population.members[3] is worst
    better = Schedule.from_starts(instance, np.append(one_by_one[:-1], one_by_one[-1] + 1))
    population.add(better)
    assert population.members[3] is worst
    population.members[4] = better
    population.add(worst)
    assert population.members[4] is better  # there is one as good
    population.members[3] = told[-1]
    population.add(worst)
    assert population.members[4] is worst


def test_after_long_without_a_better_one_only_the_best_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(populations, "PARAMS", SearchParams(child_moves=1_000, patience=5))
    instance = generate("jaillet-model-1", 5, n_least=8, n_most=8)
    population = grown(instance, PARAMS.members, [])
    for _ in range(200):
        population.step()
        if len(population.members) == 1:
            break
    assert [member.total_latency for member in population.members] == [population.best]


def test_a_search_that_is_stopped_gives_schedules_all_the_same() -> None:
    instance = generate("jaillet-model-1", 5, n_least=20, n_most=20)
    for member in grown(instance, PARAMS.members + 2, [], stop=True).members:
        require_feasible(member)
