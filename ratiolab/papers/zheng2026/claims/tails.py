"""TIE, motivation and Section 3: heavy tails, power laws, and the log-t family."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, factorial, log

from ratiolab.papers.claim import NOT_IMPLIED, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT

SHARE, VARIATION = 0.357, 1.09


def figures(shape: float) -> tuple[float, float]:
    """Return the share of the longest tenth and the variation of a gamma distribution."""
    from scipy.stats import gamma

    # int_q^inf x f(x) dx = shape P(X' > q), X' of the next shape, the same scale.
    cut = gamma.ppf(0.9, shape)
    return float(gamma.sf(cut, shape + 1)), shape**-0.5


def recheck() -> str:
    """Integrate x f(x) over the longest tenth of a gamma distribution by the midpoint rule."""
    from math import exp, gamma

    shape, steps = 0.84, 40_000
    width = 40 / steps
    density = [
        ((k + 0.5) * width) ** (shape - 1) * exp(-(k + 0.5) * width) / gamma(shape) * width
        for k in range(steps)
    ]
    tail, first = 0.0, 0.0
    for k in range(steps - 1, -1, -1):
        if tail >= 0.1:
            break
        tail += density[k]
        first += density[k] * (k + 0.5) * width
    assert abs(first / shape - SHARE) < 0.01, first / shape
    return f"gamma distribution of shape {shape}: the longest tenth has {first / shape:.1%} of all"


@PAPER.claim(claimed=0.84, control=4.0, recheck=recheck)
def heavy_tail_figures(shape: float) -> ClaimResult:
    """That the longest tenth of the requests has 35.7% of all tokens, with a coefficient of
    variation of 1.09, shows a heavy tail.

    Source: motivation, and log-t fitting
    Verdict: not implied
    Assumes: the mean coefficient of variation is 1.09 and the longest tenth has 35.7% of all tokens
    Assumes: the control is a gamma distribution of shape 4, which does not have these figures
    Evidence: a gamma distribution has P(X > x) ~ x^(k-1) e^-x, lighter than every power and every
        log-normal. Skewness 3.10 and P99/P50 up to 10.77 are above what it gives (2.2 and 8), but
        both are means or maxima over prompts of different lengths. The tail may well be heavy;
        these figures alone do not tell
    """
    share, variation = figures(shape)
    light = abs(share - SHARE) < 0.01 and abs(variation - VARIATION) < 0.01
    return decided(
        not light,
        WITNESSED,
        f"gamma distribution of shape {shape}: {share:.1%} and {variation:.2f}",
        witness=f"gamma distribution of shape {shape}",
        otherwise=NOT_IMPLIED,
    )


Constant = Callable[[int], int]
"""The factor Gamma(a) as a function of an integer exponent a."""


@PAPER.claim(claimed=lambda a: factorial(a - 1), control=lambda a: 1)
def power_law_tail(gamma: Constant, slow: bool) -> ClaimResult:
    """If the density of termination probabilities over trajectories behaves as c p^(a-1) near p =
    0, then the length L satisfies P(L > n) ~ c Gamma(a) / n^a.

    Source: Theorem 3.2
    Assumes: one trajectory ends at each token with the same probability p, independently
    Assumes: a > 0; proof for every a, exact tails for integers a
    Proof: power_law_tail
    Evidence: exact family f = a p^(a-1): the ratio is the product of n/(n + i), i = 1 .. a
    """
    top = 6 if slow else 4
    far = []
    worst = Fraction(0)
    for a in range(1, 7):
        for n in (10**k for k in range(1, top + 1)):
            exact = Fraction(factorial(a))  # a B(a, n + 1) = a! n! / (n + a)!
            for i in range(1, a + 1):
                exact /= n + i
            gap = 1 - exact / (Fraction(a * gamma(a)) / n**a)
            worst = max(worst, abs(gap))
            if not 0 <= gap <= Fraction(a * (a + 1), 2 * n):
                far.append((a, n))
    return decided(
        not far,
        PROVED,
        f"{len(far)} of {6 * top} exact tails outside [1 - a (a + 1) / (2 n), 1] of the formula",
        witness=f"a = {far[0][0]}, n = {far[0][1]}" if far else None,
    )


Tail = Callable[[float], float]

NU = 3.5
EXPONENTS = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0)


def log_t_tail(x: float) -> float:
    """Return P(X > x) of the log-t distribution with mu = 0 and sigma = 1."""
    return LogT(0, 1, NU).survival(x)


def recheck_squares() -> str:
    """Verify the bound on the density, whose ratio falls in z, and on the tail."""
    assert all(
        ((1 + z * z / NU) / (1 + 4 * z * z / NU)) ** ((NU + 1) / 2) > 2 ** (-NU - 1)
        for z in (0.0, 0.5, 1.0, 10.0, 1e3)
    )
    for z in (1.0, 5.0, 25.0, 125.0, 350.0):
        assert log_t_tail(exp(2 * z)) > 2**-NU * log_t_tail(exp(z))
    return "squaring x divides the tail by at most 2^(7/2), up to x = e^350; x^-a would be squared"


@PAPER.claim(claimed=log_t_tail, control=lambda x: x**-0.5, recheck=recheck_squares)
def log_t_from_theorem_3_2(tail: Tail) -> ClaimResult:
    """The power-law tail of Theorem 3.2 leads to the log-t family of lengths.

    Source: Theorem 3.2 and its use
    Verdict: not implied
    Assumes: log-t distribution without a cap, nu = 3.5
    Assumes: the text says that the theorem supports heavy-tailed families, which log-t is
    Evidence: for Student's density h, h(2 z) >= 2^(-nu-1) h(z), so P(X > x^2) >= 2^(-nu) P(X > x)
        for all x >= 1 when mu = 0: the tail falls like (ln x)^(-nu), slower than every power of x,
        and E[X] without a cap is infinite. The two distributions are heavy-tailed, and log-t may
        fit best where it was measured; the theorem does not select it
    """
    local = [log(tail(exp(z)) / tail(exp(2 * z))) / z for z in EXPONENTS]
    constant = max(local) - min(local) < 0.01 * max(local)
    return decided(
        constant,
        f"{len(EXPONENTS)} points" if constant else WITNESSED,
        ", ".join(f"{value:.4f}" for value in local)
        + f" at ln x = {', '.join(map(str, EXPONENTS))}",
        witness="P(X > x^2) >= 2^(-7/2) P(X > x) for all x >= 1",
        otherwise=NOT_IMPLIED,
    )
