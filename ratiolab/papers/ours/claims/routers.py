"""Routers before several replicas: lower bounds on dispatch at once, and dealing out a batch."""

from collections.abc import Iterable
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np

from ratiolab.model import Instance, stream
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.fleet import Fleet, FleetSchedule
from ratiolab.online import make, simulate
from ratiolab.online.fleets.loop import simulate_fleet
from ratiolab.online.fleets.registry import make_router
from ratiolab.online.router import Router
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.papers.ours.router_families import (
    Bad,
    big_and_tiny,
    bursts,
    critical,
    look_alike,
    thin_and_others,
)

BITS = 64
"""Binary digits kept of expectations, rounded down."""


def cost(bad: Bad, router: Router | str, policy: str = "svf", seed: int = 0) -> int:
    """Return the total latency of a router on a family."""
    total = simulate_fleet(bad.fleet, policy, router, seed=seed).total_latency
    assert total is not None
    return total


def optimal(bad: Bad) -> int:
    """Return the optimum of a family, which its schedule by hand reaches: no request waits."""
    assert bad.better == int(bad.fleet.instance.output.sum())
    return bad.better


class Case(NamedTuple):
    """Cost of a router on a family, and the least that is claimed, both over the optimum."""

    found: Fraction
    least: Fraction
    setting: str


def at_least(cases: Iterable[Case], digits: int = 1) -> ClaimResult:
    """Return the verdict on a lower bound: a case below what it says refutes it."""
    listed = list(cases)
    words = [f"{float(case.found):.{digits}f} ({case.setting})" for case in listed]
    below = (w for case, w in zip(listed, words, strict=True) if case.found < case.least)
    broken = next(below, None)
    told = ", ".join(words)
    return decided(broken is None, PROVED, told, witness=broken)


@PAPER.claim(claimed=Fraction(10, 11), control=Fraction(2))
def router_round_robin(factor: Fraction) -> ClaimResult:
    """Round robin pays order n: at least 1 + (10/11) (1 - 1/R) (K - 1) / 2 times the optimum on R K
    requests.

    Source: round robin before R replicas
    Assumes: arrivals over time
    Assumes: any policy on each replica
    Assumes: R at least 2
    Proof: routers
    Evidence: all big requests go to one replica; by hand no request waits
    """
    cases = []
    for replicas, bigs in ((2, 10), (2, 40), (4, 40), (8, 20)):
        bad = big_and_tiny(replicas, bigs)
        least = 1 + factor * (1 - Fraction(1, replicas)) * (bigs - 1) / 2
        found = Fraction(cost(bad, "round-robin"), optimal(bad))
        cases.append(Case(found, least, f"R = {replicas}, n = {len(bad.fleet)}"))
    return at_least(cases)


@PAPER.claim(claimed=Fraction(4, 5), control=Fraction(2))
def router_jsq(factor: Fraction) -> ClaimResult:
    """Join the shortest queue, ties by index, pays order sqrt(n / R): at least
    (4/5) (1 + (1 - 1/R) (K - 1) / 2) times the optimum on at most K + R K^2 / 2 requests.

    Source: join the shortest queue before R replicas
    Assumes: arrivals over time
    Assumes: ties by index
    Assumes: any policy on each replica
    Proof: routers
    Evidence: bursts of tiny requests lift all other queues for one round
    """
    cases, router = [], make_router("jsq", {"ties": "index"})
    for replicas, bigs in ((2, 6), (2, 24), (4, 8), (4, 16)):
        bad = bursts(replicas, bigs)
        assert len(bad.fleet) <= bigs + replicas * bigs**2 / 2
        least = factor * (1 + (1 - Fraction(1, replicas)) * (bigs - 1) / 2)
        found = Fraction(cost(bad, router), optimal(bad))
        cases.append(Case(found, least, f"R = {replicas}, n = {len(bad.fleet)}"))
    return at_least(cases)


@PAPER.claim(claimed=Fraction(1, 25), control=Fraction(1, 2))
def router_least_work(factor: Fraction) -> ClaimResult:
    """Least work, even with true volumes, pays order n: at least o / 25 times the optimum on 3 o
    requests.

    Source: least work before two replicas
    Assumes: arrivals over time
    Assumes: true volumes
    Assumes: any policy on each replica
    Proof: routers
    Evidence: volume that a replica has does not say that it has no room: the thin request leaves
        half of the memory free
    """
    cases = []
    for output in (40, 80, 160):
        bad = thin_and_others(output)
        paid = cost(bad, "least-work")
        assert paid >= bad.least
        found = Fraction(paid, optimal(bad))
        cases.append(Case(found, factor * output, f"n = {len(bad.fleet)}"))
    return at_least(cases)


