"""Mean response time of the M/G/1 queue under SPRPT with limited preemption.

A job of size x and prediction r has rank r - a at age a while a < C r, and cannot be
preempted afterwards; the server runs the job of least rank. All times are in units of
service time, and the size enters only through

    e_k(m, t) = E[(X - m)_+^k ; R in dt] / dt,       k = 0, 1, 2.

Derivation (tagged job (x, r), SOAP). Ranks only fall, so the worst future rank of the
tagged job at age a is r - a. A newcomer predicted y delays it by its whole size if
y < r - a and a < C r, and by nothing otherwise: the load that matters at rank u is
rho(u) = lambda E[X; R <= u]. An old job predicted t <= r counts with its whole size. One
predicted t > r first falls to rank r, or becomes non-preemptive, at age
m = min(t - r, C t), whichever comes first, and counts with (X - m)_+. Hence

    E T(x, r) = lambda [ int_0^r e_2(0, t) dt + int_r^inf e_2(min(t - r, C t), t) dt ]
                / (2 (1 - rho(r))^2)
              + int_0^min(x, C r) da / (1 - rho(r - a)) + (x - C r)_+ .

Averaged over jobs, the residence term becomes an integral over ranks u: jobs pass rank u
while preemptible at rate K(u) = int_u^(u/(1-C)) e_0(t - u, t) dt. Every inner integral is
free of lambda, so one `Profile` serves all arrival rates.

The printed Lemma 1 uses the tagged job's threshold C r where the old job's belongs (its
second integral starts at t = r + C r, always with m = t - r), and writes
int_0^(C r) ... + (x - C r) also for x < C r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ratiolab.papers.shahout2025.queues.quadrature import Array, half_line, log_line, unit_interval


class PredictionModel(Protocol):
    """The joint distribution of size X and prediction R, as far as the formulas need it."""

    def excess(self, k: int, age: Array, prediction: Array) -> Array:
        """Return e_k(m, t) = E[(X - m)_+^k ; R in dt] / dt, elementwise."""
        ...


@dataclass(frozen=True)
class Perfect:
    """Predictions equal to the size.

    ``density`` is f(x), the density of the size, vectorised; mean of order 1.
    """

    density: Callable[[Array], Array]

    def excess(self, k: int, age: Array, prediction: Array) -> Array:
        values: Array = self.density(prediction) * np.maximum(prediction - age, 0.0) ** k
        return values


@dataclass(frozen=True)
class Joint:
    """Predictions with a joint density.

    ``density`` is g(x, r), the joint density of size and prediction, vectorised, with a mean size
    of order 1; ``nodes`` are those of the rule over sizes.
    """

    density: Callable[[Array, Array], Array]
    nodes: int = 140

    def excess(self, k: int, age: Array, prediction: Array) -> Array:
        s, weight = log_line(self.nodes)
        m, t = np.broadcast_arrays(age, prediction)
        values: Array = self.density(m[..., None] + s, t[..., None]) @ (weight * s**k)
        return values


def exponential_sizes(x: Array) -> Array:
    """Return exp(-x): exponential sizes with mean 1."""
    return np.exp(-x)


def exponential_density(x: Array, r: Array) -> Array:
    """Return exp(-x - r/x) / x: sizes exponential with mean 1, predictions with mean x.

    Source: Shahout et al. (2025), Appendix D, arXiv 2410.01035, with the factor 1/x the
    printed density lacks.
    """
    return np.exp(-x - r / x) / x


PERFECT = Perfect(exponential_sizes)
EXPONENTIAL = Joint(exponential_density)


@dataclass(frozen=True)
class Profile:
    """Integrands over ranks that a model and a fraction C leave, for any arrival rate.

    Parameters
    ----------
    weight : quadrature weights of the ranks, shape (n,).
    marginal : density of the prediction at the ranks.
    load : E[X; R <= u].
    square : second moment of the work an arrival at rank u finds relevant, per old job.
    dwell : K(u), rate at which jobs pass rank u while preemptible.
    aged_dwell : K(u) weighted with the age.
    alone, aged_alone : expected non-preemptive service, and its integral of the age.
    """

    weight: Array
    marginal: Array
    load: Array
    square: Array
    dwell: Array
    aged_dwell: Array
    alone: float
    aged_alone: float

    def mean_response_time(self, rate: float) -> float:
        """Return E[T] at the given arrival rate (below 1 / mean size). O(n)."""
        idle = _idle(rate, self.load)
        waiting = rate * self.square * self.marginal / (2 * idle**2)
        return float(self.weight @ (waiting + self.dwell / idle)) + self.alone

    def mean_memory(self, rate: float) -> float:
        """Return the time average of the total age of all jobs in the system. O(n).

        Memory grows with age (Appendix D of the paper). By Brumelle's law H = lambda G it
        is lambda times the expected integral of a job's age over its stay.
        """
        return rate * (
            float(self.weight @ (self.aged_dwell / _idle(rate, self.load))) + self.aged_alone
        )


def corrected(model: PredictionModel, fraction: float, nodes: int = 100) -> Profile:
    """Return the profile of SPRPT with limited preemption (derivation: module docstring).

    At C = 0 the limit C -> 0+ is meant: non-preemptive shortest predicted job first. With
    the default nodes the mean response time of both ready models is accurate to 1e-9
    (relative) for loads up to 0.99.

    ``fraction`` is C in [0, 1], ``nodes`` the number of nodes per dimension.

    Cost: O(nodes^2) calls of e_k; O(nodes^3) with a joint density.
    """
    rank, weight = half_line(nodes)
    early, late = _old(model, fraction, rank, nodes)
    step, gap = _falling(fraction, rank, nodes)
    passing = model.excess(0, gap, rank[:, None] + gap)
    threshold = fraction * rank
    over = model.excess(1, threshold, rank)
    return Profile(
        weight=weight,
        marginal=model.excess(0, np.zeros_like(rank), rank),
        load=_below(model, 1, rank, nodes),
        square=_below(model, 2, rank, nodes) + early + late,
        dwell=(step * passing).sum(axis=1),
        aged_dwell=(step * gap * passing).sum(axis=1),
        alone=float(weight @ over),
        aged_alone=float(weight @ (model.excess(2, threshold, rank) / 2 + threshold * over)),
    )


def as_printed(model: PredictionModel, fraction: float, nodes: int = 100) -> Profile:
    """Return the profile of Lemma 1 to the letter; parameters as in `corrected`.

    Source: Shahout et al. (2025), Lemma 1, arXiv 2410.01035.
    """
    _check(fraction)
    rank, weight = half_line(nodes)
    s, tail = half_line(nodes)
    gap = fraction * rank[:, None] + s
    step, fall = _falling(fraction, rank, nodes)
    predicted = model.excess(0, np.zeros_like(fall), rank[:, None] + fall)
    zero = np.zeros_like(rank)
    threshold = fraction * rank
    marginal = model.excess(0, zero, rank)
    service, square = model.excess(1, zero, rank), model.excess(2, zero, rank)
    return Profile(
        weight=weight,
        marginal=marginal,
        load=_below(model, 1, rank, nodes),
        square=_below(model, 2, rank, nodes) + model.excess(2, gap, rank[:, None] + gap) @ tail,
        dwell=(step * predicted).sum(axis=1),
        aged_dwell=(step * fall * predicted).sum(axis=1),
        alone=float(weight @ (service - threshold * marginal)),
        aged_alone=float(weight @ (square - threshold**2 * marginal)) / 2,
    )


def response_time(
    model: PredictionModel,
    fraction: float,
    rate: float,
    size: float,
    prediction: float,
    *,
    printed: bool = False,
    nodes: int = 100,
) -> float:
    """Return E[T(x, r)], the mean response time of one job.

    ``size`` and ``prediction`` are x and r of the job; ``printed`` asks for Lemma 1 to the letter.
    """
    rank = np.array([prediction])
    if printed:
        _check(fraction)
        s, tail = half_line(nodes)
        gap = fraction * prediction + s
        old = float(model.excess(2, gap, prediction + gap) @ tail)
    else:
        early, late = _old(model, fraction, rank, nodes)
        old = float((early + late)[0])
    square = float(_below(model, 2, rank, nodes)[0]) + old
    idle = float(_idle(rate, _below(model, 1, rank, nodes))[0])
    preemptible = fraction * prediction if printed else min(size, fraction * prediction)
    x, w = unit_interval(nodes)
    inside = 1 - rate * _below(model, 1, prediction - preemptible * x, nodes)
    residence = preemptible * float(w @ (1 / inside)) + size - preemptible
    return rate * square / (2 * idle**2) + residence


def _idle(rate: float, load: Array) -> Array:
    idle: Array = 1 - rate * load
    if rate <= 0 or idle.min() < 1e-9:  # the load itself is only known to 1e-10
        raise ValueError(f"rate {rate}: must be positive and keep the load below 1")
    return idle


def _check(fraction: float) -> None:
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction {fraction}: must lie in [0, 1]")


def _below(model: PredictionModel, k: int, rank: Array, nodes: int) -> Array:
    """Return E[X^k; R <= u] at every rank u."""
    x, w = unit_interval(nodes)
    t = rank[:, None] * x
    below: Array = rank * (model.excess(k, np.zeros_like(t), t) @ w)
    return below


def _falling(fraction: float, rank: Array, nodes: int) -> tuple[Array, Array]:
    """Return the rule over t - u for t in [u, u/(1-C)]: jobs that reach rank u before they are
    immune.
    """
    _check(fraction)
    if fraction == 1:
        s, tail = half_line(nodes)
        return np.broadcast_to(tail, (rank.size, nodes)), np.broadcast_to(s, (rank.size, nodes))
    x, w = unit_interval(nodes)
    width = (fraction / (1 - fraction) * rank)[:, None]
    return width * w, width * x


def _old(model: PredictionModel, fraction: float, rank: Array, nodes: int) -> tuple[Array, Array]:
    """Return int e_2(m(t), t) dt over t > u: below and above the kink t = u / (1 - C) of m."""
    step, gap = _falling(fraction, rank, nodes)
    early = (step * model.excess(2, gap, rank[:, None] + gap)).sum(axis=1)
    if fraction == 1:
        return early, np.zeros_like(rank)
    s, tail = half_line(nodes)
    t = rank[:, None] / (1 - fraction) + s
    return early, model.excess(2, fraction * t, t) @ tail
