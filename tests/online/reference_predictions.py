"""Policies that live on predictions a second time, as `reference` does it for the others.

Laws are integrated numerically, and remaining lengths filtered in fractions from the first answer
on, in every round anew.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from admission import satisfies
from reference import gap, one_round_ahead, sjf, slices
from reference_remaining import shortest_remaining
from round_by_round import Job, Rule, running, waiting
from scipy import integrate, stats

from ratiolab.model.footprint import held
from ratiolab.model.streams import stream
from ratiolab.theory.laws.bin_filter import (
    bayes_filter,
    filter_as_printed,
    mean_length,
    normalised,
    transition,
    transition_as_printed,
)


@cache
def survival_moments(location, scale, freedom, alpha, cap):
    """E[min(X, cap)] = int_0^cap P(X > x) dx, and the mean of the worst share 1 - alpha."""
    law = stats.norm if freedom == 10**9 else stats.t(freedom / 1000)

    def above(x: float) -> float:
        return float(law.sf((log(x) - location / 1000) / (scale / 1000)))

    def area(low: float, high: float) -> float:
        """Over y = ln x, in which the survival function falls smoothly."""
        found = integrate.quad(lambda y: above(exp(y)) * exp(y), low, high, epsabs=1e-12, limit=200)
        return float(found[0])

    value = exp(location / 1000 + scale / 1000 * float(law.ppf(alpha)))
    if cap == 10**9:  # as good as none
        mean = exp(location / 1000 + (scale / 1000) ** 2 / 2)
        beyond = law.sf(law.ppf(alpha) - scale / 1000)
        return mean, mean * float(beyond) / (1 - alpha)
    if value >= cap:
        return area(-60, log(cap)), cap
    tail = value * (1 - alpha) + area(log(value), log(cap))
    return area(-60, log(value)) + area(log(value), log(cap)), tail / (1 - alpha)


def tie(
    now: int,
    memory: int,
    jobs: list[Job],
    beta: str = "adaptive",
    alpha: str = "0.9",
    batch: str = "256",
    max_tokens: str = "1024",
    gamma: str = "0.9",
    tau: str = "1000",
    limited: str = "false",
    tail_tokens: str = "0",
    capped: str = "all",
    beta_from: str = "entry",
) -> Any:
    queue = waiting(now, jobs)
    weight = min(0.5, max(0.1, 0.1 * len(queue) / int(batch)))
    if beta != "adaptive":
        weight = float(beta)

    def score(job: Job) -> float:
        caps = [min(int(most), memory - job.prompt) for most in (max_tokens, tail_tokens)]
        if capped == "log-t" and job.law[2] == 10**9:
            caps = [10**9, 10**9]
        mean, _ = survival_moments(*job.law, float(alpha), caps[0])
        _, tail = survival_moments(*job.law, float(alpha), caps[1] or caps[0])
        # at a common time T >= now the waited score is score * gamma**((T - arrival) / tau)
        return log(mean + weight * tail) + (0 - job.arrival) / float(tau) * log(float(gamma))

    for job in queue:
        if job.score is None:
            job.score = score(job)
    evicted, admitted = one_round_ahead(
        now, memory, jobs, lambda job: (job.score, job.index), batch if limited == "true" else "0"
    )
    for job in evicted if beta_from == "entry" else []:
        job.score = score(job)
    return evicted, admitted


def sept(now: int, memory: int, jobs: list[Job], max_tokens: str = "1024", batch: str = "0") -> Any:
    def mean(job: Job) -> float:
        return survival_moments(*job.law, 0.9, min(int(max_tokens), memory - job.prompt))[0]

    return one_round_ahead(now, memory, jobs, lambda job: (mean(job), job.index), batch)


def svf_1bit(now: int, memory: int, jobs: list[Job]) -> Any:
    def size(job: Job) -> int:
        return sum(held(job.prompt, age) for age in range(1, (job.lower + job.upper) // 2 + 1))

    return one_round_ahead(now, memory, jobs, lambda job: (size(job), job.index))


def gba(now: int, memory: int, jobs: list[Job], base: str = "2") -> Any:
    def phase(job: Job) -> int:
        return next(k for k in range(99) if slices(Fraction(base), k) >= job.output)

    def allowed(job: Job) -> int:
        return min(slices(Fraction(base), phase(job)), memory - job.prompt)

    admitted: list[Job] = []
    for job in sorted(waiting(now, jobs), key=lambda job: (phase(job), job.arrival, job.index)):
        free_from = max(other.slot for other in jobs)
        batch = [*admitted, job]
        if free_from >= now + 1 or not satisfies(now, memory, running(jobs), batch, allowed):
            break
        job.slot = max(free_from, Fraction(now)) + gap(job.prompt, allowed(job), memory)
        admitted.append(job)
    return [], admitted


def trail(
    now: int,
    memory: int,
    jobs: list[Job],
    seed: int = 0,
    c: str = "0.8",
    batch: str = "0",
    propagation: str = "corrected",
    bins: str = "10",
    longest: str = "512",
    spread: str = "0.2",
    correlation: str = "0",
    changes: str = "1",
) -> Any:
    k, width = int(bins), Fraction(int(longest), int(bins))
    rows = [[float(spread) ** abs(i - j) for j in range(k)] for i in range(k)]
    confusion = [[weight / sum(row) for weight in row] for row in rows]

    def refined(job: Job, age: int) -> float:
        return filtered(seed, job.index, job.output, age)

    @cache
    def filtered(seed: int, index: int, output: int, age: int) -> float:
        draws = errors(stream(seed, "answers", index), output, correlation, changes)
        outputs = []
        for tokens in range(age + 1):
            true = min(int((output - tokens) / width), k - 1)
            below, answer = 0.0, 0
            while answer < k - 1 and draws[tokens] > below + confusion[true][answer]:
                below += confusion[true][answer]
                answer += 1
            outputs.append(normalised([Fraction(row[answer]) for row in confusion]))
        if propagation == "printed":
            estimates = filter_as_printed(outputs, transition_as_printed(k, width))
        else:
            estimates = bayes_filter(outputs, transition(k, width))
        return float(mean_length(estimates[-1], width))

    return shortest_remaining(
        now, memory, jobs, first=lambda job: job.predicted, refined=refined, c=c, batch=batch
    )


def errors(rng: np.random.Generator, output: int, correlation: str, changes: str) -> list[float]:
    """One number a token: a step of the normal process, or the one before when none is renewed."""
    normal, rho, rate = NormalDist(), float(correlation), float(changes)
    state, shown, found = 0.0, 0.0, []
    for tokens in range(output):
        drawn = rng.random()
        if rho:
            news = normal.inv_cdf(drawn)
            state = rho * state + sqrt(1 - rho * rho) * news if tokens else news
            drawn = normal.cdf(state)
        if rate == 1 or rng.random() < rate or tokens == 0:
            shown = drawn
        found.append(shown)
    return found


RULES: dict[str, Callable[..., Any]] = {
    "tie": tie,
    "sept": sept,
    "ssjf": sjf,
    "ltr": sjf,
    "svf-1bit": svf_1bit,
    "gba": gba,
    "trail": trail,
}


def rule_of(key: str, **parameters: Any) -> Rule:
    return partial(RULES[key], **parameters)
