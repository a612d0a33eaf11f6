"""Value of a case for the adversary: the cost of the policy over the optimum."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ratiolab.adversary.case import Case
from ratiolab.hindsight.tiny import one_at_a_time, tiny_optimum
from ratiolab.model import Instance
from ratiolab.online import Policy, simulate


@dataclass(frozen=True)
class Candidate:
    """A case with the cost of a policy on it, and the exact optimum.

    Parameters
    ----------
    cost : total latency of the policy, rounds; for a randomised policy the mean over the seeds of
        the search.
    optimum : exact optimum, rounds. A family has a proven lower bound on its linear program.
    """

    case: Case
    cost: Fraction
    optimum: int | Fraction

    @property
    def ratio(self) -> Fraction:
        """Cost over optimum."""
        return self.cost / self.optimum

    def to_dict(self) -> dict[str, Any]:
        """Return the case and its figures as plain data."""
        return {
            "memory": self.case.memory,
            "blocks": [list(block) for block in self.case.blocks],
            "cost": str(self.cost),
            "optimum": self.optimum if isinstance(self.optimum, int) else str(self.optimum),
            "ratio": float(self.ratio),
        }


class UnfinishedError(Exception):
    """A run that does not end: the policy has no cost on this case."""

    def __init__(self, instance: Instance, outcome: str, seed: int) -> None:
        super().__init__(f"{outcome} with seed {seed}")
        self.instance, self.outcome, self.seed = instance, outcome, seed


def costs_of(instance: Instance, policy: Policy, seeds: range) -> tuple[int, ...] | None:
    """Return total latencies, one for each seed; None when a run does not end."""
    costs = [simulate(instance, policy, seed=seed).total_latency for seed in seeds]
    ended = tuple(cost for cost in costs if cost is not None)
    return ended if len(ended) == len(costs) else None


class Evaluator:
    """The costs of one policy, and optima as far as they matter.

    Parameters
    ----------
    seeds : runs of a policy that uses randomness, with seeds 0, 1, ... in every evaluation, so that
        two cases are compared under the same draws.
    states : states that a search for an optimum may keep; a case that needs more has the value
        zero.
    """

    def __init__(self, policy: Policy, seeds: int, states: int) -> None:
        self.policy = policy
        self.seeds = range(seeds if policy.uses_randomness else 1)
        self.states = states
        self.evaluations = self.optima = self.given_up = 0

    def cost(self, case: Case) -> tuple[Instance, Fraction]:
        """Return the instance and the mean cost; `UnfinishedError` when a run does not end."""
        self.evaluations += 1
        instance = case.instance(self.policy.information)
        return instance, self.mean(instance)

    def mean(self, instance: Instance) -> Fraction:
        """Return the mean cost on an instance; `UnfinishedError` when a run does not end."""
        costs = []
        for seed in self.seeds:
            run = simulate(instance, self.policy, seed=seed)
            if run.total_latency is None:
                raise UnfinishedError(instance, run.outcome, seed)
            costs.append(run.total_latency)
        return Fraction(sum(costs), len(costs))

    def candidate(self, case: Case, above: Fraction = Fraction(0)) -> Candidate | None:
        """Return the case with its figures; None when its ratio is below `above`, or not found.

        The optimum is searched for only up to the cost over `above`.
        """
        instance, cost = self.cost(case)
        limit = one_at_a_time(instance)
        if above > 0:
            limit = min(limit, int(cost / above))
        found = tiny_optimum(instance, limit, self.states)
        self.optima += 1
        if found.latency is None:
            self.given_up += not found.above
            return None
        return Candidate(case, cost, found.latency)

    def again(self, found: Candidate, seeds: range) -> Candidate | None:
        """Return a candidate with the mean over other seeds; None when a run does not end."""
        costs = costs_of(found.case.instance(self.policy.information), self.policy, seeds)
        if costs is None:
            return None
        return Candidate(found.case, Fraction(sum(costs), len(costs)), found.optimum)
