"""Every policy a second time: each round from scratch, token by token, as the papers print it.

Nothing is shared with `ratiolab.online` but the footprint; `round_by_round` says how.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

from admission import largest_cardinality, longest_prefix, ordered, satisfies
from reference_intervals import a_ell, a_max, a_min, a_random, a_switch, h_sf
from reference_protection import alpha_protection
from reference_remaining import shortest_remaining
from round_by_round import (
    Job,
    Rule,
    believed_by,
    jobs_of,
    running,
    serve,
    serve_by_clock,
    tokens_next,
    waiting,
)

from ratiolab.model.footprint import held
from ratiolab.online.clock import BatchTime

__all__ = ["believed_by", "jobs_of", "largest_cardinality", "satisfies", "serve", "serve_by_clock"]

ROUNDS = BatchTime(fixed=1)


def mc_sf(now: int, memory: int, jobs: list[Job], lengths: str = "true", margin: str = "0") -> Any:
    believed = believed_by(lengths, memory)
    return ordered(now, memory, jobs, lambda job: (believed(job),), believed, margin)


def mc_benchmark(now: int, memory: int, jobs: list[Job], lengths: str = "true") -> Any:
    return ordered(now, memory, jobs, lambda job: (job.arrival,), believed_by(lengths, memory))


def work(job: Job, output: int, memory: int, clock: BatchTime) -> Fraction:
    """Seconds of the machine: the share of each batch's fixed time, and what the job adds to it."""
    cost = {
        name: Fraction(round(getattr(clock, name) * 10**12), 10**12)
        for name in ("fixed", "prefill", "decode", "kv")
    }
    shares = [Fraction(held(job.prompt, age), memory) for age in range(1, output + 1)]
    added = [
        cost["prefill"] * job.prompt,
        *(cost["decode"] + cost["kv"] * held(job.prompt, age) for age in range(1, output)),
    ]
    return cost["fixed"] * sum(shares) + sum(added)


def swf(now, memory, jobs, lengths="true", clock=ROUNDS):
    """Take the longest prefix in order of work; in rounds, the volume over the memory."""
    believed = believed_by(lengths, memory)
    return ordered(
        now, memory, jobs, lambda job: (work(job, believed(job), memory, clock),), believed
    )


def swf_fit(now, memory, jobs, lengths="true", ratio="1.75", candidates="20", clock=ROUNDS):
    """Start the shortest that fits of the first few by work, again and again."""
    believed = believed_by(lengths, memory)
    active = running(jobs)
    cleared = active if tokens_next(now, active) > memory else []
    kept = [job for job in active if job not in cleared]

    def size(job: Job) -> Fraction:
        return work(job, believed(job), memory, clock)

    queue = sorted(waiting(now, jobs), key=lambda job: (size(job), job.index))
    admitted: list[Job] = []
    while queue:
        few = [
            job for job in queue[: int(candidates)] if size(job) <= Fraction(ratio) * size(queue[0])
        ]
        fitting = [job for job in few if satisfies(now, memory, kept, [*admitted, job], believed)]
        if not fitting:
            break
        best = min(fitting, key=believed)  # the first of equals
        admitted.append(best)
        queue.remove(best)
    return cleared, admitted


def sorted_f(now: int, memory: int, jobs: list[Job]) -> Any:
    """Start the requests of one batch after the other, until the first that does not fit."""
    admitted: list[Job] = []
    while True:
        queue = [job for job in waiting(now, jobs) if job not in admitted]
        if not queue:
            return [], admitted
        batch = sorted(
            (job for job in queue if job.batch is not None),
            key=lambda job: (job.output, job.index),
        )
        if not batch:
            number = 1 + max((job.batch for job in jobs if job.batch is not None), default=0)
            for job in greedy_batch(queue, memory):
                job.batch = number
            continue
        together = longest_prefix(
            now, memory, running(jobs), admitted + batch, lambda job: job.output
        )
        if len(together) == len(admitted):
            return [], admitted
        admitted = together


def greedy_batch(queue: list[Job], memory: int) -> list[Job]:
    """Of all prefixes of three orders that fit at once, one of least F, the largest of them."""
    prefixes = []
    for order in (
        lambda job: job.output,
        lambda job: job.prompt + job.output,
        lambda job: sum(job.prompt + age for age in range(1, job.output + 1)),
    ):
        ranked = sorted(queue, key=lambda job: (order(job), job.output, job.index))
        prefixes += [ranked[:k] for k in range(1, len(ranked) + 1)]
    fitting = [p for p in prefixes if satisfies(0, memory, [], p, lambda job: job.output)]
    return min(fitting, key=lambda p: (ratio_f(p), -len(p)))


def ratio_f(batch: Sequence[Job]) -> Fraction:
    return Fraction(sum(job.output for job in batch), len(batch) ** 2)


