"""TIE's score: its risk term near the cap, without samples, and without CVaR, which is SEPT."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import exp

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import HOLDS, NOT_IMPLIED, TIGHTENED, WITNESSED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT, adaptive_beta

ALPHA, CAP = 0.9, 1024.0
SIGMAS = (0.2, 0.4, 0.8, 1.6)


def recheck() -> str:
    """Verify that, with the median beyond the cap, so is a tenth of the mass, whatever sigma."""
    assert exp(7) > CAP
    assert {LogT(7, sigma).cvar(ALPHA, CAP) for sigma in SIGMAS} == {CAP}
    assert LogT(7, 0.2).capped_mean(CAP) > LogT(7, 1.6).capped_mean(CAP)
    return "four distributions of different spread, all with CVaR 1024"


@PAPER.claim(claimed=7.0, control=4.0, recheck=recheck)
def cvar_at_cap(mu: float) -> ClaimResult:
    """The CVaR term gives a higher score to the request with the higher tail risk, also among
    requests that reach the cap with a probability of 10% or more.

    Source: TIE score
    Verdict: not implied
    Assumes: log-t distributions (mu, sigma, 3.5) of equal median; risk grows with sigma
    Assumes: alpha = 0.9, lengths capped at max_tokens = 1024; the median is beyond the cap, that of
        the control far below it
    Evidence: the summary says that CVaR penalises requests that are short on average but have a 10%
        chance of being extremely long. These get the largest penalty: CVaR_alpha of min(X, cap) is
        the cap whenever P(X > cap) >= 1 - alpha. But so does every request that reaches the cap
        with probability 1/10 or more, whatever its risk; only their capped expectations order them
    """
    laws = [LogT(mu, sigma) for sigma in SIGMAS]
    values = [law.cvar(ALPHA, CAP) for law in laws]
    rising = all(one < two for one, two in pairwise(values))
    beyond = [law.survival(CAP) for law in laws]
    return decided(
        rising,
        f"{len(SIGMAS)} distributions" if rising else WITNESSED,
        f"CVaR {', '.join(f'{value:.1f}' for value in values)} for sigma {SIGMAS}, with "
        f"P(X > cap) {', '.join(f'{share:.3f}' for share in beyond)}",
        witness="median e^7 > 1024, sigma 0.2 and 1.6: CVaR 1024 for both",
        otherwise=NOT_IMPLIED,
    )


Score = Callable[[LogT], float]

BETA, LONGEST = 0.3, 2048.0
LAWS = tuple(LogT(mu, sigma) for mu in (4.0, 5.0, 6.0, 7.0) for sigma in (0.2, 0.5, 0.8, 1.2))


def by_quadrature(law: LogT) -> float:
    """Return the score by Gauss-Legendre in an angle, without sampling."""
    return law.score(BETA, LONGEST, ALPHA)


def by_trapezium(law: LogT) -> float:
    """Return the score from 20 quantiles of equal weight."""
    values = np.array([min(law.quantile((k + 0.5) / 20), LONGEST) for k in range(20)])
    return float(values.mean() + BETA * values[-2:].mean())


def recheck_score() -> str:
    """Compare one score with both routes and with 10 000 samples."""
    law = LogT(5.0, 0.8)
    exact = by_quadrature(law)
    assert abs(exact - _reference(law)) < 1e-6 * exact
    draws = stream(0, "cases").standard_t(law.nu, 10_000)
    sample = np.sort(np.minimum(np.exp(law.mu + law.sigma * draws), LONGEST))
    estimate = sample.mean() + BETA * sample[-1000:].mean()
    assert 1e-4 * exact < abs(estimate - exact) < 5 * law.sampling_error(BETA, LONGEST, ALPHA)
    return f"score {exact:.6f} by two quadratures, {estimate:.2f} from 10 000 samples"


@PAPER.claim(
    claimed=by_quadrature, control=by_trapezium, control_verdict=HOLDS, recheck=recheck_score
)
def monte_carlo(score: Score) -> ClaimResult:
    """Expectation and CVaR of a request are estimated from 10,000 samples.

    Source: TIE score
    Verdict: tightened
    Assumes: log-t distributions (mu, sigma, 3.5) capped at 2048, alpha = 0.9, beta = 0.3
    Assumes: the control has 20 quantiles in place of the samples, which is no better than sampling
    Evidence: the score as an integral of quantiles by Gauss-Legendre; reference: E and CVaR as
        integrals of P(X > x) by adaptive quadrature, coded apart. Better means an error below a
        thousandth of the sampling error
    """
    errors = [abs(score(law) / _reference(law) - 1) for law in LAWS]
    noise = [law.sampling_error(BETA, LONGEST, ALPHA) / _reference(law) for law in LAWS]
    better = all(error <= 0.001 * spread for error, spread in zip(errors, noise, strict=True))
    return ClaimResult(
        TIGHTENED if better else HOLDS,
        f"{len(LAWS)} distributions",
        f"without a sample the score is known to {max(errors):.1e}",
    )


def _reference(law: LogT) -> float:
    """Return the score from E[min(X, cap)] = int P(X > x) dx, over 0 to cap and over the worst
    tenth.
    """
    from scipy.integrate import quad

    low = min(law.quantile(ALPHA), LONGEST)

    # In ln x the integrand x P(X > x) is smooth; below e^-30 nothing is left.
    def integral(a: float, b: float) -> float:
        value = quad(
            lambda y: np.exp(y) * law.survival(float(np.exp(y))),
            np.log(a),
            np.log(b),
            epsabs=0,
            epsrel=1e-12,
            limit=400,
            points=[p for p in (law.mu - 3, law.mu, law.mu + 3) if np.log(a) < p < np.log(b)],
        )[0]
        return float(value)

    mean = integral(np.exp(-30), low) + (integral(low, LONGEST) if low < LONGEST else 0.0)
    tail = integral(low, LONGEST) / (1 - ALPHA) if low < LONGEST else 0.0
    return mean + BETA * (low + tail)


F = Fraction
Law = tuple[tuple[int, Fraction], ...]
"""Lengths with their probabilities."""

CUT = 8
# Expected lengths 3 and 11/4 with the cap, 3 and 6 without.
EXAMPLE: tuple[Law, Law] = (((3, F(1)),), ((1, F(3, 4)), (21, F(1, 4))))


@PAPER.claim(claimed=F(0), control=F(1, 10))
def sept_at_beta_0(beta: Fraction) -> ClaimResult:
    """With beta = 0 TIE is SEPT: the score sorts requests by expectation.

    Source: relation to SEPT
    Assumes: lengths capped at 2048; SEPT sorts by the capped expectation
    """
    laws = [LogT(mu / 4, sigma / 10) for mu in range(16, 29) for sigma in (1, 4, 8, 12)]
    by_mean = sorted(laws, key=lambda law: law.capped_mean(2048))
    by_score = sorted(laws, key=lambda law: law.score(float(beta), 2048))
    moved = sum(a != b for a, b in zip(by_mean, by_score, strict=True))
    least = min(
        adaptive_beta(waiting, batch) for batch in (1, 8, 256) for waiting in range(6 * batch)
    )
    return decided(
        not moved,
        f"{len(laws)} distributions",
        f"{moved} of {len(laws)} distributions stand elsewhere",
        evidence="the score is E + beta CVaR. The adaptive rule min(0.5, max(0.1, 0.1 L_q / B)) "
        f"never comes to 0: its least weight is {least}, at which orders may differ, so TIE as it "
        "runs is not SEPT at low load either",
        witness=f"{moved} distributions stand elsewhere",
    )


def recheck_truncation() -> str:
    """Compare both orders of two requests: requests end at the cap, and requests run on."""
    capped, whole = ([_mean(law, cap) for law in EXAMPLE] for cap in (CUT, None))
    assert capped == [F(3), F(11, 4)]
    assert whole == [F(3), F(6)]
    assert _flow((1, 0), capped) == F(17, 2) < _flow((0, 1), capped) == F(35, 4)
    assert _flow((1, 0), whole) == F(15) > _flow((0, 1), whole) == F(12)
    return (
        "sorted by capped expectation: 17/2, the least, where requests end at the cap; 15 against "
        "12 where they run on"
    )


@PAPER.claim(claimed="end at the cap", control="run on", recheck=recheck_truncation)
def sept_needs_no_truncation(beyond: str, slow: bool) -> ClaimResult:
    """SEPT minimises the expected completion time only if lengths are not truncated.

    Source: relation to SEPT
    Verdict: not implied
    Assumes: one server without preemption, known distributions, all requests present at time 0
    Assumes: SEPT sorts by the expectation of lengths that are capped as TIE caps them; requests end
        at the cap, as max_tokens makes them; in the control they run on
    Evidence: the sentence stands in the related work of the summary, which does not say whether
        requests end at the cap. Where they do, it is false: the expected total completion time is
        linear in the expected lengths, so sorting by them is optimal for every distribution with a
        finite mean (exchange), a capped one included; all orders compared exactly. Where they run
        on, it is true
    """
    rng = stream(1983, "cases")
    sets = [EXAMPLE] + [_draw(rng) for _ in range(1000 if slow else 100)]
    failures = []
    for laws in sets:
        means = [_mean(law, CUT) for law in laws]
        served = means if beyond == "end at the cap" else [_mean(law, None) for law in laws]
        order = sorted(range(len(laws)), key=lambda i: means[i])
        if _flow(order, served) > min(_flow(o, served) for o in permutations(order)):
            failures.append(laws)
    needed = bool(failures)
    return decided(
        needed,
        f"{len(sets)} sets of requests" if needed else WITNESSED,
        f"requests {beyond}: sorting by capped expectation is not optimal in {len(failures)} of "
        f"{len(sets)} sets",
        witness="lengths 3, or 1 and 21 with probability 3/4 and 1/4, capped at 8",
        otherwise=NOT_IMPLIED,
    )


def _draw(rng: np.random.Generator) -> tuple[Law, ...]:
    laws = []
    for _ in range(4):
        share = F(int(rng.integers(1, 8)), 8)
        short, long = sorted(int(v) for v in rng.integers(1, 31, 2))
        laws.append(((short, share), (long, 1 - share)))
    return tuple(laws)


def _mean(law: Law, cap: int | None) -> Fraction:
    return sum((p * (length if cap is None else min(length, cap)) for length, p in law), F(0))


def _flow(order: Sequence[int], means: Sequence[Fraction]) -> Fraction:
    """Return the expected total completion time of requests that wait at time 0, one after the
    other.
    """
    return sum(((len(order) - k) * means[i] for k, i in enumerate(order)), F(0))
