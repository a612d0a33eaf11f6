"""What holds for every policy of the registry, whatever it is."""

from collections import Counter
from functools import cache
from itertools import product
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from drawn import MANY, drawn, ended, in_two, word
from oracle import least_latency

from ratiolab.model import Instance, violations
from ratiolab.online import POLICIES, Information, Policy, make, simulate
from ratiolab.online.registry import parameters_of

PATIENCE = 400


def variants(key):
    """A policy with every combination of its parameters that name a choice."""
    choices = {
        name: get_args(kind)
        for name, (kind, _) in parameters_of(key).items()
        if get_origin(kind) is Literal
    }
    return [(key, dict(zip(choices, values, strict=True))) for values in product(*choices.values())]


VARIANTS = [variant for key in POLICIES for variant in variants(key)]
RESTARTING = [
    case
    for case in VARIANTS
    if make(*case).preemption == "restart" and not make(*case).may_overflow
]


def uninformed(case):
    """With a classifier, which looks at the length by definition, one that sees nothing."""
    refined = POLICIES[case[0]].information is Information.REFINED
    return case[0], case[1] | ({"spread": 1.0} if refined else {})


WITHOUT_FORESIGHT = [
    uninformed(case) for case in VARIANTS if case[1].get("ties") not in ("worst", "best")
]
WITHOUT_LABELS = [
    case
    for case in VARIANTS
    if case[1].get("ties") not in ("index", "random") and not POLICIES[case[0]].randomized
]
MAY_LOOP = [
    *(case for case in VARIANTS if make(*case).may_loop),
    ("mc-sf", {"lengths": "predicted", "margin": 0.1}),
    ("alpha-protection", {"alpha": 0.0}),
]
RANDOM = [case for case in VARIANTS if case[1].get("ties") == "random"]


def runs_of(instance, case, seed=0):
    return ended(simulate(instance, make(*case), seed=seed, patience=PATIENCE))


@in_two(20, 120)
@pytest.mark.parametrize("case", VARIANTS, ids=word)
def test_runs_are_feasible_end_unless_they_may_loop_and_depend_on_the_seed_alone(case, seeds):
    policy = make(*case)
    allowed = {"complete", "looping"} if policy.may_loop else {"complete"}
    tolerated = {"memory"} if policy.may_overflow else set()
    completed = 0
    for seed in seeds:
        simulation = simulate(drawn(seed), policy, seed=seed)
        assert simulation.outcome in allowed
        found = violations(simulation.schedule)
        if simulation.outcome == "complete":
            completed += 1
            assert {violation.rule for violation in found} <= tolerated
        else:
            assert {violation.rule for violation in found} == {"completion"}
        if seed % 4 == 0:
            again = simulate(drawn(seed), make(*case), seed=seed)
            assert ended(again) == ended(simulation)
    assert completed > 8


def test_what_may_loop_does():
    looping = {
        case[0]
        for case in MAY_LOOP
        if any(simulate(drawn(seed), make(*case)).outcome == "looping" for seed in range(120))
    }
    assert looping == {case[0] for case in MAY_LOOP}


@pytest.mark.parametrize("case", RANDOM, ids=word)
def test_random_ties_differ_between_seeds_somewhere(case):
    instance = Instance("equals", 12, [0] * 6, [1] * 6, [2, 3, 4, 5, 6, 7], upper=[9] * 6)
    assert len({tuple(runs_of(instance, case, seed)) for seed in range(5)}) > 1


@cache
def tiny(seed):
    instance = drawn(seed, most_requests=4, longest=4)
    return instance, least_latency(instance)


@pytest.mark.parametrize("case", RESTARTING, ids=word)
def test_no_policy_beats_the_optimum(case):
    gaps = []
    for seed in range(25):
        instance, least = tiny(seed)
        simulation = simulate(instance, make(*case), seed=seed, patience=PATIENCE)
        if simulation.outcome == "complete":
            gaps.append(simulation.total_latency - least)
    assert min(gaps) == 0, "not below it, and at it where nothing is scarce"
    assert max(gaps) > 0, "nothing is scarce anywhere"


