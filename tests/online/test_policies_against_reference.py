"""Event-driven and literal: every policy decides the same, round by round, in both."""

from functools import partial

import pytest
import reference
import reference_protection
from drawn import MANY, drawn, ended, in_two, word

from ratiolab.model.streams import stream
from ratiolab.online import make, simulate

FIXED_TIES = ("index", "worst", "best")
LENGTHS = ("true", "predicted", "upper")
CASES: list[tuple[str, dict[str, str]]] = [
    ("h-sf", {}),
    ("fcfs", {}),
    ("sjf", {}),
    *((key, {"batch": batch}) for key in ("fcfs", "sjf") for batch in ("1", "3")),
    *(("mc-sf", {"lengths": lengths}) for lengths in LENGTHS),
    *(("mc-benchmark", {"lengths": lengths}) for lengths in LENGTHS),
    *(("svf", {"lengths": lengths}) for lengths in LENGTHS),
    *(("svf-fit", {"lengths": lengths}) for lengths in LENGTHS),
    ("swf", {"lengths": "predicted"}),
    ("swf-fit", {"lengths": "predicted"}),
    ("svf-fit", {"lengths": "predicted", "ratio": "3", "candidates": "2"}),
    *(("mc-sf", {"lengths": lengths, "margin": "0.1"}) for lengths in LENGTHS),
    ("mc-sf", {"lengths": "predicted", "margin": "0.5"}),
    ("sorted-f", {}),
    *(("gsa", {"base": base}) for base in ("1.5", "2", "3")),
    *(("alpha-protection", {"alpha": alpha}) for alpha in ("0", "0.1", "0.25", "0.5")),
    *(
        (key, {"ties": ties})
        for key in ("a-max", "a-random", "a-ell", "a-switch")
        for ties in FIXED_TIES
    ),
    *(
        ("a-min", {"ties": ties, "bound": bound})
        for ties in FIXED_TIES
        for bound in ("certified", "printed")
    ),
    *(("a-min", {"ties": ties, "victim": "largest"}) for ties in FIXED_TIES),
    *(("a-max", {"ties": ties, "order": "random"}) for ties in ("index", "worst")),
]
INSTANCES = 250
ROUNDS = 400
"""Far more than these instances need unless they stall."""


@in_two(MANY, INSTANCES)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_the_event_driven_policy_makes_every_run_of_the_literal_one(case, seeds):
    key, parameters = case
    policy, rule = make(key, parameters), reference.rule_of(key, **parameters)
    endless = 0
    for seed in seeds:
        instance = drawn(seed)
        expected, complete = reference.serve(instance, rule, ROUNDS)
        simulation = simulate(instance, policy, patience=ROUNDS)
        # what is said to loop has not completed in many more rounds, and nothing else is endless
        assert simulation.outcome == ("complete" if complete else "looping"), instance.name
        found = ended(simulation)
        until = max((stop for _, _, stop in found), default=0)
        shown = expected if complete else [run for run in expected if run[2] <= until]
        assert found == shown, instance.name
        endless += not complete
    # only what says so can be cleared and started again for ever
    assert endless == 0 or policy.may_loop


@pytest.mark.parametrize("overflow", ["never", "allowed"])
@pytest.mark.parametrize(("alpha", "beta"), [("0.2", "0.2"), ("0", "0.5"), ("0.1", "0.02")])
def test_clearing_at_random_is_the_literal_rule_with_the_same_draws(alpha, beta, overflow):
    parameters = {"alpha": alpha, "beta": beta, "overflow": overflow}
    above = 0
    for seed in range(60):
        instance, rng = drawn(seed), stream(seed, "policy")
        rule = partial(reference_protection.alpha_beta_clearing, **parameters, rng=rng)
        may_overflow = overflow == "allowed"
        expected, complete = reference.serve(instance, rule, 40_000, may_overflow=may_overflow)
        assert complete, "it ends with probability 1"
        found = simulate(instance, make("alpha-beta-clearing", parameters), seed=seed)
        assert ended(found) == expected, instance.name
        above += found.schedule.usage().max() > instance.memory
    assert (above > 5) == may_overflow


def sets_of(instance, schedule, lengths):
    """What started in every round in which some waited, and the largest set that could have."""
    jobs = reference.jobs_of(instance)
    believed = reference.believed_by(lengths, instance.memory)
    for now in range(schedule.makespan):
        for job in jobs:
            start, stop = int(schedule.starts[job.index]), int(schedule.completion[job.index])
            job.start = start if start < now < stop else None
            job.done = stop <= now
        started = [job for job in jobs if schedule.starts[job.index] == now]
        active, queue = reference.running(jobs), reference.waiting(now, jobs)
        if queue:
            assert reference.satisfies(now, instance.memory, active, started, believed)
            largest = reference.largest_cardinality(now, instance.memory, active, queue, believed)
            yield started, largest


def test_h_sf_by_cardinality_starts_a_largest_set_with_least_prompts_in_every_round():
    for seed in range(80):
        instance = drawn(seed, most_requests=8, longest=6)
        schedule = simulate(instance, make("h-sf", {"select": "cardinality"})).schedule
        assert schedule.evictions == 0
        for started, largest in sets_of(instance, schedule, "true"):
            assert (len(started), sum(job.prompt for job in started)) == largest, seed
