"""Fleets in simulation: one replica is `simulate`, fixed shares are separate runs, routers obey."""

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from ratiolab.hindsight.bounds import fleet_lower_bound
from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.fleet import Fleet
from ratiolab.online import POLICIES, make, simulate
from ratiolab.online.clock import CLOCKS
from ratiolab.online.fleets.loop import RouterError, replica_seed, simulate_fleet
from ratiolab.online.fleets.registry import ROUTERS, make_router
from ratiolab.online.router import Router, Routing
from ratiolab.online.view import InformationError
from ratiolab.ratio.clock_bound import clock_lower_bound

CLOCK = CLOCKS["llama2-70b-2xa100"]


def drawn(seed: int, n: int) -> Instance:
    """Return requests with everything that any policy reads."""
    rng = np.random.default_rng(seed)
    output, prompt = rng.integers(1, 25, n), rng.integers(0, 30, n)
    near = {"predicted": np.maximum(1, output + rng.integers(-3, 4, n)), "upper": output + 2}
    law = {"location": (1000 * np.log(output)).astype(int), "scale": [300] * n}
    more = {"lower": np.maximum(1, output - 3), "freedom": [10**9] * n, "tick_seconds": 0.05}
    return Instance("x", 60, rng.integers(0, 40, n), prompt, output, **near, **law, **more)


@pytest.mark.parametrize("key", POLICIES)
def test_one_replica_is_simulate_decision_by_decision(key):
    policy = make(key)
    for n, router in ((15, "jsq"), (7, "least-work")):
        instance = drawn(n, n)
        for preemption in policy.semantics:
            for clock in (None, CLOCK):
                options = {"preemption": preemption, "clock": clock, "seed": n}
                one = simulate(instance, policy, **options)
                fleet = simulate_fleet(instance, policy, router, **options)
                assert fleet.parts[0].schedule.to_dict() == one.schedule.to_dict()
                assert (fleet.outcome, fleet.decisions) == (one.outcome, one.decisions)
                if clock is not None:
                    assert fleet.parts[0].times.tolist() == one.times.tolist()
                    assert fleet.parts[0].arrivals.tolist() == one.arrivals.tolist()


@pytest.mark.parametrize("key", [k for k in POLICIES if make(k).information.name != "REFINED"])
def test_round_robin_is_as_many_runs_as_replicas(key):
    policy = make(key)
    instance, fleet = drawn(3, 24), Fleet(drawn(3, 24), 3)
    for preemption in policy.semantics:
        for clock in (None, CLOCK):
            found = simulate_fleet(fleet, policy, preemption=preemption, clock=clock, seed=5)
            if found.outcome != "complete":
                continue
            by_arrival = np.argsort(instance.arrival, kind="stable")
            assert found.replica[by_arrival].tolist() == [k % 3 for k in range(24)]
            for number, part in found.parts.items():
                own, seed = np.flatnonzero(found.replica == number), replica_seed(5, number)
                one = simulate(
                    instance.take(own), policy, seed=seed, preemption=preemption, clock=clock
                )
                assert one.schedule.to_dict() == part.schedule.to_dict()


@pytest.mark.parametrize("router", ROUTERS)
def test_runs_of_every_router_are_schedules_that_no_bound_exceeds(router):
    for policy in ("fcfs", "svf", "vllm-fcfs"):
        fleet = Fleet(drawn(8, 36), 3)
        run = simulate_fleet(fleet, policy, router)
        require_feasible_fleet(run.schedule)
        assert (run.replica >= 0).all()
        assert run.schedule.total_latency == run.total_latency
        assert run.per_request["latency"].sum() == run.total_latency
        if run.preemption == "restart":
            assert fleet_lower_bound(fleet)[0].value <= run.total_latency
        timed = simulate_fleet(fleet, policy, router, clock=CLOCK)
        bound = clock_lower_bound(fleet.instance, CLOCK, timed.preemption, fleet.replicas)
        assert bound <= timed.per_request["latency"].sum()
        again = simulate_fleet(fleet, policy, router, clock=CLOCK)
        assert again.replica.tolist() == timed.replica.tolist()


def test_a_central_queue_starts_what_it_hands_out():
    fleet = Fleet(drawn(1, 60), 3)
    for policy in ("fcfs", "svf"):
        for clock in (None, CLOCK):
            run = simulate_fleet(fleet, policy, "central", clock=clock)
            for part in run.parts.values():
                schedule, arrival = part.schedule, part.schedule.instance.arrival
                if clock is not None:  # delivered in the round in which it starts
                    first = np.full(len(arrival), 10**9)
                    np.minimum.at(first, schedule.request, schedule.start)
                    assert (first == arrival).all()


@pytest.mark.parametrize("router", ["jsq", "least-kv", "least-work", "imd"])
def test_scores_prefer_the_empty_replica(router):
    """The second request finds one replica with the first, whatever is counted, and one empty."""
    pair = Instance("pair", 50, [0, 1], [5, 5], [9, 9])
    for seed in range(10):
        run = simulate_fleet(Fleet(pair, 2), "fcfs", router, seed=seed)
        assert sorted(run.replica.tolist()) == [0, 1]


def test_least_work_counts_what_has_been_served():
    """At 8 the long request lacks 2 tokens, 2 * 5 + 9 + 10 = 29 of its volume 105; the short 50."""
    three = Instance("three", 100, [0, 7, 8], [5, 1, 1], [10, 9, 9])
    for seed in range(5):
        run = simulate_fleet(Fleet(three, 2), "fcfs", "least-work", seed=seed)
        assert run.replica[2] == run.replica[0] != run.replica[1]


