"""Curves that several charts need: named bounds over the width, and simulated ratios."""

from collections.abc import Callable, Sequence
from functools import cache

from ratiolab.online import Policy
from ratiolab.papers.limits import fluid_ratio
from ratiolab.report.plots.curves import SIMULATED, Curve, Look
from ratiolab.theory.bounds import evaluate
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import LengthDistribution

RATIO = "ratio to H-SF (total latency)"
LONGEST = "longest output u (tokens); shortest output 1"
INVERSE = "1/α = u/l"
ALPHA = "α = l/u"

MEMORY, REQUESTS = 8, 128
"""Sizes of a simulation, both in multiples of the longest output."""

SEEDS = range(5)

measured: Callable[..., Estimate] = cache(fluid_ratio)
"""Several charts show the same simulation."""


def half_octaves(most: int) -> list[int]:
    """Return 2, 3, 4, 6, 8, 11, ...: half-powers of two up to about `most`."""
    return [round(2 ** (k / 2)) for k in range(2, 2 * most.bit_length() - 1)]


def bound_values(name: str, uppers: Sequence[int]) -> list[float]:
    """Return a bound of the catalogue for lengths 1..u without prompt."""
    return [evaluate(f"chen2025/{name}", 1, u).value for u in uppers]


def simulated(
    label: str,
    policy: Policy,
    x: Sequence[float],
    cases: Sequence[LengthDistribution],
    look: Look = SIMULATED,
    scale: Sequence[float] | None = None,
) -> Curve:
    """Simulate ratios of a policy to H-SF, with 99% Student intervals over seeds.

    All requests are present at round 0, without prompts; M and n are `MEMORY` and `REQUESTS` times
    the longest output. These sizes are finite: a limit for large M is only approached. Each ratio
    is multiplied with its `scale`.
    """
    found = [
        measured(policy, case, 0, MEMORY * case.upper, REQUESTS * case.upper, SEEDS)
        for case in cases
    ]
    factors = [1.0] * len(cases) if scale is None else scale
    parts = zip(found, factors, strict=True)
    table = [(f * e.mean, f * e.low, f * e.high) for e, f in parts]
    mean, low, high = ([row[k] for row in table] for k in range(3))
    return Curve(label, x, mean, look, low, high)
