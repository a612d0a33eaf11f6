"""Charts on TRAIL's queue: Shahout et al. (2025), Lemma 1, Appendices A and D, arXiv 2410.01035.

Sizes are exponential with mean 1, the unit of time; arrivals are Poisson, so the rate is the load.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.shahout2025 import appendix_d
from ratiolab.papers.shahout2025.queues import mg1, mg1_classics, mg1_light_traffic
from ratiolab.papers.shahout2025.queues.mg1_simulation import (
    Sampler,
    Simulated,
    exponential_predictions,
    perfect_exponential,
    simulate,
)
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import (
    EXACT,
    FAINT,
    OTHER,
    PRINTED,
    SIMULATED,
    THIRD,
    Curve,
    Panel,
    bars,
    chart,
)
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws import bin_filter

FRACTION = "C (a job predicted r is preemptible up to age C r)"
RESPONSE = "mean response time (mean service times)"
SAMPLERS: dict[str, tuple[mg1.PredictionModel, Sampler]] = {
    "perfect": (mg1.PERFECT, perfect_exponential),
    "exponential": (mg1.EXPONENTIAL, exponential_predictions),
}
GRID = tuple(np.linspace(0, 1, 41).tolist())
TRIED = (0.0, 0.25, 0.5, 0.75, 1.0)
JOBS = 200_000


def response_times(predictions: str, loads: Sequence[float] = (0.5, 0.8)) -> Chart:
    """Draw Lemma 1 as printed, corrected, and simulated, against C; one panel a load.

    Parameters
    ----------
    predictions : ``perfect`` or ``exponential``, the two of Appendix D.
    loads : at most three.

    Simulated points have 99% Student intervals from ten runs of `JOBS` jobs each.
    """
    model, _ = SAMPLERS[predictions]
    lines = appendix_d.curves(model, GRID, loads)
    panels = []
    for k, load in enumerate(loads):
        curves = [
            Curve("Lemma 1 as printed", GRID, lines.as_printed[:, k], PRINTED),
            Curve("corrected formula", GRID, lines.response_time[:, k]),
            _points("simulated", [_queue(predictions, c, load).response_time for c in TRIED]),
        ]
        if predictions == "perfect":
            least = mg1_classics.srpt(load, lambda x: exp(-x))
            curves.append(Curve("SRPT, optimal", [0, 1], [least, least], FAINT | {"ls": ":"}))
        title = f"{predictions.capitalize()} predictions, load {load:g}"
        panels.append(Panel(title, FRACTION, RESPONSE, curves))
    return chart(panels)


def light_traffic() -> Chart:
    """Draw the slope of mean response time at rate 0, where two jobs decide it, for every C."""
    fractions = [Fraction(k, 100) for k in range(101)]
    x = [float(c) for c in fractions]
    least = float(mg1_light_traffic.LEAST)
    curves = [
        Curve(
            "Lemma 1 as printed",
            x,
            [float(mg1_light_traffic.as_printed(c)) for c in fractions],
            PRINTED,
        ),
        Curve("two jobs, exactly", x, [float(mg1_light_traffic.two_jobs(c)) for c in fractions]),
        Curve("least possible (SRPT)", [0, 1], [least, least], FAINT | {"ls": ":"}),
    ]
    label = "dE[T]/dλ at λ = 0 (mean service times²)"
    return chart([Panel("Perfect predictions, light traffic", FRACTION, label, curves)])


def figure_8(predictions: str, loads: Sequence[float] = (0.5, 0.7, 0.9)) -> Chart:
    """Redraw Figure 8 without noise: mean response time and mean memory against C.

    Memory is the total age of the jobs in the system. The paper shows its peak, which grows with
    the length of a simulation; here it is the time average. Lines are exact, points simulated.
    """
    model, _ = SAMPLERS[predictions]
    lines = appendix_d.curves(model, GRID, loads)
    time, memory = [], []
    for k, (load, look) in enumerate(zip(loads, (EXACT, OTHER, THIRD), strict=True)):
        queues = [_queue(predictions, c, load) for c in TRIED]
        name = "simulated" if load == loads[-1] else "_"  # one entry in the legend for all
        time += [
            Curve(f"load {load:g}, exact", GRID, lines.response_time[:, k], look),
            _points(name, [q.response_time for q in queues]),
        ]
        memory += [
            Curve(f"load {load:g}, exact", GRID, lines.memory[:, k], look),
            _points(name, [q.memory for q in queues]),
        ]
    label = "mean total age (mean service times)"
    return chart(
        [
            Panel(f"{predictions.capitalize()} predictions: time", FRACTION, RESPONSE, time),
            Panel(f"{predictions.capitalize()} predictions: memory", FRACTION, label, memory),
        ],
        height=5.2,
    )


def saturation(loads: Sequence[float] = (0.9, 0.95, 0.97, 0.99)) -> Chart:
    """Draw response time against that of free preemption (C = 1), at high load."""
    values = appendix_d.curves(mg1.EXPONENTIAL, GRID, loads).response_time
    looks = (FAINT, THIRD, OTHER, EXACT)
    curves = [
        Curve(f"load {load:g}", GRID[1:], values[1:, k] / values[-1, k], look)
        for k, (load, look) in enumerate(zip(loads, looks, strict=True))
    ]
    curves.append(Curve("C = 1", [0, 1], [1, 1], FAINT | {"ls": ":"}))
    label = "mean response time / that of C = 1"
    return chart([Panel("Exponential predictions near saturation", FRACTION, label, curves)])


def refinement() -> Chart:
    """Draw the error of Appendix A's filter after three tokens, where all is known."""
    errors = bin_filter.demonstration()
    values = {name: float(error) for name, error in errors.items()}
    label = "mean squared error (tokens²)"
    return bars("Appendix A: refined predictions", label, values, ["as printed"])


def _queue(predictions: str, fraction: float, load: float) -> Simulated:
    rng = stream(0, "queue", round(1000 * fraction), round(1000 * load))
    return simulate(SAMPLERS[predictions][1], fraction, load, rng=rng, jobs=JOBS)


def _points(label: str, estimates: Sequence[Estimate]) -> Curve:
    mean = np.array([estimate.mean for estimate in estimates])
    half = np.array([estimate.half_width for estimate in estimates])
    return Curve(label, TRIED, mean, SIMULATED, mean - half, mean + half)
