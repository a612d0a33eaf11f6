"""Demand of a log: when its requests arrive, the work they need, and whether any waits.

The work of a request is the least time that it takes of a server whose memory is always full: a
batch lasts at least as long as the work done in it, as `ratiolab.ratio.clock_bound` shows. Over the
time of the arrivals it is the load; above 1 no schedule keeps up, whatever its policy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratiolab.evaluation.service import isolated_service
from ratiolab.model import Instance, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.online import Simulation
from ratiolab.online.clock import ROUNDS, BatchTime
from ratiolab.online.metrics import per_request

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Demand:
    """Demand of a log on a server.

    Parameters
    ----------
    requests : how many.
    span : from the first arrival to the last, seconds, or rounds without a clock.
    work : the least time that all requests take of a server, in the same unit.
    longest : what the longest request takes alone.
    """

    requests: int
    span: float
    work: float
    longest: float = 0.0

    @classmethod
    def of(cls, instance: Instance, clock: BatchTime | None, preemption: Preemption) -> "Demand":
        """Return the demand of an instance under a clock and the semantics of evictions."""
        tick = 1.0 if clock is None else instance.tick_seconds or 0.0
        span = float(instance.arrival.max() - instance.arrival.min()) * tick
        alone = float(isolated_service(instance, clock, preemption).latency.max())
        return cls(len(instance), span, float(works(instance, clock, preemption).sum()), alone)

    @property
    def is_burst(self) -> bool:
        """Whether all requests arrive while the longest could not end: no load is told."""
        return self.span < self.longest

    @property
    def rate(self) -> float | None:
        """Requests in a unit of time; None when all arrive at once."""
        return self.requests / self.span if self.span else None

    @property
    def load(self) -> float | None:
        """Work over span, a lower bound on the part of the time that a server is busy."""
        return self.work / self.span if self.span else None


def works(instance: Instance, clock: BatchTime | None, preemption: Preemption) -> Times:
    """Return the least time that each request takes of a server, shape (n,).

    Each token counts with its share of the fixed time of a batch, what is held over the memory, and
    with what it adds to the batch. Under ``recompute`` and ``pause`` a batch may prefill what a
    request holds rather than decode, and the quicker of both counts.
    """
    time = ROUNDS if clock is None else clock
    prompt, output = instance.prompt, instance.output
    held = np.arange(int((prompt + output).max()) + 1, dtype=np.float64)
    added = time.decode + time.kv * held
    if EVICTIONS[preemption].refills:
        added = np.minimum(added, time.prefill * held)
    before = np.concatenate([[0.0], np.cumsum(added)])
    decoded = before[prompt + output] - before[prompt + 1]
    tokens = output * prompt + output * (output + 1) / 2
    found: Times = time.fixed * tokens / instance.memory + time.prefill * prompt + decoded
    return found


def waiting_share(run: Simulation) -> float:
    """Return the part of all latencies in which requests wait that a batch could take.

    The wait for the end of the batch that runs when a request arrives is none of it: no schedule
    avoids that. 1 for a run that did not end.
    """
    if run.outcome != "complete":
        return 1.0
    frame = per_request(run)
    instance = run.schedule.instance
    waiting, latency = float(frame["waiting"].sum()), float(frame["latency"].sum())
    if run.times is not None and run.arrivals is not None:
        waiting -= float((run.times[instance.arrival] - run.arrivals).sum())
    return max(waiting, 0.0) / latency


def running_at_a_time(run: Simulation) -> float:
    """Return how many requests are served at a time in the mean, from first arrival to last end."""
    frame = per_request(run)
    served = float((frame["latency"] - frame["waiting"]).sum())
    length = float(frame["completion"].max() - frame["arrival"].min())
    return served / length if length else float(len(frame))
