"""Algorithm 2 at large n and M, beside the policy that the analysis describes.

The same code measures both: the printed A_min, and a-min-fluid as the control.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from ratiolab.model import Schedule
from ratiolab.online import make, simulate
from ratiolab.papers.claim import ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio, scaled_instance
from ratiolab.papers.witness import read_witness
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import LengthDistribution, two_point, uniform
from ratiolab.theory.rayleigh import amin

UNIFORM = uniform(1, 5)
TWO_POINT = two_point(1, 4, Fraction(1, 5))  # the worst two-point distribution for l/u = 1/4

Table: TypeAlias = Counter[tuple[int, int]]

MEMORY, REQUESTS = 60, 4_000
SEEDS = range(4)
TOLERANCE = 0.03
"""What finite n and M may change, relative; the printed policy is an order of magnitude away."""


def by_period(schedule: Schedule, lower: int) -> tuple[Table, Table]:
    """Return the runs started and completed, by bound at the start and true length.

    A request's bound is `lower` at first and a + 1 after an eviction at age a.
    """
    outputs = schedule.instance.output.tolist()
    bound: dict[int, int] = {}
    served: Table = Counter()
    done: Table = Counter()
    for run in sorted(schedule.runs, key=lambda run: run.start):
        cell = bound.get(run.request, lower), outputs[run.request]
        served[cell] += 1
        done[cell] += run.completed
        bound[run.request] = max(cell[0], run.stop - run.start + 1)
    return served, done


@cache
def tables(policy: str) -> tuple[tuple[Table, Table], ...]:
    """Return `by_period` of every seed, for uniform lengths 1..5 without prompt."""
    instance = scaled_instance(UNIFORM, 0, MEMORY, REQUESTS)
    return tuple(
        by_period(simulate(instance, make(policy), seed=seed).schedule, 1) for seed in SEEDS
    )


def witness_tables(name: str) -> Iterator[tuple[Table, Table]]:
    """Yield `by_period` of Algorithm 2 on a witness with l = 1, for every rule of ties."""
    instance = read_witness(name).instance
    for ties in ("index", "worst", "best"):
        yield by_period(simulate(instance, make("a-min", {"ties": ties})).schedule, 1)


def measured(policy: str, figure: Callable[[Table, Table], float]) -> Estimate:
    """Estimate a figure of the `tables` of a policy, over the seeds."""
    return Estimate.of([figure(served, done) for served, done in tables(policy)])


def compare(
    policy: str, claimed: dict[str, Fraction], found: dict[str, Estimate], what: str
) -> ClaimResult:
    """Return `false` when an estimate with its interval lies outside the tolerance around its
    claim.
    """
    outside = {
        name: (value, found[name])
        for name, value in claimed.items()
        if found[name].low > float(value) * (1 + TOLERANCE)
        or found[name].high < float(value) * (1 - TOLERANCE)
    }
    errors = {name: abs(found.mean / float(value) - 1) for name, (value, found) in outside.items()}
    worst = max(errors, key=errors.__getitem__, default="")
    return decided(
        not outside,
        f"{len(claimed)} cases",
        f"{what}: " + ", ".join(f"{name} {float(value):.4f}" for name, value in claimed.items()),
        f"{policy}: " + ", ".join(f"{name} {found[name]}" for name in claimed),
        f"simulated with {len(SEEDS)} seeds, 99 % Student intervals, tolerance {TOLERANCE:.0%}",
        f"{worst}: claimed {float(claimed[worst]):.4f}, found {found[worst]}" if outside else None,
    )


def check_quotients(policy: str, slow: bool) -> ClaimResult:
    """Compare the simulated ratio to H-SF with the quotient of Lemma 2, on two distributions."""
    cases: dict[str, LengthDistribution] = {"uniform 1..5": UNIFORM, "1 or 4": TWO_POINT}
    claimed = {name: Fraction(amin.quotient(d.probabilities)) for name, d in cases.items()}
    memory = 4 * MEMORY if slow else MEMORY
    requests = 8 * REQUESTS if slow else REQUESTS
    found = {
        name: fluid_ratio(make(policy), d, 0, memory, requests, SEEDS) for name, d in cases.items()
    }
    return compare(policy, claimed, found, "Lemma 2")


def recheck_quotient() -> str:
    """Run printed A_min on uniform lengths 1..5, M = 60 and M = 240: below Lemma 2 by 0.2."""
    value = amin.quotient(UNIFORM.probabilities)
    assert value == Fraction(83, 62), value
    found: list[Any] = []
    for memory in (60, 240):
        instance = scaled_instance(UNIFORM, 0, memory, 20 * memory)
        latency = [
            simulate(instance, make(key)).schedule.total_latency for key in ("a-min", "h-sf")
        ]
        found.append(latency[0] / latency[1])
        assert found[-1] < value - Fraction(1, 5), found
    return f"ratio {found[0]:.3f} at M = 60, {found[1]:.3f} at M = 240; Lemma 2 has 83/62"
