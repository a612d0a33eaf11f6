"""The search for the worst instance of a policy, from a cold start or from given cases."""

import time
from collections.abc import Iterable
from fractions import Fraction

from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import Candidate, Evaluator, UnfinishedError, costs_of
from ratiolab.adversary.moves import families
from ratiolab.adversary.result import Attack
from ratiolab.adversary.search import Search, Tell
from ratiolab.hindsight import solve
from ratiolab.model.streams import stream
from ratiolab.online import Policy

SEARCH_SEEDS = 12
"""Runs of a policy that uses randomness in each evaluation of the search."""

FRESH = 2 * 10**6
"""First of the seeds of the final mean, which no evaluation of the search has used."""

STATES = 20_000
"""States that the search for one optimum may keep."""


def attack(
    policy: Policy,
    limits: Limits | None = None,
    *,
    seed: int = 0,
    evaluations: int | None = None,
    time_limit: float | None = None,
    runs: int = 400,
    starts: Iterable[Case] = (),
    proof_seconds: float | None = 60.0,
    tell: Tell | None = None,
) -> Attack:
    """Search for the instance on which a policy is farthest from the optimum.

    Parameters
    ----------
    policy : what is attacked; any policy, also one from a user's file.
    limits : what the adversary may do; by default equal prompts, all at round 0.
    seed : of the search. With `evaluations` and no `time_limit`, equal seeds give equal answers.
    evaluations : cases on which the policy is run, at most.
    time_limit : seconds at most; one of the two limits is needed.
    runs : fresh seeds of the final mean of a policy that uses randomness.
    starts : cases to begin with, besides the closed families.
    proof_seconds : time limit of the final, independent solve.
    tell : called when the best ratio has risen.

    Ctrl-C ends the search and keeps the worst instance found so far.
    """
    limits = limits or Limits()
    if evaluations is None and time_limit is None:
        raise ValueError("evaluations or time_limit is needed: a search has no end of its own")
    if runs < 1:
        raise ValueError(f"runs {runs} must be at least 1")
    evaluator = Evaluator(policy, SEARCH_SEEDS, STATES)
    search = Search(evaluator, limits, stream(seed, "search"), evaluations, time_limit, tell)
    given = [case for case in starts if limits.allow(case)]
    interrupted, endless = False, None
    try:
        search.run([*given, *families(limits)])
    except KeyboardInterrupt:
        interrupted = True
    except UnfinishedError as ending:
        endless = ending.instance
    best = search.best
    if endless is not None:
        case = Case.of_instance(endless)
        optimum = solve(case.instance(policy.information)).upper
        best = Candidate(case, Fraction(0), optimum)
    if best is None:
        raise ValueError("no case was evaluated: the budget is too small")
    source = f"worst instance found for {policy.name} in {search.evaluator.evaluations} evaluations"
    instance = best.case.instance(policy.information, f"worst for {policy.name}")
    instance = instance.replace(source=source)
    costs = () if endless is not None else costs_of(instance, policy, fresh_seeds(policy, runs))
    return Attack(
        policy,
        limits,
        seed,
        best,
        instance,
        solve(instance, time_limit=proof_seconds),
        costs or (),
        search.archive,
        tuple(search.history),
        search.evaluator.evaluations,
        search.stalled,
        time.monotonic() - search.began,
        interrupted,
        endless is not None,
    )


def fresh_seeds(policy: Policy, runs: int) -> range:
    """Return seeds that no search uses: as many as asked for, or one where nothing is random."""
    return range(FRESH, FRESH + (runs if policy.uses_randomness else 1))
