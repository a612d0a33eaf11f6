"""Policies of deadlines a second time: the whole queue is sorted in each round."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from admission import longest_prefix
from round_by_round import Job, believed_by, running, waiting

from ratiolab.model.footprint import held

Order = Callable[[Job, int], Any]


def last_start(job: Job, length: int) -> float:
    return min(job.deadline - length, job.first_by - 1)


def volume(job: Job, length: int) -> int:
    return sum(held(job.prompt, age) for age in range(1, length + 1))


ORDERS: dict[str, Order] = {
    "edf": lambda job, length: (min(job.deadline, job.first_by), job.arrival),
    "least-slack": lambda job, length: (last_start(job, length), job.arrival),
    "density": lambda job, length: Fraction(volume(job, length), job.weight),
}


def rule_of(key: str, lengths: str = "true", *, dated: bool = True) -> Any:
    """The rule of a policy; under a clock nobody counts as late."""

    def rule(now: int, memory: int, jobs: list[Job]) -> Any:
        believed, order = believed_by(lengths, memory), ORDERS[key]

        def rank(job: Job) -> Any:
            late = dated and last_start(job, believed(job)) < now
            return late, order(job, believed(job)), job.index

        queue = sorted(waiting(now, jobs), key=rank)
        return [], longest_prefix(now, memory, running(jobs), queue, believed)

    return rule
