"""Skip-join queues a second time: lists of requests, moved by hand every round."""

from math import ceil
from typing import Any

from round_by_round import Job, running, tokens_next, waiting

from ratiolab.model.footprint import held


class Queues:
    """One run: lists of requests, the first one first; a rule of `round_by_round`."""

    def __init__(self, slice, ratio, queues, prompt, patience, batch):
        self.lists: list[list[Job]] = [[] for _ in range(queues)]
        self.slices = [slice * ratio**k for k in range(queues)]
        self.prompt, self.patience, self.batch = prompt, patience, batch
        self.used: dict[int, int] = {}
        self.waited: dict[int, int] = {}
        self.started: set[int] = set()

    def move(self, job: Job, queue: int) -> None:
        for jobs in self.lists:
            if job in jobs:
                jobs.remove(job)
        self.lists[queue].append(job)
        self.used[job.index] = 0

    def __call__(self, now: int, memory: int, jobs: list[Job]) -> Any:
        last = len(self.lists) - 1
        for queue in self.lists:
            queue[:] = [job for job in queue if not job.done]
        known = [job for queue in self.lists for job in queue]
        for job in known:
            if job.start is not None:
                self.used[job.index] += 1
            else:
                self.waited[job.index] += 1
        for job in sorted(waiting(now, jobs), key=lambda job: job.index):
            if job not in known:
                rounds = max(1, ceil(job.prompt / self.prompt))
                fitting = [k for k in range(last) if self.slices[k] >= rounds]
                self.move(job, min([*fitting, last]))
                self.waited[job.index] = 0
        for number, queue in reversed(list(enumerate(self.lists[:last]))):
            for job in [job for job in queue if job.start is not None]:
                if self.used[job.index] >= self.slices[number]:
                    self.move(job, number + 1)
        for job in [job for queue in self.lists for job in queue if job.start is None]:
            if self.waited[job.index] >= self.patience > 0:
                self.move(job, 0)
                self.waited[job.index] = 0
        return self.fill(now, memory, jobs)

    def fill(self, now: int, memory: int, jobs: list[Job]) -> Any:
        stay: list[Job] = []
        admitted: list[Job] = []
        starts = True
        for job in [job for queue in self.lists for job in queue]:
            new = sum(held(other.prompt + other.kept, 1) for other in admitted)
            full = len(stay) + len(admitted) == self.batch > 0
            if job.start is not None:
                if full or tokens_next(now, [*stay, job]) + new > memory:
                    break
                stay.append(job)
            elif starts:
                needed = new + held(job.prompt + job.kept, 1)
                starts = not full and tokens_next(now, stay) + needed <= memory
                if starts:
                    admitted.append(job)
        evicted = [job for job in running(jobs) if job not in stay]
        for job in evicted:
            self.waited[job.index] = 0
        for job in admitted:
            if job.index not in self.started and not job.kept:
                self.used[job.index] += max(1, ceil(job.prompt / self.prompt)) - 1
            self.started.add(job.index)
        order = [job for queue in self.lists for job in queue]
        drop = [job for job in order if job not in admitted and (job.paused or job in evicted)]
        return evicted, admitted, drop[::-1]
