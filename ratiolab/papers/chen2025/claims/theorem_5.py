"""Chen et al., Theorem 5 and Figure 1: the ratio of A_min against u, which is O(log(1/alpha)).

The proof bounds the spectral radius of Lemma 2's quotient by the trace, at s = 0 and l = 1; the
figure fits a logarithm to it.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import log

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims import _printed
from ratiolab.papers.chen2025.claims._lemma2 import ALGORITHM_2
from ratiolab.papers.claim import (
    FALSE,
    HOLDS,
    NOT_REPRODUCED,
    PROVED,
    TIGHTENED,
    UNDECIDED,
    WITNESSED,
    ClaimResult,
    decided,
)
from ratiolab.theory.limits.printed_a_min import ratio_lower_bound
from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.asymptotics import closed_bound, log_fit
from ratiolab.theory.rayleigh.copositive import nonnegative_maximum
from ratiolab.theory.rayleigh.spectrum import spectral_radius

Bound = Callable[[int], Fraction]


def harmonic(upper: int) -> Fraction:
    """Return the trace H_u, which the proof arrives at."""
    return sum((Fraction(1, i) for i in range(1, upper + 1)), Fraction(0))


@PAPER.claim(claimed=harmonic, control=lambda upper: harmonic(upper) / 2)
def theorem_5(claimed: Bound, slow: bool) -> ClaimResult:
    """As M grows the ratio of A_min is O(log(1/alpha)); the proof's bound is H_u.

    Source: Theorem 5, p. 14, proof pp. 14-18
    Verdict: tightened
    Assumes: Lemma 2 as the ratio of A_min
    Assumes: s = 0, l = 1, alpha = 1/u
    Proof: theorem_5
    Evidence: certificates from both sides in fractions, for the maximum over shares x >= 0, which
        is the spectral radius; it grows like ln(u)/4, a quarter of the trace
    """
    uppers = [1, 2, 3, 5, 8, 16, 64, 200, *([1000, 4000] if slow else [])]
    ends = {u: nonnegative_maximum(u) for u in uppers}
    broken = [u for u in uppers if ends[u].below > claimed(u)]
    kept = all(ends[u].above <= claimed(u) for u in uppers)
    better = all(ends[u].above <= closed_bound(1, u) for u in uppers)
    trace = all(amin.trace(1, u) == harmonic(u) for u in uppers)
    last = uppers[-1]
    if broken or not (kept and better and trace):
        verdict = FALSE if broken else UNDECIDED
    else:
        verdict = TIGHTENED
    return ClaimResult(
        verdict,
        PROVED if verdict is TIGHTENED else f"{len(uppers)} cases",
        f"rho({last}) = {float(ends[last].below):.6f}; rho <= 3/2 + (1/2) sum 1/(2k-1), "
        f"{float(closed_bound(1, last)):.4f} there; H_u = {float(harmonic(last)):.4f}",
        witness=f"u = {broken[0]}" if broken else None,
    )


def two_lengths(upper: int, prompt: int) -> list[int]:
    """Return integers near x_1 / x_u = sqrt(g(u) / g(1)), the worst two-point distribution."""
    many = round((upper * (prompt + upper) / (prompt + 1)) ** 0.5)
    return [many] + [0] * (upper - 2) + [1]


def recheck_prompt() -> str:
    """Verify 8.4 > H_256 at l = 1, u = 256, s = 25600, sixteen short requests for a long one."""
    ratio = amin.quotient(two_lengths(256, 25_600), 1, 25_600)
    assert ratio > 8 > harmonic(256), float(ratio)
    return f"ratio {float(ratio):.4f}, H_256 = {float(harmonic(256)):.4f}"


@PAPER.claim(claimed="without prompt", control="with prompt", recheck=recheck_prompt)
def theorem_5_any_prompt(claimed: str) -> ClaimResult:
    """The bound for s = 0 serves every s.

    Source: Theorem 5, p. 14: 'without loss of generality s = 0, l = 1', p. 16
    Verdict: false
    Assumes: Lemma 2 as the ratio of A_min
    Assumes: l = 1
    Evidence: Lemma 2 with its s at two lengths, exact; O(log(1/alpha)) holds for a bounded s/l
        only: rho <= 3/2 + s/(2l) + (1/2) sum 1/(s+2k-1)
    """
    broken = []
    for upper in (16, 64, 256):
        for prompt in (0, upper, 100 * upper):
            bound = closed_bound(1, upper, prompt if claimed == "with prompt" else 0)
            bound = bound if claimed == "with prompt" else harmonic(upper)
            ratio = amin.quotient(two_lengths(upper, prompt), 1, prompt)
            if ratio > bound:
                broken.append((upper, prompt, float(ratio), float(bound)))
    worst = max(broken, key=lambda case: case[2] / case[3], default=None)
    alpha = Fraction(1, 256)
    return decided(
        not broken,
        WITNESSED if broken else "9 cases",
        f"{len(broken)} of 9 cases exceed it; s -> infinity gives (1 + alpha^(-1/2)) / 2, "
        f"{(1 + float(alpha) ** -0.5) / 2} at alpha = 1/256",
        witness=f"(u, s, ratio, bound) = {worst}",
    )


def recheck_printed() -> str:
    """Verify the proved ratio at u = 1024, and the recursion's 13 at u = 400, where H_u is 6.57."""
    bound = ratio_lower_bound(400, 0.0015)
    assert bound > 13 > 2 * harmonic(400) - 1, bound
    return (
        f"{_printed.proved_above(float(harmonic(_printed.PROVEN_AT)))}; by the recursion lengths "
        f"1 and 400: {bound:.2f} or more, H_400 = {float(harmonic(400)):.2f}"
    )


