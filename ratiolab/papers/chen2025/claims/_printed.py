"""Algorithm 2 at large n and M, beside the policy that the analysis describes.

One function measures the printed A_min, and a-min-fluid as the control.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from ratiolab.model import Schedule
from ratiolab.online import Policy, make, simulate
from ratiolab.papers.claim import FALSE, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio, scaled_instance
from ratiolab.papers.witness import read_witness
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import LengthDistribution, two_point, uniform
from ratiolab.theory.limits.printed_a_min import square_root_bound
from ratiolab.theory.rayleigh import amin

PRINTED = ("a-min, bound a + 1", "a-min, bound a")
"""Algorithm 2 with the bound that its analysis needs, and with that of its pseudo-code."""

FLUID = ("a-min-fluid",)
"""The policy that the analysis describes: the control."""

UNIFORM = uniform(1, 5)
TWO_POINT = two_point(1, 4, Fraction(1, 5))  # the worst two-point distribution for l/u = 1/4


def policy(name: str) -> Policy:
    """Return a policy by one of the names above."""
    key, _, bound = name.partition(", ")
    return make(key, {"bound": "printed"} if bound == "bound a" else {})


Table: TypeAlias = Counter[tuple[int, int]]

PROOF = "ours/a_min_square_root"
"""The proof that Algorithm 2, with both bounds, costs at least 0.2849 sqrt(u) times H-SF on lengths
1 and u."""

PROVEN_AT = 1024
"""A length u at which what is proved of Algorithm 2 exceeds every bound of the analysis."""

LEMMA_2_LIMIT = 3 / 2
"""By Theorem 6 the quotient of Lemma 2 is below it at every two lengths."""

MEMORY, REQUESTS = 60, 2_400
SEEDS = range(10)
TOLERANCE = 0.03
"""Relative effect of finite n and M; the printed policy is an order of magnitude away."""


def proved_ratio() -> float:
    """Return the proved lower bound on the ratio of Algorithm 2 on lengths 1 and `PROVEN_AT`."""
    return float(square_root_bound(PROVEN_AT))


def proved_above(limit: float) -> str:
    """Verify that the proved ratio is above a limit, and return both in words."""
    ratio = proved_ratio()
    assert ratio > limit, (ratio, limit)
    return (
        f"lengths 1 and {PROVEN_AT}: proved are {ratio:.2f} or more, the statement allows "
        f"{limit:.4g}"
    )


def against(result: ClaimResult, limit: float) -> ClaimResult:
    """Return a rejection as proved if the statement allows no ratio above a limit on these lengths.

    Other results stay as they are: the control's, and a limit that the proved ratio does not reach.
    """
    if result.verdict is not FALSE or proved_ratio() <= limit:
        return result
    return replace(result, scope=PROVED, witness=proved_above(limit))


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
def tables(name: str) -> tuple[tuple[Table, Table], ...]:
    """Return `by_period` of every seed, for uniform lengths 1..5 without prompt."""
    instance = scaled_instance(UNIFORM, 0, MEMORY, REQUESTS)
    return tuple(
        by_period(simulate(instance, policy(name), seed=seed).schedule, 1) for seed in SEEDS
    )


def witness_tables(name: str) -> Iterator[tuple[Table, Table]]:
    """Yield `by_period` of Algorithm 2 on a witness with l = 1, for every rule of ties."""
    instance = read_witness(name).instance
    for ties, bound in product(("index", "worst", "best"), ("certified", "printed")):
        algorithm = make("a-min", {"ties": ties, "bound": bound})
        yield by_period(simulate(instance, algorithm).schedule, 1)


def measured(name: str, figure: Callable[[Table, Table], float]) -> Estimate:
    """Estimate a figure of the `tables` of a policy, over the seeds."""
    return Estimate.of([figure(served, done) for served, done in tables(name)])


def compare(
    claimed: dict[str, Fraction],
    found: dict[str, dict[str, Estimate]],
    what: str,
    witness: str = "",
) -> ClaimResult:
    """Return `false` when under each policy some estimate with its interval lies outside the
    tolerance around its claim.

    An exact example against the claim, the `witness`, decides where there is one. Estimates then
    show that the example is no matter of few requests.
    """
    outside = {
        policy: {
            name: abs(figures[name].mean / float(value) - 1)
            for name, value in claimed.items()
            if figures[name].low > float(value) * (1 + TOLERANCE)
            or figures[name].high < float(value) * (1 - TOLERANCE)
        }
        for policy, figures in found.items()
    }
    refuted = all(outside.values())
    last = list(found)[-1]
    worst = max(outside[last], key=outside[last].__getitem__, default="")
    return decided(
        not refuted,
        WITNESSED if refuted and witness else f"{len(claimed) * len(found)} cases",
        f"{what}: "
        + ", ".join(f"{name} {float(value):.4f}" for name, value in claimed.items())
        + "".join(
            f"; {policy}: " + ", ".join(f"{name} {figures[name]}" for name in claimed)
            for policy, figures in found.items()
        ),
        evidence=f"simulated with {len(SEEDS)} seeds, 99% Student intervals, tolerance "
        f"{TOLERANCE:.0%}; false if each reading that was tried is outside: {' and '.join(found)}",
        witness=witness
        or f"{last}: {worst} claimed {float(claimed[worst]):.4f}, found {found[last][worst]}"
        if refuted
        else None,
    )


def check_quotients(policies: tuple[str, ...], slow: bool) -> ClaimResult:
    """Compare the simulated ratio to H-SF with the quotient of Lemma 2, on two distributions."""
    cases: dict[str, LengthDistribution] = {"uniform 1..5": UNIFORM, "1 or 4": TWO_POINT}
    claimed = {name: Fraction(amin.quotient(d.probabilities)) for name, d in cases.items()}
    memory = 4 * MEMORY if slow else MEMORY
    requests = 8 * REQUESTS if slow else REQUESTS
    found = {
        key: {
            name: fluid_ratio(policy(key), d, 0, memory, requests, SEEDS)
            for name, d in cases.items()
        }
        for key in policies
    }
    return compare(claimed, found, "Lemma 2")


def recheck_quotient() -> str:
    """Verify the proved ratio; run printed A_min on uniform lengths 1..5, M = 60 and M = 240."""
    value = amin.quotient(UNIFORM.probabilities)
    assert value == Fraction(83, 62), value
    found: list[Any] = []
    for memory, key in product((60, 240), PRINTED):
        instance = scaled_instance(UNIFORM, 0, memory, 20 * memory)
        latency = [
            simulate(instance, policy(name)).schedule.total_latency for name in (key, "h-sf")
        ]
        found.append(latency[0] / latency[1])
        assert found[-1] < value - Fraction(3, 20), found
    return (
        f"{proved_above(LEMMA_2_LIMIT)}; uniform lengths 1..5: ratios {min(found):.3f} to "
        f"{max(found):.3f} at M = 60 and 240, Lemma 2 has 83/62"
    )
