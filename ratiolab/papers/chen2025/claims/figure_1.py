"""Chen et al., Figure 1: the ratio of A_min against u, with a logarithmic fit."""

from collections.abc import Sequence
from fractions import Fraction
from math import log

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, ClaimResult, decided
from ratiolab.theory.rayleigh import amin
from ratiolab.theory.rayleigh.asymptotics import log_fit
from ratiolab.theory.rayleigh.spectrum import spectral_radius

Curve = tuple[float, float, float]
"""Scale, shift and offset of scale ln(u + shift) + offset."""

PRINTED: Curve = (0.2555, 0.2793, 1.1587)
CORRECTED: Curve = (0.2555, 0.2793 - 1, 1.1587)


def determination(curve: Curve, uppers: Sequence[int], values: Sequence[float]) -> float:
    """Return R^2 of a curve."""
    scale, shift, offset = curve
    mean = sum(values) / len(values)
    error = sum(
        (v - scale * log(u + shift) - offset) ** 2 for u, v in zip(uppers, values, strict=True)
    )
    return 1 - error / sum((v - mean) ** 2 for v in values)


def recheck() -> str:
    """Verify rho(2) = 5/4: 5/4 B - A has a kernel vector and no negative direction."""
    A, B = amin.matrices(1, 2, exact=True)
    rest = Fraction(5, 4) * B - A
    assert rest[0, 0] > 0, rest
    assert rest[0, 0] * rest[1, 1] == rest[0, 1] ** 2, rest
    scale, shift, offset = PRINTED
    gap = scale * log(2 + shift) + offset - 1.25
    assert gap > 0.118, gap
    return f"rho(2) = 5/4; the printed curve is {gap:.4f} higher"


@PAPER.claim(
    "Figure 1, p. 18",
    expected=FALSE,
    claimed=PRINTED,
    control=CORRECTED,
    recheck=recheck,
    assumes=("s = 0, l = 1", "the ratio is the maximum of Lemma 2's quotient", "u from 3 on"),
)
def figure_1(claimed: Curve, slow: bool) -> ClaimResult:
    """The ratio of A_min against u is fitted by 0.2555 ln(u + 0.2793) + 1.1587 with R^2 above
    0.9999.
    """
    last = 10_000 if slow else 2000
    uppers = list(range(2, last + 1))
    values = [spectral_radius(u, tolerance=1e-9).rho for u in uppers]
    ranges = [(first, stop) for first in (2, 3, 5) for stop in (50, 200, 800, 2000)]
    good = [
        f"{first}..{stop}"
        for first, stop in ranges
        if determination(claimed, uppers[first - 2 : stop - 1], values[first - 2 : stop - 1])
        > 0.9999
    ]
    whole = determination(claimed, uppers[1:1999], values[1:1999])
    best = log_fit(uppers[1:], values[1:])
    at_two = claimed[0] * log(2 + claimed[1]) + claimed[2]
    return decided(
        whole > 0.9999,
        "u = 3..2000",
        f"R^2 = {whole:.6f} over u = 3..2000; at u = 2 the curve has {at_two:.4f}, the ratio is "
        "5/4",
        evidence=f"above 0.9999 over {', '.join(good) or 'none'} of {len(ranges)} ranges. Best "
        f"fit over 3..{last}: {best.scale:.6f} ln(u {best.shift:+.6f}) + {best.offset:.6f}, R^2 = "
        f"{best.r_squared:.6f}: the printed curve with u - 1 = 1, 2, ... for its variable",
        witness=f"u = 2: ratio 5/4, curve {at_two:.4f}",
    )
