"""The policies of Chen et al. (2025), which know an interval, as the paper prints them."""

from decimal import Decimal, localcontext
from typing import Any

from admission import entering, leaving, longest_prefix, ordered
from round_by_round import Job, running, tokens_next, waiting


def h_sf(now: int, memory: int, jobs: list[Job]) -> Any:
    return ordered(now, memory, jobs, lambda job: (job.output,), lambda job: job.output)


def a_max(now: int, memory: int, jobs: list[Job], ties: str, order: str = "upper") -> Any:
    def key(job: Job) -> tuple[int, ...]:
        return (job.upper, entering(ties, job)) if order == "upper" else (entering(ties, job),)

    return ordered(now, memory, jobs, key, lambda job: job.upper)


def a_random(now: int, memory: int, jobs: list[Job], ties: str) -> Any:
    return ordered(now, memory, jobs, lambda job: (entering(ties, job),), lambda job: job.output)


def a_min(now, memory, jobs, ties, bound="certified", victim="smallest"):
    def leaves(job: Job) -> tuple[int, ...]:
        first = job.bound if victim == "smallest" else -job.bound
        return first, leaving(ties, job), job.index

    active = sorted(running(jobs), key=leaves)
    queue = sorted(waiting(now, jobs), key=lambda job: (job.bound, entering(ties, job), job.index))
    evicted = []
    while tokens_next(now, active) > memory:
        evicted.append(active.pop(0))
    for job in evicted:
        age = now - job.start
        job.bound = age if bound == "printed" else max(job.bound, age + 1)
    return evicted, longest_prefix(now, memory, active, queue, lambda job: job.bound)


def a_ell(now: int, memory: int, jobs: list[Job], ties: str) -> Any:
    on_trial = [job for job in running(jobs) if job.promoted is None and job.lower < job.upper]
    evicted = [job for job in on_trial if now - job.start == job.lower]
    for job in evicted:
        job.promoted, job.bound = now, job.upper
    active = [job for job in running(jobs) if job not in evicted]
    queue = waiting(now, jobs) + evicted
    first = [job for job in queue if job.promoted is None]
    last = [job for job in queue if job.promoted is not None]
    first.sort(key=lambda job: (job.arrival, entering(ties, job), job.index))
    last.sort(key=lambda job: (job.promoted, entering(ties, job), job.index))
    return evicted, longest_prefix(now, memory, active, first + last, lambda job: job.bound)


def a_switch(now: int, memory: int, jobs: list[Job], ties: str) -> Any:
    first = [job for job in jobs if job.arrival == min(job.arrival for job in jobs)]
    lower, upper = min(job.lower for job in first), max(job.upper for job in first)
    return (a_ell if below_threshold(lower, upper) else a_min)(now, memory, jobs, ties)


def below_threshold(lower: int, upper: int) -> bool:
    """l/u < (3 - sqrt 5)/2 with a hundred digits."""
    with localcontext() as context:
        context.prec = 100
        return Decimal(lower) / Decimal(upper) < (3 - Decimal(5).sqrt()) / 2
