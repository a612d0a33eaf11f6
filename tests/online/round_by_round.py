"""Rounds played one by one, and the rules of `reference` that more than one policy needs.

Nothing is shared with `ratiolab.online` but the footprint and the coefficients of a clock. There
are no events, no sorted structures and no shortcuts: constraint (3) of Chen et al. (2025), which is
(5) of Jaillet et al. (2025), is checked by summing over every round in its range, for every prefix
anew; what a batch takes is summed over what each request does in it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from ratiolab.model import Instance
from ratiolab.model.footprint import held

Runs = list[tuple[int, ...]]
"""Request, start and stop; under ``pause`` also the round until which the cache stays."""


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
    batch: int | None = None
    phase: int = 0
    slot: Fraction = Fraction(0)
    kept: int = 0
    """Tokens from earlier runs, 0 under restart."""
    weight: int = 1
    deadline: float = inf
    first_by: float = inf
    law: tuple[int, int, int] = (0, 0, 0)
    """Location, scale and freedom of the predicted law."""
    score: float | None = None
    placed: int = 0
    """Round in which it was last placed in the queue."""
    turn: int = -1
    """Of its last start, counted from 0."""
    paused: int = 0
    """Position of its last eviction among all, from 1; 0 unless its cache has stayed since."""
    in_place: bool = False
    """Whether its last start found the cache in place."""


Rule = Callable[[int, int, list[Job]], tuple[list[Job], ...]]
"""Round, memory and all jobs to those evicted and those admitted now, and, if the rule cares, the
paused ones in the order in which they give up their caches."""


def jobs_of(instance: Instance) -> list[Job]:
    jobs = []
    for i, (arrival, prompt, output) in enumerate(instance.requests):
        most = instance.memory - prompt
        lower = 1 if instance.lower is None else int(instance.lower[i])
        upper = most if instance.upper is None else min(most, int(instance.upper[i]))
        predicted = output if instance.predicted is None else int(instance.predicted[i])
        job = Job(i, arrival, prompt, output, lower, upper, predicted, bound=lower)
        for name in instance.promises:
            setattr(job, name, int(getattr(instance, name)[i]))
        if instance.location is not None:
            columns = (instance.location, instance.scale, instance.freedom)
            job.law = tuple(int(column[i]) for column in columns)
        jobs.append(job)
    return jobs


def serve(instance, rule, rounds, preemption="restart", *, may_overflow=False):
    """Play at most so many rounds; the runs that ended, and whether all requests completed."""
    jobs = jobs_of(instance)
    for job in jobs:
        job.placed = job.arrival
    runs: Runs = []
    for now in range(rounds):
        finish(now, jobs, runs)
        if all(job.done for job in jobs):
            break
        evict_and_admit(now, instance.memory, jobs, rule, runs, preemption, may_overflow)
    return in_order(runs, preemption), all(job.done for job in jobs)


def serve_by_clock(instance, rule, rounds, preemption, clock):
    """Batch by batch, each timed by what it does; also seconds at every boundary played."""
    cost = {
        name: Fraction(round(getattr(clock, name) * 10**12), 10**12)
        for name in ("fixed", "prefill", "decode", "kv", "swap", "tick")
    }
    jobs = jobs_of(instance)
    due = [job.arrival * cost["tick"] for job in jobs]
    for job in jobs:
        job.arrival = rounds  # until it is delivered
    runs: Runs = []
    times = [min(due)]
    for now in range(rounds):
        finish(now, jobs, runs)
        if all(job.done for job in jobs):
            break
        for job in jobs:
            if job.arrival == rounds and due[job.index] <= times[-1]:
                job.arrival = job.placed = now
        before = {job.index for job in running(jobs)}
        evicted = evict_and_admit(now, instance.memory, jobs, rule, runs, preemption)
        active = running(jobs)
        if not active and not waiting(now, jobs):
            times.append(min(due[job.index] for job in jobs if job.arrival == rounds))
            continue
        begun = [job for job in active if job.start == now]
        assert before - {job.index for job in evicted} == {
            job.index for job in active if job not in begun
        }
        moved = sum(job.prompt + job.kept for job in evicted) if preemption == "swap" else 0
        prefilled = 0
        decoding = [job for job in active if job not in begun]
        for job in begun:
            if preemption == "swap" and job.kept:
                moved += job.prompt + job.kept
                decoding.append(job)
            elif job.in_place:
                decoding.append(job)
            else:
                prefilled += job.prompt + job.kept
        read = sum(job.prompt + job.kept + now - job.start for job in decoding)
        times.append(
            times[-1]
            + cost["fixed"]
            + cost["prefill"] * prefilled
            + cost["decode"] * len(decoding)
            + cost["kv"] * read
            + cost["swap"] * moved
        )
    return in_order(runs, preemption), all(job.done for job in jobs), times


def finish(now: int, jobs: list[Job], runs: Runs) -> None:
    for job in running(jobs):
        if now - job.start == job.output - job.kept:
            runs.append((job.index, job.start, now))
            job.start, job.done = None, True


def evict_and_admit(now, memory, jobs, rule, runs, preemption, may_overflow=False):
    evicted, admitted, *order = rule(now, memory, jobs)
    for job in evicted:
        runs.append((job.index, job.start, now))
        if preemption != "restart":
            job.kept += now - job.start
        if preemption == "pause":
            job.paused = len(runs)
        job.start, job.placed = None, now
    for job in admitted:
        assert job.start is None
        assert not job.done
        assert job.arrival <= now
        job.start, job.turn = now, 1 + max(other.turn for other in jobs)
        job.in_place = job.paused > 0
        if job.in_place:
            give_up(job, now, runs)
    paused = order[0] if order else sorted(jobs, key=lambda job: -job.paused)
    paused = [job for job in paused if job.paused]
    while tokens_next(now, running(jobs)) + sum(job.prompt + job.kept for job in paused) > memory:
        if not paused and may_overflow:
            break
        assert paused, "the running requests exceed the memory"
        give_up(paused.pop(0), now, runs)
    return evicted


def give_up(job: Job, now: int, runs: Runs) -> None:
    """Take the cache of a paused request at a round, or let it run on from there."""
    runs[job.paused - 1] += (now,)
    job.paused = 0


def in_order(runs: Runs, preemption: str) -> Runs:
    if preemption == "pause":
        runs = [run if len(run) == 4 else (*run, run[2]) for run in runs]
    return sorted(runs, key=lambda run: (run[1], run[0]))


def running(jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if job.start is not None]


def waiting(now: int, jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if job.start is None and not job.done and job.arrival <= now]


def tokens_next(now: int, active: Iterable[Job]) -> int:
    return sum(held(job.prompt + job.kept, now + 1 - job.start) for job in active)


def believed_by(lengths: str, memory: int) -> Callable[[Job], int]:
    return {
        "true": lambda job: job.output,
        "upper": lambda job: job.upper,
        "predicted": lambda job: min(job.predicted, memory - job.prompt),
    }[lengths]
