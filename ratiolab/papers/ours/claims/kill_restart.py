"""Kill-and-restart with reserved caps: its constants, and that none is better."""

from math import exp, log

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.theory.laws.distributions import LengthDistribution, from_weights
from ratiolab.theory.limits import independent_offsets as offsets
from ratiolab.theory.limits.kill_restart import best, constant, geometric_caps, latency
from ratiolab.theory.limits.kill_restart import best as one_offset
from ratiolab.theory.limits.kill_restart import staggered_ratio as ratio_at

LEVELS = 1e5
SIMULATED = 2.25
"""Base of the policy as it is simulated."""


def cut_law(lower: int, span: int) -> LengthDistribution:
    """Return P(o > t) = l/t for l <= t < l * span, the rest at l * span."""
    weights = [1 - lower / (lower + 1)]
    weights += [lower / t - lower / (t + 1) for t in range(lower + 1, lower * span)]
    return from_weights(lower, [*weights, 1 / span])


def whole_lengths(lower: int, span: int, offsets: int = 32) -> float:
    """Return the ratio to the staggered optimum on `cut_law`, token by token."""
    law = cut_law(lower, span)
    cost = 0.0
    for k in range(offsets):
        caps = geometric_caps(lower, law.upper, SIMULATED, 0, (k + 0.5) / offsets)
        cost += float(latency(law, caps))
    best_cost = sum((t + 1) * float(law.survival(t)) ** 2 for t in range(law.upper))
    return cost / offsets / best_cost


@PAPER.claim(claimed=7.257, control=7.3)
def kill_restart_staggered(claimed: float) -> ClaimResult:
    """Kill-and-restart with reserved caps costs up to 7.257 times the optimum, twice its constant
    against batches, and not less at any base.

    Source: kill-and-restart, one random offset
    Assumes: all requests at round 0, no prompts, n and M large, places refilled at once
    Assumes: the optimum may stagger its starts
    Proof: ratiolab.theory.limits.kill_restart.staggered_ratio
    Evidence: H-SF in batches pays exactly twice the staggered optimum without prompts; the
        distribution 1/t attains the constant against it
    """
    base, value = (float(found) for found in best(refill=True, random_offset=True))
    own = 2 * float(constant(SIMULATED, refill=True, random_offset=True))
    least = min(ratio_at(b / 100, LEVELS) for b in range(150, 400))
    near, real = whole_lengths(100, 60), ratio_at(SIMULATED, log(60))
    assert abs(near / real - 1) < 0.01, (near, real)
    return decided(
        min(least, ratio_at(base, LEVELS)) >= claimed,
        PROVED,
        f"{ratio_at(base, LEVELS):.4f} at base {base:.4f} on P(o > t) = 1/t up to e^{LEVELS:.0f}, "
        f"tending to {2 * value:.4f}; at base {SIMULATED}, as simulated, to {own:.4f}; "
        f"{near:.3f} on lengths 100 to 6000",
        witness=f"tends to {2 * value:.4f}",
    )


MODEL = "a run reserves the memory of its cap until it ends; no prompts; n, M large; against H-SF"
BASE = 2.48563


def laws() -> list[LengthDistribution]:
    """Return lengths to test: 1/t cut far out, two points, and drawn gaps."""
    rng = stream(11, "cases")
    cut = [1 / k - 1 / (k + 1) for k in range(1, 3000)] + [1 / 3000]
    drawn = [np.where(rng.random(60) < 0.2, rng.random(60) ** 4, 0) + 1e-6 for _ in range(20)]
    two = [[1.0] + [0.0] * gap + [share] for gap in (1, 3, 30) for share in (0.01, 0.3)]
    return [from_weights(1, weights) for weights in (cut, *two, *(d.tolist() for d in drawn))]


@PAPER.claim(claimed=3.42357, control=3.2, assumes=MODEL)
def independent_offsets(value: float) -> ClaimResult:
    """With an independent random offset for each request, kill-and-restart costs at most (b - 1)(1
    + ln b)/ln(b)^2 = 3.42357 times H-SF at b = 2.48563.

    Source: kill-and-restart
    Proof: independent_offsets
    Evidence: in ln t the cost is a translation-invariant form with a nonnegative kernel, whose mass
        bounds it; the distribution 1/t, cut far out, comes near it
    """
    base, constant = (float(found) for found in offsets.best())
    ratios = [offsets.ratio(law, base, 1500) for law in laws()]
    single = float(one_offset(refill=True, random_offset=True)[1])
    return decided(
        max(ratios) <= value and constant <= value,
        PROVED,
        f"{constant:.6f} at b = {base:.5f}; one offset for all {single:.4f}; up to "
        f"{max(ratios):.4f} on {len(ratios)} distributions",
        witness=f"the constant is {constant:.6f}",
    )


def drawn_path(
    rng: np.random.Generator, start: float, end: float
) -> tuple[list[float], list[float]]:
    """Return caps and times of a random path, half of them near the steady one."""
    caps, times, cap, time = list[float](), list[float](), 1.0, start
    steady = rng.random() < 0.5
    while cap < end:
        grow = log(BASE) if steady else rng.exponential(1.0)
        cap = min(end, cap * exp(grow * (1 + 0.1 * rng.standard_normal() ** 2)))
        time = min(end, max(time, cap * (2.1 if steady else rng.uniform(0.5, 4))))
        caps.append(cap)
        times.append(time)
        if rng.random() < 0.02:
            break
    return caps, times


@PAPER.claim(claimed=1.0, control=1.1, assumes=MODEL)
def independent_offsets_are_best(factor: float, slow: bool) -> ClaimResult:
    """No rule with reserved caps has a smaller competitive ratio than 3.42357, even if it knows the
    distribution of the lengths.

    Source: kill-and-restart
    Assumes: rules that kill at caps only; they may be random and know the distribution
    Proof: independent_offsets
    Evidence: weak duality: work is charged k/tau, and a period between two jumps costs 4 W times
        its length in ln(tau) by the inequality of means
    """
    rng, start, end = stream(5, "cases"), 3.0, 1e6
    paths = 20_000 if slow else 1000
    least = min(offsets.path_cost(*drawn_path(rng, start, end), start, end) for _ in range(paths))
    bound = offsets.path_bound(start, end)
    grid = [offsets.gap(k / 500) for k in range(4000)]
    value = float(offsets.best()[1])
    return decided(
        least >= factor * bound and min(grid) > -1e-12,
        PROVED,
        f"least of the steady path and {paths} random ones {least / bound:.4f} of the bound; the "
        f"ratio is at least {offsets.lower_bound(1e12):.3f} at u = 10^12; it tends to "
        f"{value:.5f}",
        witness=f"a path with {least / bound:.4f} of the bound",
    )
