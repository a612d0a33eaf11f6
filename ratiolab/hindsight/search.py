"""The best schedule and bound so far: what the stages of a solve share."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.hindsight.bounds import Bound, best_lower_bound
from ratiolab.hindsight.dual_bound import dual_bound
from ratiolab.hindsight.heuristics import best_list_schedule, improved_schedule
from ratiolab.hindsight.result import OptResult, Progress, Report
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.hindsight.certificate import PriceCertificate

MOST_REQUESTS = 400
"""Most requests for which a program is considered: windows cost O(n^2 log n)."""


class Search:
    """The best schedule and bound so far, and what they cost."""

    def __init__(self, instance: Instance, options: Mapping[str, Any]) -> None:
        self.began = time.perf_counter()
        self.instance, self.options = instance, options
        self.nodes = 0
        self.interrupted = False
        self.formula: Bound = best_lower_bound(instance)
        self.lower = self.formula
        self.proof: PriceCertificate | None = None
        self.schedule = require_feasible(best_list_schedule(instance))

    def improve(self) -> None:
        """Search for a better schedule, and without a program for a better bound.

        When interrupted, what is known is kept.
        """
        rng = np.random.default_rng(self.options["seed"])
        self.offer(improved_schedule(self.schedule, rng, self.options["steps"]))
        if len(self.instance) > MOST_REQUESTS and self.lower.value < self.upper:
            priced = dual_bound(self.instance, self.upper)
            self.raise_lower(priced.value, priced.source)

    @property
    def upper(self) -> int:
        return self.schedule.total_latency

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def time_left(self) -> float | None:
        limit = self.options["time_limit"]
        return None if limit is None else max(0.0, limit - self.seconds)

    @property
    def nodes_left(self) -> int | None:
        limit = self.options["node_limit"]
        return None if limit is None else max(0, limit - self.nodes)

    @property
    def spent(self) -> bool:
        """Whether a limit is used up or Ctrl-C came."""
        return self.interrupted or self.time_left == 0 or self.nodes_left == 0

    def offer(self, schedule: Schedule) -> None:
        """Keep this schedule when it is better."""
        if schedule.total_latency < self.upper:
            self.schedule = require_feasible(schedule)

    def raise_lower(self, value: int | None, source: str) -> None:
        """Keep this bound when it is better."""
        if value is not None and value > self.lower.value:
            self.lower = Bound(value, source)

    def result(self, note: str = "") -> OptResult:
        lower, upper = self.lower, self.upper
        if lower.value > upper:
            raise AssertionError(f"{lower.source} claims {lower.value}, a schedule has {upper}")
        return OptResult(
            instance=self.instance,
            status="optimal" if lower.value == upper else "bounded",
            schedule=self.schedule,
            upper=upper,
            lower=lower.value,
            lower_source=lower.source,
            nodes=self.nodes,
            seconds=self.seconds,
            options=self.options,
            note=note,
            formula=self.formula,
            proof=self.proof,
        )

    def tell(self, progress: Report | None, nodes: int, lower: int | None) -> None:
        """Tell of the search so far, and of nodes and a bound that are not in it yet.

        A program's incumbent stays out: it may defer requests, and only checked schedules count.
        """
        if progress is not None:
            best = max(self.lower.value, lower or 0)
            progress(Progress(self.seconds, self.nodes + nodes, self.upper, best))
