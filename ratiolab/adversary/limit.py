"""The fluid limit of a family: equal lengths, k times the requests on k times the memory.

As k grows the optimum becomes k times a linear program: requests may start in parts. Its value V is
a bound for every k, proven here in exact arithmetic from the program's duals: OPT(k) >= k V, since
the duals that prove V for one member prove k V for k times the requests and the memory. And its
solution, rounded down to whole requests with the few that are left at the end, is a feasible
schedule, so OPT(k)/k tends to V. The policy is simulated at growing k; its ratio lies between its
cost over the rounded schedule and its cost over k V.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import Candidate, Evaluator, costs_of
from ratiolab.adversary.fluid import FluidOptimum, fluid_optimum
from ratiolab.adversary.moves import families
from ratiolab.adversary.result import Course
from ratiolab.adversary.search import Search, Tell
from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.online import Policy

FACTOR = 16
"""How many times a case is taken while it is searched for."""

SEEDS = 2
"""Runs of a policy that uses randomness in each evaluation: many requests vary little."""

MOST_REQUESTS = 6000
"""Requests of the largest simulated member."""


class LimitEvaluator(Evaluator):
    """Costs on `FACTOR` times a case, over `FACTOR` times the proven value of its program."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy, SEEDS, 0)

    def candidate(self, case: Case, above: Fraction = Fraction(0)) -> Candidate | None:
        """Return the case with its figures for one member, or None when its ratio is below."""
        self.evaluations += 1
        instance = scaled(case, FACTOR).instance(self.policy.information)
        cost = self.mean(instance) / FACTOR
        if cost < above * best_lower_bound(instance).value / FACTOR:
            return None
        self.optima += 1
        found = Candidate(case, cost, fluid_optimum(case).proven)
        return found if found.ratio >= above else None

    def again(self, found: Candidate, seeds: range) -> Candidate:
        """Return a candidate as it is: the members that `limit_of` simulates are larger."""
        return found


def scaled(case: Case, factor: int) -> Case:
    """Return a member of the family of a case: a multiple of its requests and memory."""
    blocks = (block._replace(number=block.number * factor) for block in case.blocks)
    return Case.of(case.memory * factor, blocks)


class Member(NamedTuple):
    """A member of a family.

    `cost` is the latency of the policy, the mean over seeds. `lower` is a proven bound on the
    optimum, `upper` the latency of a feasible schedule.
    """

    factor: int
    requests: int
    cost: Fraction
    lower: Fraction
    upper: int

    @property
    def ratio(self) -> tuple[Fraction, Fraction]:
        """The interval of the ratio."""
        return self.cost / self.upper, self.cost / self.lower


@dataclass(frozen=True)
class Limit:
    """A family and its members, each with the policy's cost and bounds on the optimum."""

    case: Case
    optimum: FluidOptimum = field(repr=False)
    members: tuple[Member, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the family, the value of its program, and the members."""
        return {
            "memory": self.case.memory,
            "blocks": [list(block) for block in self.case.blocks],
            "optimum": self.optimum.value,
            "proven": str(self.optimum.proven),
            "members": [
                {
                    "factor": member.factor,
                    "requests": member.requests,
                    "cost": float(member.cost),
                    "lower": float(member.lower),
                    "upper": member.upper,
                    "ratio": [float(side) for side in member.ratio],
                }
                for member in self.members
            ],
        }


def limit_of(policy: Policy, case: Case, seeds: range = range(3)) -> Limit:
    """Run a policy on ever larger members of the family of a case.

    Factors are 1, 4, 16, ... up to `MOST_REQUESTS` requests. Members on which a run does not end
    are left out.
    """
    optimum = fluid_optimum(case)
    members = []
    factor = 1
    while factor == 1 or factor * case.requests <= MOST_REQUESTS:
        instance = scaled(case, factor).instance(policy.information)
        costs = costs_of(instance, policy, seeds if policy.uses_randomness else range(1))
        if costs is not None:
            cost = Fraction(sum(costs), len(costs))
            upper = optimum.latency(case, factor)
            members.append(Member(factor, len(instance), cost, factor * optimum.proven, upper))
        factor *= 4
    return Limit(case, optimum, tuple(members))


@dataclass(frozen=True, kw_only=True)
class LimitAttack(Course):
    """The family with the largest ratio in the limit that a search found, and its members.

    `best` has the policy's cost on `FACTOR` times the case, over the same factor.
    """

    limit: Limit

    def to_dict(self) -> dict[str, Any]:
        """Return the family, its members and the course of the search."""
        return {**self.limit.to_dict(), **self.course_dict()}


def attack_limit(
    policy: Policy,
    limits: Limits | None = None,
    *,
    seed: int = 0,
    evaluations: int | None = None,
    time_limit: float | None = None,
    starts: Iterable[Case] = (),
    tell: Tell | None = None,
) -> LimitAttack:
    """Search for the family of instances with the largest ratio in the limit; see `limit_of`.

    Parameters as in `ratiolab.adversary.attack.attack`; limits are those of the smallest member.
    """
    search = Search(LimitEvaluator(policy), limits, seed, evaluations, time_limit, tell)
    if search.go([*starts, *families(search.limits)]) is not None:
        raise ValueError(f"{policy.name} never completes some instance: its ratio has no limit")
    course = search.course()
    return LimitAttack(**vars(course), limit=limit_of(policy, course.best.case))