def excess(replicas: int, batches: int) -> int:
    """Return E max(0, X - k) + 1/2, times 2^BITS and floored, by De Moivre's formula.

    X is binomial with R k trials and mean k.
    """
    n, v = replicas * batches, batches + 1
    top: int = v * comb(n, v) * (replicas - 1) ** (n - v + 1)
    return int((top << BITS) // replicas ** (n + 1)) + (1 << BITS - 1)


@PAPER.claim(claimed=Fraction(1, 4), control=Fraction(1, 2))
def router_random(factor: Fraction) -> ClaimResult:
    """A random replica pays order sqrt(n / R): in expectation at least
    (1/4) sqrt((1 - 1/R) n / R) times the optimum.

    Source: a random replica
    Assumes: arrivals over time
    Assumes: any policy on each replica
    Proof: routers
    Evidence: each replica is a queue of critical load
    """
    broken = None
    for replicas in (2, 4, 8):
        for batches in (1, 10, 100, 400):
            total = sum(excess(replicas, k) for k in range(1, batches + 1))
            least = factor**2 * (1 - Fraction(1, replicas)) * batches
            if Fraction(total, batches << BITS) ** 2 < least:
                broken = broken or f"R = {replicas}, K = {batches}"
    bad = critical(4, 100)
    found = np.mean([cost(bad, "random", seed=seed) for seed in range(5)]) / optimal(bad)
    proved = sum(excess(4, k) for k in range(1, 101)) / (100 << BITS)
    return decided(
        broken is None,
        PROVED,
        f"R = 4, n = 400: at least {proved:.2f} in expectation, {found:.2f} in the mean of 5 runs",
        witness=broken,
    )


@PAPER.claim(claimed=Fraction(99, 100), control=Fraction(2))
def router_blind(factor: Fraction) -> ClaimResult:
    """Deterministic dispatch at once that does not see outputs pays R - o(1), though all requests
    arrive at once: R (k + 1) / (k + R) with k requests on the fullest replica.

    Source: deterministic dispatch at once that does not see outputs
    Assumes: all requests at round 0
    Assumes: the policies may know all outputs
    Proof: routers
    Evidence: requests on the fullest replica turn out to be the long ones
    """
    cases = []
    for replicas, k in ((2, 64), (4, 64), (8, 32)):
        assigned = [j % replicas for j in range(replicas * k)]  # as round robin assigns them
        bad = look_alike(assigned, replicas, 10_000)
        found = Fraction(cost(bad, "round-robin"), bad.better)
        least = factor * Fraction(replicas * (k + 1), k + replicas)
        cases.append(Case(found, least, f"R = {replicas}, k = {k}"))
    return at_least(cases, digits=2)


def dealt(fleet: Fleet) -> FleetSchedule:
    """Return the schedule of smallest volume first on requests dealt out in order of volume."""
    order = np.argsort(fleet.instance.volume, kind="stable")
    replica, starts = np.zeros((2, len(fleet)), np.int64)
    replica[order] = np.arange(len(fleet)) % fleet.replicas
    for number in range(fleet.replicas):
        own = np.flatnonzero(replica == number)
        if len(own):
            starts[own] = simulate(fleet.instance.take(own), make("svf")).schedule.starts
    return require_feasible_fleet(FleetSchedule.from_starts(fleet, replica, starts))


@PAPER.claim(claimed=Fraction(12), control=Fraction(1))
def router_dealing(constant: Fraction) -> ClaimResult:
    """A batch that is dealt out in order of volume loses a constant: smallest volume first is at
    most 12 times the optimum if no request holds more than half of a memory.

    Source: dealing out a batch by volume
    Assumes: all requests at round 0
    Assumes: true volumes
    Assumes: no footprint above half of a memory
    Proof: routers
    Evidence: a replica has at most its share of all smaller volumes before each request
    """
    from ratiolab.hindsight.bounds import fleet_lower_bound

    rng, worst, broken = stream(0, "cases"), Fraction(0), None
    for _ in range(60):
        n, replicas = int(rng.integers(2, 60)), int(rng.integers(2, 5))
        prompt = rng.integers(0, 20, n)
        output = rng.integers(1, 31 - prompt)
        fleet = Fleet(Instance("drawn", 60, [0] * n, prompt, output), replicas)
        found = Fraction(dealt(fleet).total_latency, fleet_lower_bound(fleet)[0].value)
        if found > constant and broken is None:
            broken = f"n = {n}, R = {replicas}: {float(found):.3f} of a lower bound"
        worst = max(worst, found)
    return decided(
        broken is None,
        PROVED,
        f"up to {float(worst):.2f} times a lower bound on 60 drawn batches",
        witness=broken,
    )
