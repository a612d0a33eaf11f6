"""TRAIL, Lemma 1 and Appendix C: the mean response time of SPRPT with limited preemption.

With C = 1 limited preemption is SPRPT (Section 3.3); the policy is, Lemma 1 is not.
"""

from collections.abc import Callable
from fractions import Fraction
from math import e, exp, factorial

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.papers.shahout2025.queues import mg1, mg1_classics, mg1_light_traffic, mg1_simulation
from ratiolab.papers.shahout2025.queues.mg1_light_traffic import two_jobs
from ratiolab.papers.shahout2025.queues.mg1_simulation import (
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


@PAPER.claim(claimed=mg1.as_printed, control=mg1.corrected, recheck=recheck)
def lemma_1(formula: Formula, slow: bool) -> ClaimResult:
    """In the M/G/1 queue under SPRPT where a job predicted r is preemptible only below age a_0 = C
    r, the mean response time of a job (x, r) is lambda (E[X^2; R <= r] + int_{t > r + a_0} E[(X -
    (t - r))_+^2; R in dt]) / (2 (1 - rho_r)^2) + int_0^{a_0} da / (1 - rho_{r-a}) + x - a_0.

    Source: Lemma 1, Section 3.3 and Appendix C (p. 15)
    Verdict: false
    Assumes: one server, Poisson arrivals, sizes and predictions independent over jobs
    Assumes: formula to the letter; the mean over jobs is taken with the joint density g
    Evidence: exponential sizes, perfect predictions: to first order in the arrival rate two jobs
        decide, exactly for every C; SRPT is optimal, so nothing may lie below it; independent
        event-driven simulation, exponential predictions too. An old job predicted t > r counts from
        age min(t - r, C t), its own threshold, not from t - r if t > r + C r; a job with x < C r
        resides for int_0^x, not for int_0^(C r) + x - C r.
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


JOBS = tuple((rate, x) for rate in (0.2, 0.5, 0.8) for x in (0.25, 1.0, 2.0, 4.0))


def recheck_formula() -> str:
    """Verify the missing amount of one job in closed form."""
    gap = _srpt(0.5, 1) - mg1.response_time(mg1.PERFECT, 1, 0.5, 1, 1, printed=True)
    assert abs(gap - (e - 1) / (e + 2) ** 2) < 1e-9
    assert gap > 0.07
    return f"the printed formula is (e - 1)/(e + 2)^2 = {gap:.6f} below SRPT for x = 1, rate 1/2"


@PAPER.claim(claimed=True, control=False, recheck=recheck_formula)
def lemma_1_reduces_to_sprpt(printed: bool) -> ClaimResult:
    """At C = 1 the formula of Lemma 1 is the mean response time of SPRPT.

    Source: Section 3.3 and Lemma 1
    Verdict: false
    Assumes: one server, Poisson arrivals
    Assumes: formula to the letter
    Evidence: perfect predictions, exponential sizes; Schrage and Miller's SRPT, coded apart. The
        old jobs' integral starts at t = r + a_0 = 2 r instead of r, so the printed formula misses
        exactly lambda x^2 P(x < X <= 2 x) / (2 (1 - rho_x)^2) > 0.
    """
    gaps = {
        (rate, x): _srpt(rate, x) - mg1.response_time(mg1.PERFECT, 1, rate, x, x, printed=printed)
        for rate, x in JOBS
    }
    agrees = all(abs(gap) < 1e-7 for gap in gaps.values())
    worst = max(gaps, key=lambda job: abs(gaps[job]))
    return decided(
        agrees,
        f"{len(JOBS)} jobs" if agrees else WITNESSED,
        "equal to 1e-7"
        if agrees
        else f"up to {gaps[worst]:.4f} short, at lambda = {worst[0]}, x = r = {worst[1]}",
        witness="x = r = 1, lambda = 1/2: (e - 1)/(e + 2)^2 too little",
    )


@PAPER.claim(claimed=Fraction(1), control=Fraction(1, 2))
def c_1_is_sprpt(fraction: Fraction, slow: bool) -> ClaimResult:
    """At C = 1 the policy itself, limited preemption, serves jobs as SPRPT does.

    Source: Section 3.3
    Assumes: predictions are positive
    Assumes: no two ranks are equal
    Proof: full_preemption
    Evidence: both policies were run side by side, with predictions too long and too short
    """
    rng = stream(7, "cases")
    queues = 2000 if slow else 300
    different = []
    for _ in range(queues):
        n = int(rng.integers(2, 7))
        arrival = np.sort(rng.choice(15, n, replace=False))
        size = rng.integers(1, 8, n)
        # Sixty-fourths keep ranks apart without rounding.
        predicted = np.maximum(size + rng.integers(-3, 4, n), 1) + np.arange(n) / 64
        limited, _ = mg1_simulation.run(
            arrival.astype(np.float64), size.astype(np.float64), predicted, float(fraction)
        )
        if limited.tolist() != _sprpt(arrival.tolist(), size.tolist(), predicted.tolist()):
            different.append((arrival.tolist(), size.tolist(), predicted.tolist()))
    same = not different
    return decided(
        same,
        PROVED if same else f"{queues} queues",
        f"{len(different)} of {queues} queues differ",
        witness=f"arrivals, sizes, predictions {different[0]}" if different else None,
    )


def _srpt(rate: float, x: float) -> float:
    """Return Schrage and Miller's response time of a job of size x, exponential sizes, mean 1."""
    from scipy.integrate import quad

    def idle(u: float) -> float:
        return 1 - rate * (1 - (1 + u) * exp(-u))

    square = 2 - (x * x + 2 * x + 2) * exp(-x) + x * x * exp(-x)
    residence = quad(lambda u: 1 / idle(u), 0, x, epsabs=1e-12)[0]
    return float(rate * square / (2 * idle(x) ** 2) + residence)


def _sprpt(arrival: list[int], size: list[int], predicted: list[float]) -> list[int]:
    """Serve one unit at a time the job of least predicted remaining time."""
    left, completion, now = list(size), [0] * len(size), 0
    while any(left):
        here = [i for i in range(len(size)) if arrival[i] <= now and left[i]]
        if here:
            served = min(here, key=lambda i: predicted[i] - (size[i] - left[i]))
            left[served] -= 1
            completion[served] = now + 1
        now += 1
    return completion


def recheck_mean() -> str:
    """Integrate the two parts by hand: waiting 1/4, residence 1/8 where 1/4 is due."""

    def integral(n: int, k: int) -> Fraction:  # of u^n e^(-k u)
        return Fraction(factorial(n), k ** (n + 1))

    # int_0^y t^2 e^-t dt + y^2 e^-y = 2 - (2 y + 2) e^-y, averaged with e^-y.
    waiting = (2 * integral(0, 1) - 2 * integral(1, 2) - 2 * integral(0, 2)) / 2
    # Age a and rank u = y - a are passed when x > a: int int e^-a e^-(a+u) m(u) da du.
    passing = integral(0, 1) - integral(0, 2) - integral(1, 2)
    assert waiting + passing == two_jobs(Fraction(1)) == Fraction(1, 2)
    assert waiting + passing * integral(0, 2) == Fraction(3, 8)
    return "with independent x and y the derivative is 3/8; with y given x it is 1/2"


@PAPER.claim(claimed="of all predictions", control="given the size", recheck=recheck_mean)
def appendix_c_mean_by_size(law: str) -> ClaimResult:
    """The mean response time of jobs of size x is E[T(x, y)] averaged over y with f_p(y), the
    density of the predictions of all jobs.

    Source: end of Appendix C (p. 16 or 17)
    Verdict: false
    Assumes: one server, Poisson arrivals
    Assumes: E[T(x, y)] by the corrected Lemma 1
    """
    import sympy

    x, y, a, s = sympy.symbols("x y a s", positive=True)
    size = sympy.exp(-x)

    def load(u: sympy.Expr) -> sympy.Expr:
        return 1 - (1 + u) * sympy.exp(-u)

    # C = 1, perfect predictions: waiting and residence of a job (x, y), both per unit of rate.
    waiting = (2 - (y**2 + 2 * y + 2) * sympy.exp(-y) + y**2 * sympy.exp(-y)) / 2
    if law == "of all predictions":  # f_p(y), whatever the size
        shorter = sympy.integrate(load(y - a).expand(), (a, 0, x))
        longer = sympy.integrate(load(y - a).expand(), (a, 0, y))
        weight = size * sympy.exp(-y)
        slope = sympy.integrate(waiting * sympy.exp(-y), (y, 0, sympy.oo))
        slope += sympy.integrate((longer * weight).expand(), (x, y, sympy.oo), (y, 0, sympy.oo))
        late = (shorter * weight).subs(y, x + s).expand()
        slope += sympy.integrate(late, (s, 0, sympy.oo), (x, 0, sympy.oo))
    else:  # g(x, y) / f(x), all mass at y = x
        residence = sympy.integrate(load(x - a).expand(), (a, 0, x))
        both = (waiting.subs(y, x) + residence) * size
        slope = sympy.integrate(both.expand(), (x, 0, sympy.oo))
    found, truth = Fraction(str(sympy.nsimplify(slope))), two_jobs(Fraction(1))
    return decided(
        found == truth,
        WITNESSED,
        f"d/dlambda at 0: {found} against {truth}",
        evidence="exponential sizes, perfect predictions, C = 1, corrected formula, symbolic "
        "integrals; E[T] to first order from two jobs. Sizes and predictions depend on each "
        "other, so the distribution of y must be g(x, y)/f(x)",
        witness=f"derivative at rate 0: {found}, not {truth}",
    )
