"""The best constant of policies that do not know the lengths, from both sides."""

import numpy as np

from ratiolab.game.ranges import enclose
from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, PROVED, UNDECIDED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.theory.limits.volume_restart import Atoms, best, finite_range, ratio

FLUID = (
    "all requests at round 0, evicted ones lose their tokens, any prompts",
    "n and M to infinity at a fixed range of lengths, with many rounds beside one request",
    "ratio to the true optimum, whose starts may be staggered",
)

CONSTANT = 2.7283725
"""V, rounded up."""


def power_law(levels: float, atoms: int = 6000) -> Atoms:
    """Return Y(v) = v**(-1/2) over ``levels`` of ln v, as atoms."""
    volumes = np.exp(np.linspace(0, levels, atoms))
    above = volumes**-0.5
    weights = above - np.append(above[1:], 0.0)
    return list(zip(volumes.tolist(), weights.tolist(), strict=True))


def drawn_laws(number: int) -> list[Atoms]:
    """Draw distributions of two to eight volumes, far apart or near."""
    rng = stream(0, "cases")
    laws: list[Atoms] = []
    for _ in range(number):
        atoms = int(rng.integers(2, 9))
        volumes = np.sort(np.exp(rng.uniform(0, rng.uniform(1, 25), atoms)))
        weights = rng.dirichlet(np.full(atoms, rng.uniform(0.2, 2))) + 1e-9
        laws.append(list(zip(volumes.tolist(), weights.tolist(), strict=True)))
    return laws


@PAPER.claim(claimed=CONSTANT, control=2.7, assumes=FLUID)
def volume_restart_upper(claimed: float, slow: bool) -> ClaimResult:
    """Caps geometric in volume with base 13.807, an independent offset for each request, served in
    the order of cap with staggered starts, cost at most 2.7283725 times the optimum for every
    distribution of lengths.

    Source: Theorems 1 and 2
    Proof: volume_restart
    Evidence: proof by a translation-invariant form with a nonnegative kernel; the largest value is
        that of P(volume > v) = v**(-1/2) over 140 levels of ln v, by exact pieces of the fluid
        cost, whose rounding is below the last digit shown
    """
    laws: list[Atoms] = [power_law(140.0), *drawn_laws(3000 if slow else 300)]
    worst = max(ratio(law) for law in laws)
    return decided(
        worst <= claimed and claimed >= float(best()[1]),
        PROVED,
        f"supremum {float(best()[1]):.9f}; largest value of {len(laws)} distributions {worst:.6f}",
        witness=f"P(volume > v) = v**(-1/2), cut at e**140: {worst:.6f}",
    )


def dual_value(levels: float) -> float:
    """Return the proved lower bound over the optimum, for a range of volumes of e**levels."""
    return float(best()[1]) * (levels - 4.22) / (1 + levels)


@PAPER.claim(claimed=2.728372, control=2.8, assumes=FLUID)
def volume_restart_lower(claimed: float) -> ClaimResult:
    """No policy that does not know the lengths, adaptive, randomised or knowing their distribution,
    has a constant below 2.728372 for all ranges of lengths.

    Source: Theorem 3
    Proof: volume_restart
    """
    value = float(best()[1])
    spread = 10.0**9  # of ln R
    bases = [ratio(power_law(140.0), base) for base in (10.0, 13.8, 20.0)]
    return decided(
        claimed <= dual_value(spread),
        PROVED,
        f"V (L - 4.22)/(1 + L) for volumes in a range of e**L, tending to {value:.9f}",
        evidence="proof by weak duality: with the price 2V/tau of work, every path of bounds pays "
        "V a level while the optimum pays 1; caps with bases 10, 13.8 and 20 cost "
        + ", ".join(f"{found:.4f}" for found in bases)
        + " on that distribution over 140 levels",
        witness=f"caps of base 13.807 cost at most {value:.6f}",
    )


@PAPER.claim(claimed=2.618, control=4.0, assumes=FLUID)
def volume_restart_small_range(claimed: float) -> ClaimResult:
    """When the largest volume is at most 2.618 times the least, never to kill is optimal: the
    constant is (1 + sqrt(R))/2.

    Source: Theorem 4
    Proof: volume_restart
    Evidence: proof by completions a unit of work on the lengths 1 and R, the latter with
        probability 1/(1 + sqrt(R))
    """
    worst = None
    for r in np.linspace(1.05, claimed, 40).tolist():
        y = 1 / (1 + r**0.5)
        whole, first = 1 / (1 + (r - 1) * y), 1 - y
        if first > whole + 1e-12 and worst is None:
            worst = f"R = {r:.3f}: runs to 1 complete {first:.4f} a unit of work, whole {whole:.4f}"
        never = (1 + (r - 1) * y) / (1 + (r - 1) * y**2)
        assert abs(never - (1 + r**0.5) / 2) < 1e-12
    half = float(finite_range(1, 2))
    return decided(
        worst is None,
        PROVED,
        f"(1 + sqrt(R))/2 up to ((1 + sqrt(5))/2)**2; at R = 3 at most {half:.6f}",
        witness=worst,
    )


@PAPER.claim(claimed=1.495, control=1.484, assumes=FLUID)
def volume_restart_known_law(claimed: float) -> ClaimResult:
    """When the largest volume is four times the least, the best constant is at most 1.495, whether
    or not a policy knows the distribution of the lengths; never to kill has 1.5.

    Source: Propositions 6 to 8
    Proof: volume_restart
    Evidence: proof that knowing the distribution does not help at any range, by Sion's theorem:
        costs are concave in the squares of the distribution
    """
    found = enclose(4.0, gap=0.007)
    lower, upper = found.enclosure.lower, found.enclosure.upper
    return decided(
        claimed >= upper,
        "in floats, by a method that is proved",
        f"{lower:.4f} for policies that know the distribution, {upper:.4f} for a mixture of "
        f"{len(found.policies)} that know nothing but the range",
        witness=f"a distribution of {len(found.volumes) - 1} volumes and a price of work on which "
        f"every policy pays at least {lower:.4f}",
        otherwise=FALSE if claimed < lower else UNDECIDED,
    )
