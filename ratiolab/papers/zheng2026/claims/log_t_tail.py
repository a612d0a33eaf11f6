"""TIE, Sections 3.1 and 3.2: does the power law of Theorem 3.2 lead to the log-t family?"""

from collections.abc import Callable
from math import exp, log

from ratiolab.papers.claim import NOT_IMPLIED, WITNESSED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT

Tail = Callable[[float], float]

NU = 3.5
EXPONENTS = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0)


def log_t_tail(x: float) -> float:
    """Return P(X > x) of the log-t law with mu = 0 and sigma = 1."""
    return LogT(0, 1, NU).survival(x)


def recheck() -> str:
    """Verify the bound on the density, whose ratio falls in z, and on the tail."""
    assert all(
        ((1 + z * z / NU) / (1 + 4 * z * z / NU)) ** ((NU + 1) / 2) > 2 ** (-NU - 1)
        for z in (0.0, 0.5, 1.0, 10.0, 1e3)
    )
    for z in (1.0, 5.0, 25.0, 125.0, 350.0):
        assert log_t_tail(exp(2 * z)) > 2**-NU * log_t_tail(exp(z))
    return "squaring x divides the tail by at most 2^(7/2), up to x = e^350; x^-a would be squared"


@PAPER.claim(
    "Theorem 3.2 and its use",
    expected=NOT_IMPLIED,
    claimed=log_t_tail,
    control=lambda x: x**-0.5,
    recheck=recheck,
    assumes=(
        "log-t law without a cap, nu = 3.5",
        "the text says that the theorem supports heavy-tailed families, which log-t is",
    ),
)
def log_t_from_theorem_3_2(tail: Tail) -> ClaimResult:
    """The power-law tail of Theorem 3.2 leads to the log-t family of lengths."""
    local = [log(tail(exp(z)) / tail(exp(2 * z))) / z for z in EXPONENTS]
    constant = max(local) - min(local) < 0.01 * max(local)
    return decided(
        constant,
        f"{len(EXPONENTS)} points" if constant else WITNESSED,
        ", ".join(f"{value:.4f}" for value in local)
        + f" at ln x = {', '.join(map(str, EXPONENTS))}",
        evidence="for Student's density h, h(2 z) >= 2^(-nu-1) h(z), so P(X > x^2) >= 2^(-nu) P(X "
        "> x) for all x >= 1 when mu = 0: the tail falls like (ln x)^(-nu), slower than every "
        "power of x, and E[X] without a cap is infinite. Both are heavy-tailed, and log-t may fit "
        "best where it was measured; the theorem does not select it",
        witness="P(X > x^2) >= 2^(-7/2) P(X > x) for all x >= 1",
        otherwise=NOT_IMPLIED,
    )
