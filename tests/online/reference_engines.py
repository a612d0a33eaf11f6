"""Serving engines a second time: step by step, as vLLM's loop over its lists reads.

Nothing is shared with `ratiolab.online` but the coefficients of a clock. A request counts the
tokens that are known of it and those whose keys and values are computed; each step hands out tokens
to compute, first down the list of the running requests, then down the queue, and whoever has all
known tokens computed makes one more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ratiolab.model import Instance
from ratiolab.online.clock import BatchTime

UNIT = BatchTime(fixed=1, tick=1)
"""Steps of one unit."""


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
    given: int = 0
    """Tokens to compute in this step."""
    size: int = 0
    """Known tokens at the beginning of this stay."""
    there: bool = False
    """Whether it has arrived."""
    since: int = 0
    """Step in which it did."""

    @property
    def made(self) -> int:
        return self.known - self.prompt

    def room(self, extra: int, block: int) -> int:
        """Tokens in its blocks after so many more are computed, that in the making included."""
        tokens = max(self.size + 1, self.computed + extra + 1)
        return (tokens + block - 1) // block * block


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


def serve(instance, first, victim, batch=0, budget=10**9, clock=None, block=1):
    """Request, start, stop, steps before the first token and tokens never prefilled of every stay
    in memory, in order of start; and the seconds at which each step begins."""
    every = requests_of(instance)
    memory = instance.memory // block * block
    cost = {
        name: Fraction(round(getattr(clock or UNIT, name) * 10**12), 10**12)
        for name in ("fixed", "prefill", "decode", "kv", "tick")
    }
    times = [min(request.arrival for request in every) * cost["tick"] if clock else Fraction(0)]
    waiting: list[Request] = []
    running: list[Request] = []
    stays = []
    step = 0
    while any(request.made < request.output for request in every):
        arrived = [
            request
            for request in every
            if not request.there and request.arrival * cost["tick"] <= times[step]
        ]
        for request in arrived:
            request.there, request.since = True, step
        waiting += sorted(arrived, key=lambda request: request.arrival)
        if not running and not waiting:
            coming = [request.arrival for request in every if not request.there]
            times.append(min(coming) * cost["tick"] if clock else times[-1] + 1)
            step += 1
            continue
        preempted = []
        left = budget
        for request in list(running):
            if request not in running:
                continue  # it was a victim
            request.given = min(request.known - request.computed, left)
            left -= request.given
        while len(running) > 1 and (
            sum(request.room(request.given, block) for request in running) > memory
        ):
            leaving = victim(running)
            running.remove(leaving)
            lead = (step if leaving.first is None else leaving.first) - leaving.began
            undone = leaving.size - leaving.computed if leaving.first is None else 0
            stays.append((leaving.index, leaving.began, step, lead, undone))
            left += leaving.given
            leaving.computed, leaving.first = 0, None
            waiting.insert(0, leaving)
            preempted.append(leaving)
        if preempted:  # those that stay share what the victims leave
            left = budget
            for request in running:
                request.given = min(request.known - request.computed, left)
                left -= request.given
        while waiting and not preempted and left and not len(running) == batch > 0:
            request = first(waiting)
            request.size = request.known
            request.given = min(request.known, left)
            held = sum(other.room(other.given, block) for other in running)
            if running and held + request.room(request.given, block) > memory:
                break
            waiting.remove(request)
            running.append(request)
            left -= request.given
            request.began = step
        decoding = [request for request in running if request.first is not None]
        filling = [request for request in running if request.first is None]
        times.append(
            times[-1]
            + cost["fixed"]
            + cost["prefill"] * sum(request.given for request in filling)
            + cost["decode"] * len(decoding)
            + cost["kv"] * sum(request.computed for request in filling)
            + cost["kv"] * sum(request.known for request in decoding)
        )
        for request in list(running):
            request.computed += request.given
            if request.computed < request.known:
                continue
            request.known += 1
            if request.first is None:
                request.first = step
            if request.made == request.output:
                running.remove(request)
                lead = request.first - request.began
                stays.append((request.index, request.began, step + 1, lead, 0))
        step += 1
    return sorted(stays, key=lambda stay: (stay[1], stay[0])), times