@PAPER.claim(
    claimed="printed",
    control="lemma 2",
    recheck=recheck_printed,
    assumes=ALGORITHM_2,
    proof=_printed.PROOF,
)
def theorem_5_printed(claimed: str, slow: bool) -> ClaimResult:
    """The ratio of Algorithm 2 is O(log(1/alpha)), at most H_u at s = 0, l = 1.

    Source: Theorem 5, p. 14, for Algorithm 2
    Verdict: false
    """
    uppers = [16, 64, 256, 1024, *([4096] if slow else [])]
    if claimed == "printed":
        values = [ratio_lower_bound(u, 0.6 / u) for u in uppers]
    else:
        values = [spectral_radius(u).rho for u in uppers]
    steps = [b / a for a, b in pairwise(values)]
    breaks = values[-1] > float(harmonic(uppers[-1])) and min(steps) > 1.6
    result = decided(
        not breaks,
        f"{len(uppers)} cases",
        ", ".join(f"u = {u}: {v:.2f}" for u, v in zip(uppers, values, strict=True)),
        evidence="as n, M -> infinity by the recursion of theory.limits.printed_a_min: each factor "
        f"4 in u multiplies the bound by {min(steps):.2f} to {max(steps):.2f}; proved is "
        "0.2849 sqrt(u), more than any multiple of log(1/alpha)"
        if claimed == "printed"
        else "the model of Lemma 2",
        witness=f"u = {uppers[-1]}: {values[-1]:.2f} > H_u = {float(harmonic(uppers[-1])):.2f}"
        if breaks
        else None,
    )
    return _printed.against(result, float(harmonic(_printed.PROVEN_AT)))


Curve = tuple[float, float, float]
"""Scale, shift and offset of scale ln(u + shift) + offset."""

PRINTED: Curve = (0.2555, 0.2793, 1.1587)
CORRECTED: Curve = (0.2555, 0.2793 - 1, 1.1587)

STOPS = (200, 500, 1000, 2000)
"""Ends of the ranges of u over which the curve is compared."""


def determination(curve: Curve, uppers: Sequence[int], values: Sequence[float]) -> float:
    """Return R^2 of a curve."""
    scale, shift, offset = curve
    mean = sum(values) / len(values)
    error = sum(
        (v - scale * log(u + shift) - offset) ** 2 for u, v in zip(uppers, values, strict=True)
    )
    return 1 - error / sum((v - mean) ** 2 for v in values)


def poor_starts(curve: Curve, values: Mapping[int, float], last: int) -> dict[int, float]:
    """Return R^2 over first..last by first, where it is not above 0.9999, for first up to last/4.

    The values are by u.
    """
    found = {}
    for first in range(2, last // 4 + 1):
        uppers = range(first, last + 1)
        found[first] = determination(curve, uppers, [values[u] for u in uppers])
    return {first: r_squared for first, r_squared in found.items() if r_squared <= 0.9999}


def good_start(poor: Mapping[int, float], last: int) -> int | None:
    """Return the first u from which on R^2 is above 0.9999, None if no range that ends there is."""
    first = max(poor, default=1) + 1
    return first if first <= last // 4 else None


@PAPER.claim(claimed=PRINTED, control=CORRECTED, control_verdict=HOLDS)
def figure_1(claimed: Curve, slow: bool) -> ClaimResult:
    """The ratio of A_min against u is fitted by 0.2555 ln(u + 0.2793) + 1.1587 with R^2 above
    0.9999.

    Source: Figure 1, p. 18
    Verdict: undecided
    Assumes: s = 0, l = 1
    Assumes: the ratio is the maximum of Lemma 2's quotient
    Assumes: ranges of u that end at 2000; the paper gives no range
    """
    last = 10_000 if slow else 2000
    uppers = list(range(2, last + 1))
    ratios = [spectral_radius(u, tolerance=1e-9).rho for u in uppers]
    values = dict(zip(uppers, ratios, strict=True))
    starts = {stop: good_start(poor_starts(claimed, values, stop), stop) for stop in STOPS}
    poor, start = poor_starts(claimed, values, 2000), starts[2000]
    short = UNDECIDED if start else NOT_REPRODUCED
    whole = determination(claimed, uppers[1:1999], ratios[1:1999])
    best = log_fit(uppers[1:], ratios[1:])
    words = {stop: f"u = {first} on" if first else "no u on" for stop, first in starts.items()}
    except_for = f", not from {min(poor)} to {max(poor)}" if poor else ""
    return ClaimResult(
        short if poor else HOLDS,
        "u up to 2000",
        f"to u = 2000 R^2 is above 0.9999 from {words[2000]}{except_for}; {whole:.6f} from u = 3",
        evidence="the paper gives no range of u. R^2 is above 0.9999 "
        + ", ".join(f"to u = {stop} from {words[stop]}" for stop in STOPS[:-1])
        + f". Best fit over 3..{last}: {best.scale:.6f} ln(u {best.shift:+.6f}) + "
        f"{best.offset:.6f}, R^2 = {best.r_squared:.6f}: the printed curve with u - 1 = 1, 2, ... "
        "for its variable",
    )
