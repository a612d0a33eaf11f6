"""TRAIL, Lemma 1: the mean response time of SPRPT with limited preemption."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, factorial

from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.queues import mg1, mg1_classics, mg1_light_traffic
from ratiolab.theory.queues.mg1_simulation import (
    Sampler,
    exponential_predictions,
    perfect_exponential,
    simulate,
)

Formula = Callable[[mg1.PredictionModel, float], mg1.Profile]

FRACTIONS = tuple(Fraction(k, 5) for k in range(6))
MODELS: tuple[tuple[mg1.PredictionModel, Sampler], ...] = (
    (mg1.PERFECT, perfect_exponential),
    (mg1.EXPONENTIAL, exponential_predictions),
)


def recheck() -> str:
    """Recompute both derivatives at rate 0 from int u^n e^(-k u) du = n! / k^(n+1)."""

    def integral(n: int, k: int) -> Fraction:
        return Fraction(factorial(n), k ** (n + 1))

    # E[int_0^x t^2 e^-t dt] and E[x^2 e^(-2x)], the printed tail; then E[X; X < u] e^-u.
    waiting = (integral(2, 2) + integral(2, 3)) / 2
    residence = integral(0, 1) - integral(0, 2) - integral(1, 2)
    least = integral(0, 1) - integral(0, 2)
    assert waiting + residence == Fraction(89, 216) == mg1_light_traffic.as_printed(Fraction(1))
    assert least == mg1_light_traffic.LEAST
    grid = [Fraction(k, 1000) for k in range(1001)]
    assert all(mg1_light_traffic.as_printed(c) < least for c in grid)
    return "89/216 < 1/2 in exact arithmetic at C = 1, and below 1/2 at 1001 values of C"


@PAPER.claim(
    "Lemma 1, Section 3.3 and Appendix C (p. 15)",
    expected=FALSE,
    claimed=mg1.as_printed,
    control=mg1.corrected,
    recheck=recheck,
    assumes=(
        "one server, Poisson arrivals, sizes and predictions independent over jobs",
        "formula to the letter; the mean over jobs is taken with the joint density g",
    ),
)
def lemma_1(formula: Formula, slow: bool) -> ClaimResult:
    """In the M/G/1 queue under SPRPT where a job predicted r is preemptible only below age a_0 = C
    r, the mean response time of a job (x, r) is lambda (E[X^2; R <= r] + int_{t > r + a_0} E[(X -
    (t - r))_+^2; R in dt]) / (2 (1 - rho_r)^2) + int_0^{a_0} da / (1 - rho_{r-a}) + x - a_0.
    """
    profiles = {c: formula(mg1.PERFECT, float(c)) for c in FRACTIONS}
    slopes = {c: mg1_light_traffic.slope(profile) for c, profile in profiles.items()}
    light = all(abs(slopes[c] - mg1_light_traffic.two_jobs(c)) < 1e-8 for c in FRACTIONS)
    loads = (0.2, 0.5, 0.8, 0.95) if slow else (0.5, 0.8)
    optimum = {load: mg1_classics.srpt(load, lambda x: exp(-x)) for load in loads}
    beaten = [
        (float(c), load, profile.mean_response_time(load), optimum[load])
        for load in loads
        for c, profile in profiles.items()
        if profile.mean_response_time(load) < optimum[load] * (1 - 1e-9)
    ]
    cells, missed = _simulate(formula, slow)
    agrees = light and not beaten and not missed
    below = (
        "; ".join(f"C = {c}, load {load}: {t:.4f} < {s:.4f}" for c, load, t, s in beaten[-1:])
        or "nowhere below SRPT"
    )
    return decided(
        agrees,
        f"{len(FRACTIONS)} values of C and {cells} simulated queues" if agrees else WITNESSED,
        f"dE[T]/dlambda at 0, C = 1: {slopes[Fraction(1)]:.6f}, two jobs give "
        f"{float(mg1_light_traffic.two_jobs(Fraction(1))):.6f}; {len(beaten)} of "
        f"{len(loads) * len(FRACTIONS)} values below SRPT ({below}); {missed} of {cells} simulated "
        "intervals (99.9%) missed",
        evidence="exponential sizes, perfect predictions: to first order in the arrival rate two "
        "jobs decide, exactly for every C; SRPT is optimal, so nothing may lie below it; "
        "independent event-driven simulation, exponential predictions too. An old job predicted t "
        "> r counts from age min(t - r, C t), its own threshold, not from t - r if t > r + C r; a "
        "job with x < C r resides for int_0^x, not for int_0^(C r) + x - C r.",
        witness="C = 1: derivative at rate 0 printed 89/216, least possible 1/2",
    )


def _simulate(formula: Formula, slow: bool) -> tuple[int, int]:
    """Count simulated queues, and those whose 99.9% interval misses the formula."""
    fractions = (0, 0.2, 0.5, 0.8, 1) if slow else (0.5,)
    loads = (0.5, 0.7, 0.9) if slow else (0.5,)
    jobs = 400_000 if slow else 60_000
    rng = stream(2410, "queue")
    misses = []
    for model, sampler in MODELS:
        for fraction in fractions:
            profile = formula(model, fraction)
            for load in loads:
                seen = simulate(sampler, fraction, load, rng=rng, jobs=jobs, confidence=0.999)
                misses.append(not seen.response_time.covers(profile.mean_response_time(load)))
    return len(misses), sum(misses)
