"""The search for the worst instance of a policy, from a cold start or from given cases."""

import time
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import Candidate, Evaluator
from ratiolab.adversary.moves import families
from ratiolab.adversary.result import Attack
from ratiolab.adversary.search import Clock, Search, Tell
from ratiolab.hindsight import certified, solve
from ratiolab.model import Instance
from ratiolab.model.interrupts import heard
from ratiolab.model.numbers import require_integer
from ratiolab.online import Policy, simulate
from ratiolab.online.registry import as_policy

SEARCH_SEEDS = 12
"""Runs of a policy that uses randomness in each evaluation of the search."""

FRESH = 2 * 10**6
"""First of the seeds of the final mean, which no evaluation of the search has used."""

STATES = 20_000
"""States that the search for one optimum may keep."""


def attack(
    policy: Policy | str,
    limits: Limits | None = None,
    *,
    seed: int = 0,
    evaluations: int | None = None,
    time_limit: float | None = None,
    runs: int = 400,
    starts: Iterable[Case] = (),
    proof_seconds: float | None = 60.0,
    tell: Tell | None = None,
    clock: Clock = time.monotonic,
) -> Attack:
    """Search for the instance on which a policy is farthest from the optimum.

    Parameters
    ----------
    policy : what is attacked, or its key; any policy, also one from a user's file.
    limits : what the adversary may do; by default equal prompts, all at round 0.
    seed : seed of the search; without `time_limit`, equal seeds give equal answers.
    evaluations : cases on which the policy is run, at most.
    time_limit : seconds at most; one of the two limits is needed.
    runs : fresh seeds of the final mean of a policy that uses randomness.
    starts : cases to begin with, besides the closed families.
    proof_seconds : time limit of the final, independent solve with its certificate.
    tell : called when the best ratio has risen.
    clock : what counts seconds; `time.process_time` counts those of this process alone.

    Ctrl-C ends the search and keeps the worst instance found so far.
    """
    require_integer("runs", runs, 1)
    policy = as_policy(policy)
    evaluator = Evaluator(policy, SEARCH_SEEDS, STATES)
    search = Search(evaluator, limits, seed, evaluations, time_limit, tell, clock)
    endless = search.go([*starts, *families(search.limits)])
    if endless is not None:
        case = Case.of_instance(endless)
        optimum = solve(case.instance(policy.information)).upper
        search.best = Candidate(case, Fraction(0), optimum)
    course = search.course()
    source = f"worst instance found for {policy.name} in {course.evaluations} evaluations"
    instance = course.best.case.instance(policy.information, f"worst for {policy.name}")
    instance = instance.replace(source=source)
    costs: tuple[int, ...] = ()
    stopped = False
    if endless is None:
        costs, stopped = _final_costs(instance, policy, fresh_seeds(policy, runs))
    proved = certified(solve(instance, time_limit=proof_seconds))
    interrupted = course.interrupted or stopped or proved.interrupted
    return Attack(
        **vars(replace(course, interrupted=interrupted)),
        instance=instance,
        optimum=proved,
        costs=costs,
        endless=endless is not None,
    )


def _final_costs(instance: Instance, policy: Policy, seeds: range) -> tuple[tuple[int, ...], bool]:
    """Return the costs of one run after another, and whether Ctrl-C left some out."""
    costs: list[int] = []
    try:
        with heard():
            for seed in seeds:
                cost = simulate(instance, policy, seed=seed).total_latency
                if cost is None:
                    return (), False
                costs.append(cost)
    except KeyboardInterrupt:
        if not costs:
            raise
        return tuple(costs), True
    return tuple(costs), False


def fresh_seeds(policy: Policy, runs: int) -> range:
    """Return seeds that no search uses: as many as asked for, or one where nothing is random."""
    return range(FRESH, FRESH + (runs if policy.uses_randomness else 1))
