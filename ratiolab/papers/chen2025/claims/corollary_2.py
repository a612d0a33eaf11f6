"""Chen et al., Corollary 2: A_min with several disjoint prediction intervals.

The paper gives no proof. In the fluid model the intervals part: those of a lower interval are done
before those of a higher one start, as in H-SF, so only pairs inside an interval cost more.
"""

from fractions import Fraction

from ratiolab.model import Instance, stream
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import latency
from ratiolab.papers.claim import FALSE, PROVED, TIGHTENED, UNDECIDED, ClaimResult, decided
from ratiolab.theory.laws.distributions import LengthDistribution
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.limits.printed_a_min import ratio_lower_bound
from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.spectrum import spectral_radius


def starts_of(classes: list[tuple[int, int]]) -> list[int]:
    """Return the first bound of every length: the largest lower end that does not exceed it
    (Algorithm 5).
    """
    return [
        max(low for low, _ in classes if low <= length)
        for length in range(classes[0][0], classes[-1][1] + 1)
    ]


@PAPER.claim(claimed="printed", control="no loss at all")
def corollary_2(claimed: str, slow: bool) -> ClaimResult:
    """With disjoint intervals, u_j <= l_{j+1}, the revised A_min is no worse than with one and
    O(log(1/alpha)), alpha = l_1/u_m.

    Source: Corollary 2, p. 19
    Verdict: tightened
    Assumes: the fluid model of Lemma 2 with first bounds l_j, s = 0
    Assumes: an output at two ends belongs to the upper interval, as in Algorithm 5
    Proof: corollary_2
    """
    cases, above_basic, above_own, saved = 0, 0, 0, Fraction(0)
    draw = stream(3, "cases")
    for _ in range(60 if slow else 15):
        ends = sorted(int(end) for end in 1 + draw.choice(11, 3, replace=False))
        classes = [(ends[0], ends[1] - 1), (ends[1], ends[2])]
        width = ends[2] - ends[0] + 1
        shares = [
            Fraction(int(draw.integers(1, 6)), int(draw.integers(1, 31))) for _ in range(width)
        ]
        total = sum(shares, Fraction(0))
        shares = [x / total for x in shares]
        starts = starts_of(classes)
        hindsight = Fraction(shortest_first_latency(LengthDistribution(ends[0], tuple(shares))))
        split = latency(shares, ends[0], 0, starts) / hindsight
        basic = latency(shares, ends[0], 0) / hindsight
        own = max(spectral_radius(u, low).rho for low, u in classes)
        cases += 1
        above_basic += split > (basic if claimed == "printed" else hindsight / hindsight)
        above_own += float(split) > own + 1e-9
        saved = max(saved, basic - split)
    separate = all(_cross_terms_are_those_of_h_sf(prompt) for prompt in (0, 2))
    holds = above_basic == 0
    improves = holds and above_own == 0 and separate and _pairs_do_not_depend_on_the_first_bound()
    return ClaimResult(
        TIGHTENED if improves else FALSE if not holds else UNDECIDED,
        PROVED if improves else f"{cases} cases",
        f"above it in {above_basic} of {cases} cases, saves up to {float(saved):.3f}; above the "
        f"largest radius of one of the intervals in {above_own}",
        witness=None if holds else f"{above_basic} of {cases} distributions",
    )


def _pairs_do_not_depend_on_the_first_bound() -> bool:
    """Return whether the coefficient of x_i x_j, summed over the periods from any first bound on,
    is 2 a_ij, and a_ij - b_ij is the product of the proof, which is not negative.
    """
    for j in range(1, 9):
        for i in range(1, j + 1):
            smaller = i * i
            entry = Fraction(smaller, i * j) * (Fraction((i + j) ** 2, 2) - smaller)
            excess = Fraction(smaller, i * j) * (Fraction(i * i + j * j, 2) - smaller)
            if entry - smaller != excess or excess < 0:
                return False
            for low in range(1, i + 1):
                first = Fraction(i * low * (2 * j - low), j) + Fraction(j * low * (2 * i - low), i)
                later = sum(
                    Fraction(i * (2 * (j - k) + 1), j) + Fraction(j * (2 * (i - k) + 1), i)
                    for k in range(low + 1, i + 1)
                )
                if first + later != 2 * entry:
                    return False
    return True


def _cross_terms_are_those_of_h_sf(prompt: int) -> bool:
    """Return whether lengths of two intervals cost what H-SF pays for the pair, in fractions."""
    for low, high, start in [(1, 4, 2), (2, 5, 5), (1, 3, 3), (3, 7, 4)]:
        shares = [Fraction(0)] * (high - low + 1)
        shares[0], shares[-1] = Fraction(2, 5), Fraction(3, 5)
        pair = latency(shares, low, prompt, [low, *[start] * (high - low)])
        single = [Fraction(0)] * (high - low) + [Fraction(3, 5)]
        alone = latency(single, low, prompt, [low, *[start] * (high - low)])
        first = low * (prompt + low)
        if pair - alone != first * (Fraction(4, 25) + 2 * Fraction(6, 25)):
            return False
    return True


def recheck_printed() -> str:
    """Verify the proved ratio; simulate two intervals, one long request in 13 of the lower one."""
    outputs = ([1] * 12 + [8]) * 100 + [9] * 5
    n = len(outputs)
    lower = [1] * (n - 5) + [9] * 5
    upper = [8] * (n - 5) + [16] * 5
    instance = Instance("two intervals", 80, [0] * n, [0] * n, outputs, lower, upper)
    cost = [simulate(instance, make(key)).schedule.total_latency for key in ("a-min", "h-sf")]
    radius = spectral_radius(8).rho
    assert cost[0] > 1.1 * radius * cost[1], (cost, radius)
    assert ratio_lower_bound(400, 0.0015) > float(amin.trace(1, 400)) + 5
    proved = _printed.proved_above(float(amin.trace(1, _printed.PROVEN_AT)))
    return (
        f"{proved}; simulated ratio {cost[0] / cost[1]:.3f} with [1, 8] and [9, 16], rho(8) = "
        f"{radius:.3f}"
    )


@PAPER.claim(claimed="printed", control="lemma 2", recheck=recheck_printed, proof=_printed.PROOF)
def corollary_2_printed(claimed: str) -> ClaimResult:
    """With disjoint intervals, u_j <= l_{j+1}, Algorithm 5 as printed is no worse than with one
    interval and O(log(1/alpha)), alpha = l_1/u_m.

    Source: Corollary 2, p. 19, for Algorithm 5
    Verdict: false
    Assumes: Algorithm 5 with the bound a + 1 after an eviction at age a, random ties
    """
    upper = _printed.PROVEN_AT
    bound = (
        ratio_lower_bound(upper, 0.6 / upper)
        if claimed == "printed"
        else spectral_radius(upper).rho
    )
    trace = float(amin.trace(1, upper))
    result = decided(
        bound <= trace,
        "1 case",
        f"{bound:.3f}" + (" or more" if claimed == "printed" else ""),
        evidence="n, M -> infinity by the recursion of theory.limits.printed_a_min; the upper "
        "interval is empty. Proved is 0.2849 sqrt(u), more than any multiple of log(1/alpha)",
        witness=f"lengths 1 and {upper}: {bound:.3f}",
    )
    return _printed.against(result, trace)
