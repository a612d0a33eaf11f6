"""TRAIL, Section 3.3: with C = 1 limited preemption is SPRPT; the policy is, Lemma 1 is not."""

from fractions import Fraction
from math import e, exp

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.queues import mg1, mg1_simulation

JOBS = tuple((rate, x) for rate in (0.2, 0.5, 0.8) for x in (0.25, 1.0, 2.0, 4.0))


def recheck_formula() -> str:
    """Verify the missing amount of one job in closed form."""
    gap = _srpt(0.5, 1) - mg1.response_time(mg1.PERFECT, 1, 0.5, 1, 1, printed=True)
    assert abs(gap - (e - 1) / (e + 2) ** 2) < 1e-9
    assert gap > 0.07
    return f"the printed formula is (e - 1)/(e + 2)^2 = {gap:.6f} below SRPT for x = 1, rate 1/2"


@PAPER.claim(
    "Section 3.3 and Lemma 1",
    expected=FALSE,
    claimed=True,
    control=False,
    recheck=recheck_formula,
    assumes=("one server, Poisson arrivals", "formula to the letter"),
)
def lemma_1_reduces_to_sprpt(printed: bool) -> ClaimResult:
    """At C = 1 the formula of Lemma 1 is the mean response time of SPRPT."""
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
        evidence="perfect predictions, exponential sizes; Schrage and Miller's SRPT, coded apart. "
        "The old jobs' integral starts at t = r + a_0 = 2 r instead of r, so the printed formula "
        "misses exactly lambda x^2 P(x < X <= 2 x) / (2 (1 - rho_x)^2) > 0.",
        witness="x = r = 1, lambda = 1/2: (e - 1)/(e + 2)^2 too little",
    )


@PAPER.claim(
    "Section 3.3",
    claimed=Fraction(1),
    control=Fraction(1, 2),
    assumes=("predictions are positive", "no two ranks are equal"),
    proof="full_preemption",
)
def c_1_is_sprpt(fraction: Fraction, slow: bool) -> ClaimResult:
    """At C = 1 the policy itself, limited preemption, serves jobs as SPRPT does."""
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
        evidence="both policies were run side by side, with predictions too long and too short",
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
