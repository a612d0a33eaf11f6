"""Orders and beams in seconds: what they compute is what the simulator says, and it is good."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from batches import drawn_case, least_picoseconds

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.model import Instance
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import Information, make, simulate
from ratiolab.online.clock import BatchTime, picoseconds
from ratiolab.online.policies.prefix import Order, PrefixPolicy
from ratiolab.online.policy import Setting
from ratiolab.ratio.clock_bound import clock_lower_bound
from ratiolab.seconds import order_search
from ratiolab.seconds.beam import PORTFOLIO, guide_of, started
from ratiolab.seconds.duals import parts_of
from ratiolab.seconds.order_search import (
    Planned,
    compile_search,
    search_order,
    served,
    timed_of,
    total_seconds,
)


@dataclass(frozen=True)
class Ordered(PrefixPolicy):
    """An order of all requests: the first waiting request starts once it fits until completion."""

    order: tuple[int, ...]

    name: ClassVar[str] = "order"
    source: ClassVar[str] = "these tests"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def ranks(self, setting: Setting) -> Order:
        rank = {request: place for place, request in enumerate(self.order)}
        return Order(lambda _, i: rank[i], lambda view, i: view.output[i])


CLOCKS = (
    BatchTime(fixed=0.02, prefill=0.001, decode=0.0005, tick=0.05),
    BatchTime(fixed=0.02, prefill=0.001, decode=0.0005, kv=0.0001, tick=0.05),
    BatchTime(fixed=1, tick=1),
)


def drawn(seed: int, most: int = 40) -> Instance:
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(2, most)), int(rng.integers(20, 100))
    prompt, output = rng.integers(1, memory // 2, (2, n))
    return Instance("drawn", memory, np.sort(rng.integers(0, 60, n)), prompt, output)


@pytest.mark.parametrize("seed", range(12))
def test_the_simulator_confirms_the_run_of_an_order_with_delays(seed):
    instance, clock = drawn(seed), CLOCKS[seed % len(CLOCKS)]
    timed, rng = timed_of(instance, clock), np.random.default_rng(seed)
    late = rng.integers(0, 10 * picoseconds(1), len(instance)) * rng.integers(0, 2, len(instance))
    known = served(timed, rng.permutation(len(instance)), timed.due + late)
    plan = Planned(tuple(known.began.tolist()))
    run = simulate(instance, plan, clock=clock)
    compiled = known.total[-1] - timed.due.sum(dtype=float)
    assert compiled / picoseconds(1) == pytest.approx(total_seconds(run), rel=1e-12)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_search_gains_and_stays_above_the_bound(seed):
    instance, clock = drawn(seed, 30), CLOCKS[1]
    starting = [simulate(instance, make(key), clock=clock) for key in ("svf", "mc-sf")]
    found = search_order(instance, clock, 0.2, preemption="recompute")
    assert found.schedule.evictions == 0
    assert found.preemption == "recompute"
    assert total_seconds(found) <= min(map(total_seconds, starting))
    assert total_seconds(found) >= clock_lower_bound(instance, clock, "recompute") - 1e-9


def test_the_best_of_all_orders_is_found_when_there_are_few():
    """Four requests: all 24 orders are simulated."""
    from itertools import permutations

    instance = Instance("four", 9, [0, 0, 0, 0], [3, 1, 4, 1], [2, 6, 3, 5])
    clock = CLOCKS[1]
    runs = [simulate(instance, Ordered(order), clock=clock) for order in permutations(range(4))]
    best = min(map(total_seconds, runs))
    assert best < total_seconds(simulate(instance, make("svf"), clock=clock))
    assert total_seconds(search_order(instance, clock, 0.2)) == pytest.approx(best)


def test_an_evaluation_encloses_the_best_schedule_and_a_search_only_lowers_its_upper_end():
    instance, clock = drawn(4, 30), CLOCKS[1]
    keys = [make(key) for key in ("fcfs", "svf")]
    plain, searched = (
        evaluate(instance, keys, clock=clock, search=seconds, load=False) for seconds in (0, 0.1)
    )
    assert next(row.name for row in searched.knowing) == "searched order"
    assert len(searched.rows) == len(plain.rows) + 1
    assert searched.enclosure[0] == plain.enclosure[0] == plain.bounds["mean"]
    assert searched.enclosure[0] <= searched.enclosure[1] <= plain.enclosure[1]
    assert searched.to_dict()["best_schedule"] == list(searched.enclosure)


@pytest.mark.parametrize("annealed", [True, False])
def test_only_orders_of_few_requests_are_annealed(annealed, monkeypatch):
    called, instance = [], drawn(4, 30)
    compile_search(len(instance))  # which calls the same functions
    monkeypatch.setattr(order_search, "FEW", len(instance) - (not annealed))
    monkeypatch.setattr(order_search, "cooled", lambda *_, **__: called.append(True))
    monkeypatch.setattr(order_search, "beams", lambda *_: None)
    search_order(instance, CLOCKS[1], 60.0)
    assert called == [True] * annealed


def test_without_time_only_the_first_policy_is_simulated(monkeypatch):
    """The others of a long log may take longer than the search has."""
    simulated = []
    monkeypatch.setattr(
        "ratiolab.seconds.order_search.simulate",
        lambda instance, policy, **options: (
            simulated.append(policy.name) or simulate(instance, policy, **options)
        ),
    )
    pair = Instance("pair", 4, [0, 0], [1, 1], [3, 1])
    search_order(pair, BatchTime(fixed=1, tick=1), 1.0, over=np.ones(1, np.bool_))
    assert simulated == ["swf"]


def endless() -> float:
    """Return that no time is used."""
    return 0.0


@pytest.mark.parametrize("seed", range(24))
def test_the_simulator_confirms_the_schedule_of_a_beam(seed):
    instance, clock = drawn(seed, 90), CLOCKS[seed % len(CLOCKS)]
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    setting = PORTFOLIO[seed % len(PORTFOLIO)]
    guide = guide_of(instance, clock, parts, setting)
    total, starts, _ = started(timed, guide, setting, 10, endless)
    run = simulate(instance, Planned(tuple(starts.tolist())), clock=clock)
    found = (total - timed.due.sum(dtype=float)) / PICOSECONDS
    assert total_seconds(run) == pytest.approx(found, rel=1e-9)


def beamed(instance: Instance, clock: BatchTime, states: int, settings: int) -> float:
    """The least total latency of beams with the first settings, seconds."""
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    totals = [
        started(timed, guide_of(instance, clock, parts, setting), setting, states, endless)[0]
        for setting in PORTFOLIO[:settings]
    ]
    return (min(totals) - timed.due.sum(dtype=float)) / PICOSECONDS


def test_wide_beams_find_the_best_schedules_of_a_few_requests():
    """But for those that let a request wait that fits."""
    best, found = 0, 0.0
    for seed in range(40):
        instance, clock = drawn_case(seed)
        best += least_picoseconds(instance, clock, evictions=False)
        found += beamed(instance, clock, 100, 4)
    assert best / PICOSECONDS - 1e-6 <= found <= 1.02 * best / PICOSECONDS


def test_beams_are_better_than_the_policies_that_a_search_begins_with():
    shares = []
    for seed in range(6):
        instance, clock = drawn(seed, 90), CLOCKS[seed % len(CLOCKS)]
        keys = ("swf", "swf-fit")
        policies = [total_seconds(simulate(instance, make(key), clock=clock)) for key in keys]
        shares.append(beamed(instance, clock, 30, 4) / min(policies))
        assert total_seconds(search_order(instance, clock, 0.1)) <= min(policies)
    assert np.mean(shares) < 0.96
