"""TIE's risk term: what CVaR can tell apart once the cap is within reach."""

from itertools import pairwise
from math import exp

from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT

ALPHA, CAP = 0.9, 1024.0
SIGMAS = (0.2, 0.4, 0.8, 1.6)


def recheck() -> str:
    """Verify that, with the median beyond the cap, so is a tenth of the mass, whatever sigma."""
    assert exp(7) > CAP
    assert {LogT(7, sigma).cvar(ALPHA, CAP) for sigma in SIGMAS} == {CAP}
    assert LogT(7, 0.2).capped_mean(CAP) > LogT(7, 1.6).capped_mean(CAP)
    return "four laws of different spread, all with CVaR 1024"


@PAPER.claim(
    "TIE score",
    expected=FALSE,
    claimed=7.0,
    control=4.0,
    recheck=recheck,
    assumes=(
        "log-t laws (mu, sigma, 3.5) of equal median; risk grows with sigma",
        "alpha = 0.9, lengths capped at max_tokens = 1024",
    ),
)
def cvar_at_cap(mu: float) -> ClaimResult:
    """The CVaR term gives a higher score to the request with the higher tail risk."""
    laws = [LogT(mu, sigma) for sigma in SIGMAS]
    values = [law.cvar(ALPHA, CAP) for law in laws]
    rising = all(one < two for one, two in pairwise(values))
    beyond = [law.survival(CAP) for law in laws]
    return decided(
        rising,
        f"{len(SIGMAS)} laws" if rising else WITNESSED,
        f"CVaR {', '.join(f'{value:.1f}' for value in values)} for sigma {SIGMAS}, with "
        f"P(X > cap) {', '.join(f'{share:.3f}' for share in beyond)}",
        evidence="CVaR_alpha of min(X, cap) is the cap whenever P(X > cap) >= 1 - alpha, so "
        "requests that reach the cap with probability 1/10 or more get one and the same penalty; "
        "only their capped expectations order them",
        witness="median e^7 > 1024, sigma 0.2 and 1.6: CVaR 1024 for both",
    )
