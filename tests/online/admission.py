"""What may be admitted in a round, and in which order, counted token by token."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import floor

from round_by_round import Job, running, tokens_next, waiting

from ratiolab.model.footprint import held


def satisfies(now, memory, active, batch, believed):
    """(3), at every round of its range; who has outlived its belief ends in the next round."""

    def left(job: Job) -> int:
        return max(1, believed(job) - job.kept)

    lives = [(j.prompt + j.kept, j.start, max(left(j), now + 1 - j.start)) for j in active]
    lives += [(job.prompt + job.kept, now, left(job)) for job in batch]
    last = max((now + left(job) for job in batch), default=now)
    for time in range(now + 1, last + 1):
        tokens = sum(
            held(size, time - start) for size, start, life in lives if time - start <= life
        )
        if tokens > memory:
            return False
    return True


def longest_prefix(now, memory, active, queue, believed):
    """(6): among all prefixes that satisfy the constraint, the one with most requests."""
    sizes = range(len(queue) + 1)
    good = [k for k in sizes if satisfies(now, memory, active, queue[:k], believed)]
    return queue[: max(good)]


def largest_cardinality(now, memory, active, queue, believed):
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


def ordered(now, memory, jobs, key, believed, margin="0"):
    """Sort, admit the longest prefix; clear everybody when memory would overflow."""
    active, queue = running(jobs), waiting(now, jobs)
    cleared = active if tokens_next(now, active) > memory else []
    kept = [job for job in active if job not in cleared]
    queue = sorted(queue, key=lambda job: (*key(job), job.index))
    within = floor((1 - Fraction(margin)) * memory)  # tokens are whole
    alone = queue[:1] if queue and not kept else []
    if satisfies(now, within, [], alone, believed):
        return cleared, longest_prefix(now, within, kept, queue, believed)
    started = [replace(job, start=now) for job in alone]
    return cleared, alone + longest_prefix(now, within, started, queue[1:], believed)
