"""Chen et al., Sections 3 and 5.1: how fast the ratio of A_max grows as alpha falls."""

from collections.abc import Callable
from fractions import Fraction

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._a_max import equal_requests_ratio, server_supremum
from ratiolab.papers.claim import FALSE, HOLDS, PROVED, UNDECIDED, ClaimResult, decided


@PAPER.claim(
    "Section 5.1, p. 20",
    claimed=lambda x: x / 2,
    control=lambda x: 2 * x,
    control_verdict=UNDECIDED,
    assumes=(
        "A_max as printed with Eq. (3), M = u",
        "the control asks for more than these requests show",
    ),
    proof="a_max_printed",
)
def a_max_unbounded_within_d2(needed: Callable[[int], Fraction]) -> ClaimResult:
    """The ratio of A_max is unbounded in the worst case, within the two-point distributions."""
    uppers = (4, 10, 40)
    ratios = {u: equal_requests_ratio(u, 4 * u) for u in uppers}
    enough = all(ratios[u] >= needed(u) for u in uppers)
    return ClaimResult(
        HOLDS if enough else UNDECIDED,
        PROVED if enough else f"{len(uppers)} cases",
        ", ".join(f"{float(r):.3f} at 1/alpha = {u}" for u, r in ratios.items()),
        evidence="all requests of the shorter length: u q of them cost (u q + 1)/(q + 1) times as "
        "much as under H-SF, which tends to u = 1/alpha as q grows",
    )


def recheck_rate() -> str:
    """Bound the supremum at 1/alpha = 10^4 by x (1 + sqrt(1 + ln(x)/2))/2, in fractions."""
    x = 10_000
    # ln(10^4) < 9.22, so the root is below 2.37; x^1.5 is 10^6
    assert Fraction("2.37") ** 2 > 1 + Fraction("9.22") / 2
    assert x * (1 + Fraction("2.37")) / 2 < 17_000 < 10**6 / 50
    return "1/alpha = 10^4: below 17 000, while alpha^-1.5 is 10^6"


@PAPER.claim(
    "Section 4, p. 12",
    expected=FALSE,
    claimed=Fraction(3, 2),
    control=Fraction(1),
    recheck=recheck_rate,
    assumes=(
        "fluid limit, s = 0; A_max as M/u parallel servers, as in the proof of Theorem 2",
        "at least the stated rate, up to a constant; the control is the rate 1/alpha",
    ),
    proof="a_max_servers",
)
def a_max_growth_rate(power: Fraction) -> ClaimResult:
    """As alpha falls the ratio of A_max grows at a rate between alpha^-1.5 and alpha^-2."""
    uppers = [4**k for k in range(2, 6)]
    scaled = [float(server_supremum(1, u)[0]) / u ** float(power) for u in uppers]
    falls = scaled[-1] < scaled[0] / 2
    return decided(
        not falls,
        PROVED,
        ", ".join(f"{v:.4f} at 1/alpha = {u}" for u, v in zip(uppers, scaled, strict=True)),
        witness=f"1/alpha = {uppers[-1]}: {scaled[-1]:.4f}",
    )
