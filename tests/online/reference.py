"""Every policy a second time: each round from scratch, token by token, as the papers print it.

Nothing is shared with `ratiolab.online` but the footprint. There are no events, no sorted
structures and no shortcuts: constraint (3) of Chen et al. (2025), which is (5) of Jaillet et al.
(2025), is checked by summing over every round in its range, for every prefix anew.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import partial
from itertools import combinations
from typing import Any

from ratiolab.model import Instance
from ratiolab.model.footprint import held

Runs = list[tuple[int, int, int]]


@dataclass
class Job:
    """A request and where it stands; `start` is None unless it runs."""

    index: int
    arrival: int
    prompt: int
    output: int
    lower: int
    upper: int
    predicted: int
    bound: int = 0
    start: int | None = None
    done: bool = False
    promoted: int | None = None


Rule = Callable[[int, int, list[Job]], tuple[list[Job], list[Job]]]
"""Round, memory and all jobs to those evicted and those admitted now."""


def jobs_of(instance: Instance) -> list[Job]:
    jobs = []
    for i, (arrival, prompt, output) in enumerate(instance.requests):
        most = instance.memory - prompt
        lower = 1 if instance.lower is None else int(instance.lower[i])
        upper = most if instance.upper is None else min(most, int(instance.upper[i]))
        predicted = output if instance.predicted is None else int(instance.predicted[i])
        jobs.append(Job(i, arrival, prompt, output, lower, upper, predicted, bound=lower))
    return jobs


def serve(instance: Instance, rule: Rule, rounds: int) -> tuple[Runs, bool]:
    """Play at most so many rounds; the runs that ended, and whether all requests completed."""
    jobs = jobs_of(instance)
    runs: Runs = []
    for now in range(rounds):
        for job in running(jobs):
            if now - job.start == job.output:
                runs.append((job.index, job.start, now))
                job.start, job.done = None, True
        if all(job.done for job in jobs):
            break
        evicted, admitted = rule(now, instance.memory, jobs)
        for job in evicted:
            runs.append((job.index, job.start, now))
            job.start = None
        for job in admitted:
            assert job.start is None
            assert not job.done
            assert job.arrival <= now
            job.start = now
        assert tokens_next(now, running(jobs)) <= instance.memory
    return sorted(runs, key=lambda run: (run[1], run[0])), all(job.done for job in jobs)


def running(jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if job.start is not None]


def waiting(now: int, jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if job.start is None and not job.done and job.arrival <= now]


def tokens_next(now: int, active: Iterable[Job]) -> int:
    return sum(held(job.prompt, now + 1 - job.start) for job in active)


def satisfies(
    now: int, memory: int, active: list[Job], batch: list[Job], believed: Callable[[Job], int]
) -> bool:
    """(3), at every round of its range; who has outlived its belief ends in the next round."""
    last = max((now + believed(job) for job in batch), default=now)
    for time in range(now + 1, last + 1):
        tokens = 0
        for job in active:
            if time - job.start <= max(believed(job), now + 1 - job.start):
                tokens += held(job.prompt, time - job.start)
        for job in batch:
            if time - now <= believed(job):
                tokens += held(job.prompt, time - now)
        if tokens > memory:
            return False
    return True


def longest_prefix(
    now: int, memory: int, active: list[Job], queue: list[Job], believed: Callable[[Job], int]
) -> list[Job]:
    """(6): among all prefixes that satisfy the constraint, the one with most requests."""
    sizes = range(len(queue) + 1)
    good = [k for k in sizes if satisfies(now, memory, active, queue[:k], believed)]
    return queue[: max(good)]


def largest_cardinality(
    now: int, memory: int, active: list[Job], queue: list[Job], believed: Callable[[Job], int]
) -> tuple[int, int]:
    """Size of a largest subset that satisfies the constraint, and its least sum of prompts."""
    for size in range(len(queue), -1, -1):
        prompts = [
            sum(job.prompt for job in subset)
            for subset in combinations(queue, size)
            if satisfies(now, memory, active, list(subset), believed)
        ]
        if prompts:
            return size, min(prompts)
    raise AssertionError("the empty set fits")


def entering(ties: str, job: Job) -> int:
    return {"index": job.index, "worst": -job.output, "best": job.output}[ties]


def leaving(ties: str, job: Job) -> int:
    return {"index": job.index, "worst": job.output, "best": -job.output}[ties]


def ordered(
    now: int,
    memory: int,
    jobs: list[Job],
    key: Callable[[Job], tuple[int, ...]],
    believed: Callable[[Job], int],
) -> tuple[list[Job], list[Job]]:
    """Sort, admit the longest prefix; clear everybody when memory would overflow."""
    active, queue = running(jobs), waiting(now, jobs)
    cleared = active if tokens_next(now, active) > memory else []
    kept = [job for job in active if job not in cleared]
    queue = sorted(queue, key=lambda job: (*key(job), job.index))
    return cleared, longest_prefix(now, memory, kept, queue, believed)


def believed_by(lengths: str, memory: int) -> Callable[[Job], int]:
    return {
        "true": lambda job: job.output,
        "upper": lambda job: job.upper,
        "predicted": lambda job: min(job.predicted, memory - job.prompt),
    }[lengths]


def mc_sf(now: int, memory: int, jobs: list[Job], lengths: str = "true") -> Any:
    believed = believed_by(lengths, memory)
    return ordered(now, memory, jobs, lambda job: (believed(job),), believed)


def mc_benchmark(now: int, memory: int, jobs: list[Job], lengths: str = "true") -> Any:
    return ordered(now, memory, jobs, lambda job: (job.arrival,), believed_by(lengths, memory))


def h_sf(now: int, memory: int, jobs: list[Job]) -> Any:
    return ordered(now, memory, jobs, lambda job: (job.output,), lambda job: job.output)


def a_max(now: int, memory: int, jobs: list[Job], ties: str) -> Any:
    return ordered(
        now, memory, jobs, lambda job: (job.upper, entering(ties, job)), lambda job: job.upper
    )


def a_random(now: int, memory: int, jobs: list[Job], ties: str) -> Any:
    return ordered(now, memory, jobs, lambda job: (entering(ties, job),), lambda job: job.output)


def a_min(now: int, memory: int, jobs: list[Job], ties: str, bound: str = "certified") -> Any:
    active = sorted(running(jobs), key=lambda job: (job.bound, leaving(ties, job), job.index))
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


def one_round_ahead(
    now: int, memory: int, jobs: list[Job], key: Callable[[Job], tuple[int, int]]
) -> tuple[list[Job], list[Job]]:
    active = sorted(running(jobs), key=key)
    evicted = []
    while tokens_next(now, active) > memory:
        evicted.append(active.pop())
    admitted: list[Job] = []
    for job in sorted(waiting(now, jobs), key=key) if not evicted else []:
        taken = sum(held(other.prompt, 1) for other in [*admitted, job])
        if tokens_next(now, active) + taken > memory:
            break
        admitted.append(job)
    return evicted, admitted


def fcfs(now: int, memory: int, jobs: list[Job]) -> Any:
    return one_round_ahead(now, memory, jobs, lambda job: (job.arrival, job.index))


def sjf(now: int, memory: int, jobs: list[Job]) -> Any:
    return one_round_ahead(now, memory, jobs, lambda job: (job.predicted, job.index))


RULES: dict[str, Callable[..., Any]] = {
    "mc-sf": mc_sf,
    "mc-benchmark": mc_benchmark,
    "h-sf": h_sf,
    "a-max": a_max,
    "a-random": a_random,
    "a-min": a_min,
    "a-ell": a_ell,
    "a-switch": a_switch,
    "fcfs": fcfs,
    "sjf": sjf,
}


def rule_of(key: str, **parameters: str) -> Rule:
    return partial(RULES[key], **parameters)
