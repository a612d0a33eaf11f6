"""TRAIL, Appendix D and Figure 8: joint densities, and what limiting preemption saves."""

from fractions import Fraction
from math import exp

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, HOLDS, UNDECIDED, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER, appendix_d
from ratiolab.papers.shahout2025.appendix_d import size_marginals
from ratiolab.papers.shahout2025.queues import mg1, mg1_simulation
from ratiolab.theory.estimate import Estimate


def recheck() -> str:
    """Differentiate the inner integral numerically, and integrate x/e up to 3 exactly."""
    # -x exp((-x - y)/x) is an antiderivative in y; at y = 0 and infinity it gives x/e.
    for x in (0.5, 2.0, 3.0):
        steps = [1e-3 * x * (k + 0.5) for k in range(40_000)]
        total = sum(exp((-x - y) / x) for y in steps) * 1e-3 * x
        assert abs(total - x * exp(-1)) < 1e-5
        assert abs(total - exp(-x)) > 0.1
    assert Fraction(3**2, 2) > Fraction(272, 100) > exp(1)
    return "the printed exponential density integrates to x/e; up to x = 3 that is 9/(2 e) > 1"


@PAPER.claim(claimed="printed", control="corrected", recheck=recheck)
def appendix_d_densities(variant: str) -> ClaimResult:
    """With sizes exponential of mean 1, g(x, y) = exp((-x - y)/x) is the joint density for
    predictions exponential with mean x, and g(x, y) = exp(-x) that for perfect ones.

    Source: Appendix D (p. 17)
    Verdict: false
    Assumes: the paper's rule: g integrated over the prediction is f(x) = exp(-x)
    Evidence: symbolic integration. Right are exp(-x - y/x)/x, without which factor 1/x the mass is
        infinite, and the point mass exp(-x) at y = x
    """
    import sympy

    size = sympy.exp(-sympy.symbols("x", positive=True))
    found = {
        name.split(",")[0]: marginal
        for name, marginal in size_marginals().items()
        if name.endswith(variant)
    }
    values = "; ".join(f"{name}: {marginal}" for name, marginal in found.items())
    return decided(
        all(sympy.simplify(marginal - size) == 0 for marginal in found.values()),
        WITNESSED,
        values.replace("oo", "infinity"),
        witness="sizes up to 3 alone would have probability 9/(2 e) = 1.655",
    )


FRACTIONS = (0.0, 0.2, 0.5, 0.8, 1.0)


@PAPER.claim(claimed="memory", control="response_time")
def appendix_d_memory(measure: str, slow: bool) -> ClaimResult:
    """Limiting preemption, that is a smaller C, lowers the mean memory over time.

    Source: Appendix D and Figure 8 (pp. 17 and 18)
    Assumes: memory is the total age of the jobs in the system, averaged over time; the figure has
        its peak, see appendix-d-peak-memory
    Assumes: one server, Poisson arrivals, exponential sizes; perfect or exponential predictions
    Evidence: exact means by the corrected Lemma 1 and Brumelle's law, accurate to 1e-9. Response
        time mostly rises as C falls, but with exponential predictions near saturation (load 0.97)
        less preemption is faster as well
    """
    loads = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95) if slow else (0.3, 0.6, 0.9)
    fractions = tuple(k / 10 for k in range(11)) if slow else FRACTIONS
    rises, cells = 0, 0
    texts = []
    for name, model in (("perfect", mg1.PERFECT), ("exponential", mg1.EXPONENTIAL)):
        figure = appendix_d.curves(model, fractions, loads)
        values = getattr(figure, measure)
        change = np.diff(values, axis=0)  # along rising C
        rises += int((change <= 0).sum())
        cells += change.size
        texts.append(
            f"{name} predictions, load {loads[-1]}: {values[-1, -1]:.3f} at C = 1, "
            f"{values[0, -1]:.3f} at C = 0"
        )
    return decided(
        not rises,
        f"{cells} steps of C, two predictors, {len(loads)} loads",
        f"it does not in {rises} of {cells} steps; {'; '.join(texts)}",
    )


@PAPER.claim(claimed=1, control=-1)
def appendix_d_peak_memory(sign: int, slow: bool) -> ClaimResult:
    """Limiting preemption, that is a smaller C, lowers the peak of the memory.

    Source: Appendix D and Figure 8 (pp. 17 and 18)
    Verdict: undecided
    Assumes: memory is the total age of the jobs in the system; its largest value in a simulation
    Assumes: one server, Poisson arrivals at rate 0.9, exponential sizes; perfect or exponential
        predictions; C = 0.2, 0.5, 0.8, 1
    Evidence: 99% Student intervals of the differences between neighbouring C. With exponential
        predictions the peak falls with C; with perfect ones it is nearly always that of the longest
        job as it ends, whatever C is. A peak grows with the length of a simulation, and the paper
        does not give its own
    """
    jobs, runs = (100_000, 40) if slow else (10_000, 20)
    steps, texts = [], []
    for name, draw in (
        ("perfect", mg1_simulation.perfect_exponential),
        ("exponential", mg1_simulation.exponential_predictions),
    ):
        peaks = np.empty((runs, len(FRACTIONS) - 1))
        for seed in range(runs):
            rng = stream(8, "queue", seed)
            arrival = np.cumsum(rng.exponential(1 / 0.9, jobs))
            size, prediction = draw(rng, jobs)
            for k, fraction in enumerate(FRACTIONS[1:]):
                peaks[seed, k] = mg1_simulation.run(arrival, size, prediction, fraction)[1][1]
        steps += [Estimate.of((sign * change).tolist()) for change in np.diff(peaks).T]
        texts.append(f"{name} predictions: {', '.join(f'{v:.2f}' for v in peaks.mean(axis=0))}")
    if all(step.low > 0 for step in steps):
        verdict = HOLDS
    else:
        verdict = FALSE if any(step.high < 0 for step in steps) else UNDECIDED
    return ClaimResult(
        verdict,
        f"{runs} queues of {jobs} jobs for each of two predictors, the same for every C",
        "; ".join(texts) + " from C = 0.2 to 1",
        witness="the differences have the other sign" if verdict is FALSE else None,
    )
