"""A row of an evaluation: one policy, or the log itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ratiolab.evaluation.demand import running_at_a_time, waiting_share
from ratiolab.evaluation.load import keeps_up
from ratiolab.evaluation.saving import bootstrap
from ratiolab.evaluation.service import Metric, Service
from ratiolab.online import Policy, Simulation
from ratiolab.ratio.ranking import Ranked


@dataclass(frozen=True)
class Row(Ranked):
    """The figures of one policy, or of the log itself, on the requests.

    Parameters
    ----------
    name : name of the policy, or ``observed``.
    services : one for each seed; empty when a run did not end.
    policy : None for the log.
    evictions : mean over the seeds.
    run : the one of the first seed; None for the log.
    bounds : for a log with incomplete requests, on each metric of its completed requests; NaN
        where there is no comparison. None: the bounds of the evaluation.
    """

    name: str
    services: tuple[Service, ...] = field(repr=False)
    policy: Policy | None = None
    evictions: float = 0.0
    run: Simulation | None = field(default=None, repr=False)
    bounds: Mapping[str, float] | None = field(default=None, repr=False)

    @cached_property
    def waiting(self) -> float:
        """The part of all latencies that is waiting, in the run of the first seed; 1 without."""
        return 1.0 if self.run is None else waiting_share(self.run)

    @cached_property
    def running(self) -> float | None:
        """How many requests run at a time in the mean, in the run of the first seed."""
        done = self.run is not None and self.run.outcome == "complete"
        return running_at_a_time(self.run) if done and self.run is not None else None

    @cached_property
    def keeps_up(self) -> bool:
        """Whether the server ends soon after the last arrival, in the run of the first seed."""
        return self.run is not None and keeps_up(self.run)

    def value(self, metric: Metric) -> float:
        """Return the mean of a metric over the seeds; NaN when a run did not end."""
        if not self.services:
            return float("nan")
        return float(np.mean([metric.value(service) for service in self.services]))

    def interval(self, metric: Metric) -> tuple[float, float] | None:
        """Return the bootstrap interval of a metric over seeds; None with fewer than three."""
        if len(self.services) < 3:
            return None
        values = np.array([metric.value(service) for service in self.services])
        return bootstrap(len(values), lambda drawn: float(values[drawn].mean()))
