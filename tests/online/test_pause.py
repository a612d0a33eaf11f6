"""Requests that stop and keep their memory until others need it: literal rounds and laws."""

import numpy as np
import pytest
import reference
import reference_predictions
from drawn import drawn, in_two
from test_laws import VARIANTS, word

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import Decision, Policy, make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import summary

SMALL = {"bins": "4", "longest": "12"}
CASES = [
    ("fcfs", {}),
    ("fcfs", {"batch": "2"}),
    ("sjf", {}),
    ("rr", {"quantum": "1"}),
    ("rr", {"quantum": "2", "batch": "2"}),
    ("rr", {"quantum": "2", "batch": "3", "starts": "one"}),
    ("rr-sjf", {"quantum": "2", "batch": "2"}),
    ("srpt", {}),
    ("srpt", {"batch": "1"}),
    ("srpt", {"batch": "2"}),
    ("sprpt", {"batch": "2", "c": "0.5"}),
    ("sprpt", {"batch": "3"}),
    ("trail", {**SMALL, "batch": "2", "c": "1"}),
    ("trail", {**SMALL, "batch": "3"}),
]
CLOCK = BatchTime(0.0031, 0.0007, 0.0002, 0.0001, 0.0005, tick=0.002)
PAUSING = [
    case for case in VARIANTS if "pause" in make(*case).semantics and not make(*case).may_overflow
]


def name(case):
    return "-".join([case[0], *case[1].values()])


def literal(case, seed):
    key, parameters = case
    if key == "trail":
        return reference_predictions.rule_of(key, seed=seed, **parameters)
    return reference.rule_of(key, **parameters)


def with_releases(schedule):
    columns = (schedule.request, schedule.start, schedule.stop, schedule.release)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@in_two(10, 30)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_every_run_and_every_cache_is_that_of_the_literal_rounds(case, seeds):
    in_place = lost = stayed = 0
    for seed in seeds:
        instance, policy = drawn(seed), make(*case)
        expected, complete = reference.serve(instance, literal(case, seed), 400, "pause")
        assert complete
        schedule = simulate(instance, policy, seed=seed, preemption="pause").schedule
        assert with_releases(schedule) == expected, seed
        assert violations(schedule) == []
        in_place += schedule.preemptions - schedule.evictions
        lost += schedule.evictions
        stayed += int((schedule.release - schedule.stop)[~schedule.completes].sum())
    if case[0] in ("srpt", "sprpt", "trail") and case[1].get("batch", "1") > "1":
        assert in_place > 0
        assert lost > len(seeds) / 6
        assert stayed > len(seeds) / 3


@pytest.mark.parametrize("case", [CASES[1], CASES[4], CASES[9], CASES[13]], ids=name)
def test_seconds_are_those_of_the_literal_batches(case):
    for seed in range(12):
        expected, complete, times = reference.serve_by_clock(
            drawn(seed), literal(case, seed), 400, "pause", CLOCK
        )
        assert complete
        found = simulate(drawn(seed), make(*case), seed=seed, preemption="pause", clock=CLOCK)
        assert with_releases(found.schedule) == expected, seed
        assert found.times == pytest.approx([float(t) for t in times], rel=1e-12)


@in_two(2, 4)
@pytest.mark.parametrize("case", PAUSING, ids=word)
def test_pausing_changes_no_run_only_what_has_to_be_prefilled(case, seeds):
    """Nobody starts later because others are paused: it is the cache of theirs that goes."""
    for seed in seeds:
        runs = {}
        for semantics in ("recompute", "pause"):
            done = simulate(drawn(seed), make(*case), seed=seed, preemption=semantics)
            assert done.outcome == "complete"
            runs[semantics] = done
        paused, recomputed = runs["pause"].schedule, runs["recompute"].schedule
        assert paused.to_frame().equals(recomputed.to_frame()), seed
        assert violations(paused) == []
        assert paused.preemptions == recomputed.evictions
        assert paused.evictions <= recomputed.evictions
        assert paused.wasted_tokens <= recomputed.wasted_tokens
        assert paused.usage().max() <= drawn(seed).memory
        rounds = np.arange(paused.makespan + 1)
        assert (paused.usage()[rounds] >= recomputed.usage()[rounds]).all()
        prefilled = [summary(run)["prefill_tokens"] for run in runs.values()]
        assert prefilled[1] <= prefilled[0]


class Scripted(Policy):
    """Answers by round; asks again in every round."""

    name = "scripted"

    def __init__(self, plan, seen):
        self.plan, self.seen = plan, seen

    def start(self, setting, rng):
        def decide(view):
            self.seen[view.now] = (sorted(view.paused), sorted(view.waiting))
            return self.plan.get(view.now, Decision())

        return decide


def played(instance, plan, **options):
    seen = {}
    return simulate(instance, Scripted(plan, seen), preemption="pause", **options), seen


@pytest.mark.parametrize(("drop", "gone"), [((), 1), ((1,), 1), ((0,), 0), ((2, 7, 0, 1), 0)])
def test_who_gives_up_memory_first_is_named_or_was_paused_last(drop, gone):
    # Requests 0 and 1 hold 3 and 3 after two rounds each; request 2 asks for the memory of one.
    three = Instance("three", 9, [0, 0, 5], [1, 1, 2], [4, 4, 3])
    plan = {
        0: Decision([0]),
        2: Decision([1], [0]),
        4: Decision([], [1]),
        5: Decision([2], [], None, drop),
        8: Decision([1 - gone]),
        10: Decision([gone]),
    }
    plan[6] = plan[5]._replace(admit=())
    done, _ = played(three, plan)
    releases = {i: release for i, _, stop, release in with_releases(done.schedule) if stop < 5}
    assert releases == {gone: 6, 1 - gone: 8}


TWO = Instance("two", 9, [0, 0], [2, 1], [5, 6])


@pytest.mark.parametrize(
    ("runs", "releases", "rules"),
    [
        ([(0, 0, 3), (1, 3, 9), (0, 9, 11)], [6, 9, 11], set()),
        ([(0, 0, 3), (1, 3, 9), (0, 9, 11)], [7, 9, 11], {"memory"}),  # 5 + 5 at round 7
        ([(0, 0, 3), (1, 3, 9), (0, 9, 11)], [2, 9, 11], {"release"}),  # before it stops
        ([(0, 0, 3), (1, 3, 9), (0, 9, 11)], [6, 9, 12], {"release"}),  # it is complete
    ],
)
def test_the_judge_knows_how_long_a_cache_may_stay(runs, releases, rules):
    columns = np.array(runs).T
    schedule = Schedule(TWO, *columns, "pause", releases)
    assert {violation.rule for violation in violations(schedule)} == rules