def test_imd_counts_what_has_completed():
    """Each class is dealt out: equal requests far apart alternate, though replicas are idle."""
    far = Instance("far", 20, [0, 50, 100, 150], [3] * 4, [4] * 4)
    for seed in range(5):
        places = simulate_fleet(Fleet(far, 2), "fcfs", "imd", seed=seed).replica.tolist()
        assert sorted(places[:2]) == sorted(places[2:]) == [0, 1]


@dataclass(frozen=True)
class Scripted(Router):
    """A router that does as it is told."""

    answer: object = None
    name: ClassVar[str] = "scripted"

    def start(self, setting, rng):
        return self.answer


PAIR = Fleet(Instance("pair", 9, [0, 2], [1, 1], [3, 3], predicted=[3, 3]), 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda view: Routing([(9, 0)]), "request 9, which is not in the central queue"),
        (lambda view: Routing([(0, 2)]), "request 0 to replica 2, which is none of 0 to 1"),
        (lambda view: Routing([(0, 0), (0, 1)]), "request 0, which is not in the central queue"),
        (lambda view: Routing([]), "in the central queue, and nothing happens any more"),
        (lambda view: Routing([], view.now), "woken at 0, which is not later"),
        (lambda view: Routing([], 1.5), "woken at 1.5, which is no time"),
        (lambda view: Routing([(0, 0.0)]), r"\[\(0, 0.0\)\], which is no sequence of pairs"),
        (lambda view: Routing([0]), "which is no sequence of pairs"),
        (lambda view: Routing(None), "assigns None, which is no sequence of pairs"),
        (lambda view: [(0, 0)], "which is no Routing"),
        (lambda view: None, "answers None, which is no Routing"),
        (None, "start returns None, which is no function"),
    ],
)
def test_illegal_answers_are_refused_by_name(answer, message):
    with pytest.raises(RouterError, match=message):
        simulate_fleet(PAIR, "fcfs", Scripted(answer))


def test_a_router_is_woken_when_it_asked():
    times = []

    def late(view):
        times.append(view.now)
        return Routing([(i, 1) for i in view.waiting] if view.now >= 5 else [], 5)

    run = simulate_fleet(PAIR, "fcfs", Scripted(late))
    assert times == [0, 2, 5]
    assert run.schedule.runs.starts.tolist() == [5, 5]
    assert run.schedule.runs.latency.tolist() == [8, 6]


@pytest.mark.parametrize("name", ["predicted", "upper", "signals", "location"])
def test_a_router_reads_no_more_than_it_declares(name):
    def curious(view):
        getattr(view.known, name)
        return Routing([])

    with pytest.raises(InformationError, match="router scripted declares information 'nothing'"):
        simulate_fleet(PAIR, "fcfs", Scripted(curious))


def test_a_router_knows_no_output_before_it_is_complete():
    seen = []

    def curious(view):
        for i in (0, 1):
            with suppress(InformationError):
                seen.append((view.now, i, view.known.output[i]))
        return Routing([(i, 0) for i in view.waiting])

    late = Fleet(PAIR.instance.replace(arrival=[0, 5]), 2)
    simulate_fleet(late, "fcfs", Scripted(curious))
    assert seen == [(5, 0, 3)]


def test_a_router_that_predicts_needs_predictions():
    blind = Fleet(PAIR.instance.without_predictions(), 2)
    router = make_router("least-work", {"lengths": "predicted"})
    with pytest.raises(ValueError, match="pair: router least-work reads"):
        simulate_fleet(blind, "fcfs", router)
    assert simulate_fleet(PAIR, "fcfs", router).outcome == "complete"


@pytest.mark.parametrize(
    ("key", "parameters", "message"),
    [
        ("jqs", {}, "router 'jqs'"),
        ("bf-io", {"horizon": "0"}, "horizon 0 must be at least 1"),
        ("bf-io", {"span": "1"}, "unknown parameter|parameter 'span'"),
    ],
)
def test_unknown_routers_and_parameters_are_refused(key, parameters, message):
    with pytest.raises(ValueError, match=message):
        make_router(key, parameters)


@pytest.mark.parametrize("policy", ["fcfs", "mc-sf", "svf", "vllm-fcfs"])
def test_replicas_that_differ_serve_with_their_own_memory(policy):
    instance, memories = drawn(4, 40).replace(memory=75), (60, 75, 57)
    fleet = Fleet(instance, 3, memories)
    for clock in (None, CLOCK):
        found = simulate_fleet(fleet, policy, clock=clock, seed=5)
        for number, part in found.parts.items():
            own = instance.take(np.flatnonzero(found.replica == number))
            options = {"clock": clock, "seed": replica_seed(5, number)}
            alone = simulate(own.replace(memory=memories[number]), make(policy), **options)
            assert part.schedule.to_dict() == alone.schedule.to_dict()
    for router in ROUTERS:
        found = simulate_fleet(fleet, policy, router)
        schedule = require_feasible_fleet(found.schedule)
        if found.preemption == "restart":
            assert fleet_lower_bound(fleet)[0].value <= schedule.total_latency


def test_a_late_queue_keeps_a_replica_free_for_none():
    """By hand: three bigs on two replicas; the third starts when the first ends, at 3."""
    bigs = Instance("bigs", 10, [0, 0, 1], [6, 6, 6], [3, 4, 2])
    run = simulate_fleet(Fleet(bigs, 2), "fcfs", "central")
    assert run.schedule.runs.starts.tolist() == [0, 0, 3]
    assert run.replica[2] == run.replica[0]