def gsa(now: int, memory: int, jobs: list[Job], base: str = "2") -> Any:
    """Slices of base**phase rounds; a start takes a slot in the pipeline."""

    def allowed(job: Job) -> int:
        return min(slices(Fraction(base), job.phase), memory - job.prompt)

    killed = [job for job in running(jobs) if now - job.start == allowed(job)]
    active = [job for job in running(jobs) if job not in killed]
    for job in killed:
        job.phase += 1
    queue = sorted(waiting(now, jobs) + killed, key=lambda job: (job.phase, job.arrival, job.index))
    admitted: list[Job] = []
    for job in queue:
        free_from = max(other.slot for other in jobs)
        batch = [*admitted, job]
        if free_from >= now + 1 or not satisfies(now, memory, active, batch, allowed):
            break
        job.slot = max(free_from, Fraction(now)) + gap(job.prompt, allowed(job), memory)
        admitted.append(job)
    return killed, admitted


def gap(prompt: int, allowed: int, memory: int) -> Fraction:
    """Rounds after which evenly spaced starts just fill memory, rounded up to 1/M."""
    whole = sum(held(prompt, age) for age in range(1, allowed + 1))
    room = memory - prompt - Fraction(allowed, 2)
    spread = ceil(memory * (prompt * allowed + Fraction(allowed**2, 2)) / room)
    return min(Fraction(max(whole, spread), memory), Fraction(allowed))


def slices(base: Fraction, phase: int) -> int:
    """The phase-th of the different whole parts of the powers of a base."""
    found = [1]
    power = base
    while len(found) <= phase:
        if int(power) > found[-1]:
            found.append(int(power))
        power *= base
    return found[phase]


def one_round_ahead(now, memory, jobs, key, batch="0"):
    active = sorted(running(jobs), key=key)
    evicted = []
    while tokens_next(now, active) > memory:
        evicted.append(active.pop())
    admitted: list[Job] = []
    for job in sorted(waiting(now, jobs), key=key) if not evicted else []:
        taken = sum(held(other.prompt + other.kept, 1) for other in [*admitted, job])
        if tokens_next(now, active) + taken > memory:
            break
        if len(active) + len(admitted) == int(batch) > 0:
            break
        admitted.append(job)
    return evicted, admitted


def fcfs(now: int, memory: int, jobs: list[Job], batch: str = "0") -> Any:
    return one_round_ahead(now, memory, jobs, lambda job: (job.arrival, job.index), batch)


def sjf(now: int, memory: int, jobs: list[Job], batch: str = "0") -> Any:
    return one_round_ahead(now, memory, jobs, lambda job: (job.predicted, job.index), batch)


def round_robin(
    now: int,
    memory: int,
    jobs: list[Job],
    *,
    shortest: bool,
    quantum: str,
    starts: str = "all",
    counts: str = "run",
    batch: str = "0",
    victim: str = "first",
) -> Any:
    """Algorithm 1 of RR-SJF: preempt who has had a slice until the first in line fits."""

    def leaves(job: Job) -> tuple[int, int]:
        return (
            (-job.predicted, -job.index)
            if shortest
            else (job.turn if victim == "first" else -job.turn, 0)
        )

    def tokens(job: Job) -> int:
        return now - job.start + (job.kept if counts == "request" else 0)

    def line(job: Job) -> tuple[int, int, int]:
        return job.placed, job.predicted if shortest else job.turn, job.index

    active = sorted(running(jobs), key=leaves)
    evicted = []
    while tokens_next(now, active) > memory:
        evicted.append(active.pop(0))
    if evicted:
        return evicted, []
    admitted: list[Job] = []
    for job in sorted(waiting(now, jobs), key=line):
        needed = sum(held(other.prompt + other.kept, 1) for other in [*admitted, job])

        def full(needed: int = needed) -> bool:
            crowded = len(active) + len(admitted) == int(batch) > 0
            return crowded or tokens_next(now, active) + needed > memory

        eligible = [other for other in active if tokens(other) >= int(quantum)]
        while full() and eligible and not (admitted and starts == "fill"):
            active.remove(eligible[0])
            evicted.append(eligible.pop(0))
        if full():
            break
        admitted.append(job)
        if starts == "one":
            break
    return evicted, admitted


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
    "svf": swf,
    "svf-fit": swf_fit,
    "swf": swf,
    "swf-fit": swf_fit,
    "sorted-f": sorted_f,
    "gsa": gsa,
    "alpha-protection": alpha_protection,
    "rr": partial(round_robin, shortest=False),
    "rr-sjf": partial(round_robin, shortest=True),
    "srpt": partial(shortest_remaining, first=lambda job: job.output),
    "sprpt": partial(shortest_remaining, first=lambda job: job.predicted),
}


def rule_of(key: str, **parameters: str) -> Rule:
    return partial(RULES[key], **parameters)
