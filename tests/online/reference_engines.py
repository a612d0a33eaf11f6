"""Serving engines a second time: step by step, as vLLM's loop over its lists reads.

Nothing is shared with `ratiolab.online`. A request counts the tokens that are known of it and those
whose keys and values are computed; each step hands out tokens to compute, first down the list of
the running requests, then down the queue, and whoever has all known tokens computed makes one more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ratiolab.model import Instance


@dataclass
class Request:
    index: int
    arrival: int
    prompt: int
    output: int
    predicted: int
    known: int = 0
    """Tokens of the prompt and those made."""
    computed: int = 0
    began: int = 0
    first: int | None = None
    """Step of this stay in which its first token was made."""
    size: int = 0
    """Known tokens at the beginning of this stay."""

    @property
    def made(self) -> int:
        return self.known - self.prompt

    def room(self, extra: int) -> int:
        """Tokens that it holds after so many more are computed, that in the making included."""
        return max(self.size + 1, self.computed + extra + 1)


def requests_of(instance: Instance) -> list[Request]:
    predicted = instance.output if instance.predicted is None else instance.predicted
    columns = (instance.arrival, instance.prompt, instance.output, predicted)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Request(i, *row, known=row[1]) for i, row in enumerate(rows)]


VICTIMS: dict[str, Callable[[list[Request]], Request]] = {
    # min and max return the first of equals, so the list is read from its end
    "last": lambda running: running[-1],
    "least-computed": lambda running: min(running[::-1], key=lambda r: r.computed),
    "most-computed": lambda running: max(running[::-1], key=lambda r: r.computed),
    "longest-remaining": lambda running: max(running[::-1], key=lambda r: r.predicted - r.made),
}


def fcfs(waiting: list[Request]) -> Request:
    return waiting[0]


def by(key: Callable[[Request], Any]) -> Callable[[list[Request]], Request]:
    return lambda requests: min(requests, key=lambda r: (key(r), r.arrival, r.index))


def last_by(key: Callable[[Request], Any]) -> Callable[[list[Request]], Request]:
    return lambda requests: max(requests, key=lambda r: (key(r), r.arrival, r.index))


def serve(
    instance: Instance,
    first: Callable[[list[Request]], Request],
    victim: Callable[[list[Request]], Request],
    batch: int = 0,
) -> list[tuple[int, int, int]]:
    """Request, start and stop of every stay in memory, in order of start."""
    every = requests_of(instance)
    waiting: list[Request] = []
    running: list[Request] = []
    stays = []
    step = 0
    while any(request.made < request.output for request in every):
        waiting += [request for request in every if request.arrival == step]
        preempted = []
        for request in list(running):
            if request not in running:
                continue  # it was a victim
            while sum(other.room(other.known - other.computed) for other in running) > (
                instance.memory
            ):
                leaving = victim(running)
                running.remove(leaving)
                stays.append((leaving.index, leaving.began, step))
                leaving.computed = 0
                waiting.insert(0, leaving)
                preempted.append(leaving)
        while waiting and not preempted and not len(running) == batch > 0:
            request = first(waiting)
            request.size = request.known
            held = sum(other.room(other.known - other.computed) for other in running)
            if held + request.room(request.known) > instance.memory:
                break
            waiting.remove(request)
            running.append(request)
            request.began = step
        step += 1
        for request in list(running):
            request.computed = request.known
            request.known += 1
            if request.made == request.output:
                running.remove(request)
                stays.append((request.index, request.began, step))
    return sorted(stays, key=lambda stay: (stay[1], stay[0]))
