"""Shortest remaining output first a second time, every round from scratch."""

from fractions import Fraction
from math import floor

from round_by_round import Job, running, tokens_next, waiting

from ratiolab.model.footprint import held


def shortest_remaining(now, memory, jobs, *, first, refined=None, c="1", batch="0"):
    """Rank everybody who is there, running or not, and serve from the top while it fits."""

    def rank(job: Job, waits: bool | None = None) -> tuple[bool, float, bool, int, int]:
        had = job.kept if job.start is None else job.kept + now - job.start
        left = refined(job, had) if refined is not None and had else first(job) - had
        preemptable = had < max(1, floor(Fraction(c) * first(job)))
        waits = job.start is None if waits is None else waits
        return preemptable, left, waits, job.arrival, job.index

    stay: list[Job] = []
    admitted: list[Job] = []
    starts = True
    for job in sorted(running(jobs) + waiting(now, jobs), key=rank):
        held_by_new = sum(held(other.prompt + other.kept, 1) for other in admitted)
        full = len(stay) + len(admitted) == int(batch) > 0
        if job.start is not None:
            if full or tokens_next(now, [*stay, job]) + held_by_new > memory:
                break
            stay.append(job)
        elif starts:
            needed = held_by_new + held(job.prompt + job.kept, 1)
            starts = not full and tokens_next(now, stay) + needed <= memory
            if starts:
                admitted.append(job)
    evicted = [job for job in running(jobs) if job not in stay]
    lasting = [job for job in jobs if job in evicted or (job.paused and job not in admitted)]
    leaving = sorted(lasting, key=lambda job: rank(job, waits=True), reverse=True)
    return evicted, admitted, leaving