class Recorded(Policy):
    """A policy and the list of its decisions."""

    # of each instance, not the defaults of a policy
    information = ties = classifier = may_overflow = None

    def __init__(self, policy):
        self.policy, self.decisions = policy, []
        self.name, self.information, self.ties = policy.name, policy.information, policy.ties
        self.preemption, self.classifier = policy.preemption, policy.classifier
        self.may_overflow = policy.may_overflow

    def start(self, setting, rng):
        decide = self.policy.start(setting, rng)

        def recorded(view):
            decision = decide(view)
            self.decisions.append((view.now, sorted(decision.evict), list(decision.admit)))
            return decision

        return recorded


def first_difference(seed, case):
    """Change one output: round of the first decision that differs, round of the revelation."""
    rng = np.random.default_rng(seed)
    base = drawn(seed)
    j = int(rng.integers(len(base)))
    other = base.output.copy()
    other[j] = rng.integers(1, base.memory - base.prompt[j] + 1)
    least, most = np.minimum(base.output, other), np.maximum(base.output, other)
    lower = np.maximum(1, least - rng.integers(0, 3, len(base)))
    base = base.replace(lower=lower, upper=most + rng.integers(0, 3, len(base)))
    policies = [Recorded(make(*case)) for _ in range(2)]
    revealed = PATIENCE
    for policy, output in zip(policies, (base.output, other), strict=True):
        instance = base.replace(output=output)
        simulation = simulate(instance, policy, seed=seed, patience=PATIENCE)
        if policy.information is Information.TRUE_LENGTH:
            revealed = int(base.arrival[j])
        elif simulation.schedule.completion[j] >= 0:
            revealed = min(revealed, int(simulation.schedule.completion[j]))
    one, two = (policy.decisions for policy in policies)
    differing = [a[0] for a, b in zip(one, two, strict=False) if a != b]
    return differing[0] if differing else None, revealed


@in_two(MANY, 240)
@pytest.mark.parametrize("case", WITHOUT_FORESIGHT, ids=word)
def test_a_changed_output_changes_no_decision_before_it_is_revealed(case, seeds):
    later = 0
    for seed in seeds:
        round_, revealed = first_difference(seed, case)
        assert round_ is None or round_ >= revealed, seed
        later += round_ is not None
    assert later > len(seeds) / 12, "afterwards it does change decisions, or nothing was tested"


def test_that_law_would_catch_a_policy_that_peeks():
    differences = [first_difference(seed, ("a-max", {"ties": "best"})) for seed in range(120)]
    assert any(round_ is not None and round_ < revealed for round_, revealed in differences)


def shapes(instance, case):
    """The runs with their requests' columns in place of their names, in no order."""
    columns = [instance.arrival, instance.prompt, instance.output, instance.predicted]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return Counter((rows[i], start, stop) for i, start, stop in runs_of(instance, case))


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("case", WITHOUT_LABELS, ids=word)
def test_permuting_the_file_changes_nothing_when_only_copies_tie(case, copies):
    """All columns of different requests differ; sums of prompts 3**k differ, too."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 4
        output = rng.permutation(np.arange(1, 13))[:n]
        instance = Instance(
            "distinct",
            int(27 + 16 + rng.integers(0, 30)),
            arrival=rng.permutation(n),
            prompt=3 ** rng.permutation(n),
            output=output,
            lower=np.maximum(1, output - rng.integers(0, 6, n)),
            upper=12 + rng.permutation(n) + 1,
            predicted=rng.permutation(np.arange(1, 13))[:n],
            location=2000 + rng.permutation(n),
            scale=500 + rng.permutation(n),
            freedom=3500 + rng.permutation(n),
        ).take(np.repeat(np.arange(n), copies))
        assert shapes(instance.take(rng.permutation(n * copies)), case) == shapes(instance, case)
