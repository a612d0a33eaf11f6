"""Result of an evaluation: rows of policies on one log, bounds, and what to deploy."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.evaluation.advice import Advice
from ratiolab.evaluation.demand import Demand
from ratiolab.evaluation.needs import Need, need
from ratiolab.evaluation.promise import Promise
from ratiolab.evaluation.row import Row
from ratiolab.evaluation.saving import Saving
from ratiolab.evaluation.service import Metric
from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.model import Instance, Preemption
from ratiolab.model.display import Result
from ratiolab.online.clock import BatchTime
from ratiolab.online.registry import describe
from ratiolab.ratio.ranking import Ranking

if TYPE_CHECKING:
    import pandas as pd

GIVEN = "the caller"
"""Source of an optimum that was given as two numbers: nothing here proves it."""

HOPELESS = 3.0
"""Factor on the metric of the policy in use beyond which a policy is only named."""


@dataclass(frozen=True, eq=False)
class Evaluation(Ranking[Row], Advice, Result):
    """Rows sorted by a metric, a certified bound on it, and a recommendation.

    Parameters
    ----------
    instance, clock, preemption : what was served, how long batches take, what an eviction costs.
    metric : what rows are sorted by.
    bounds : on each metric, for every schedule under the same clock and semantics.
    rows : of policies that can be deployed, of policies that know everything, and of the log.
    current : the policy that the others are compared with.
    saving : of the best policy that can be deployed; None when that is the current one.
    skipped : policies that were left out, and why.
    interrupted : whether Ctrl-C ended it before all policies had run.
    certificate : certificate of the bound on the mean latency, if there was time for one.
    promise : which requests are in time under the objective, and what bounds them; None without.
    optimum : two ends around the total latency of the hindsight optimum, rounds; None without it.
    optimum_source : what proves the lower end, or `GIVEN`; None without it.
    """

    instance: Instance
    clock: BatchTime | None
    preemption: Preemption
    metric: Metric
    metrics: tuple[Metric, ...]
    bounds: dict[str, float]
    rows: tuple[Row, ...]
    current: str
    saving: Saving | None
    skipped: tuple[tuple[str, str], ...] = ()
    interrupted: bool = False
    optimum: tuple[float, float] | None = None
    promise: Promise | None = None
    certificate: SecondsCertificate | None = None
    optimum_source: str | None = None

    @property
    def observed(self) -> Row | None:
        """The row of the log itself."""
        return next((row for row in self.rows if row.policy is None), None)

    @property
    def unit(self) -> str:
        """The unit of all times."""
        return "rounds" if self.clock is None else "s"

    def ratio(self, row: Row, metric: Metric | None = None) -> float:
        """Return an upper bound on the ratio of a row to the best schedule in a metric.

        The ratio is NaN if the metric has no bound.
        """
        metric = metric or self.metric
        bound = (row.bounds or self.bounds)[metric.key]
        return float("nan") if isnan(bound) else metric.ratio(row.value(metric), bound)

    def without_ratio_of_log(self) -> "Evaluation":
        """Return the evaluation with a row of the log that is not compared with the bound."""
        none = dict.fromkeys(self.bounds, float("nan"))
        rows = tuple(row if row.policy else replace(row, bounds=none) for row in self.rows)
        return replace(self, rows=rows)

    @property
    def taken_on_trust(self) -> bool:
        """Whether the bound in use is an optimum that the caller gave as a number."""
        return self.optimum_source == GIVEN and self.metric.key == "mean"

    @cached_property
    def demand(self) -> Demand:
        """Demand of the log."""
        return Demand.of(self.instance, self.clock, self.preemption)

    def need(self, row: Row) -> Need:
        """Return what the owner of a server must have to run a policy."""
        return Need.NOTHING if row.policy is None else need(row.policy, self.instance)

    @property
    def deployable(self) -> list[Row]:
        """Rows of policies that need no more than the one in use, the best first."""
        most = self.need(self.row(self.current))
        return [row for row in self.rows if row.policy is not None and self.need(row) <= most]

    @property
    def predicting(self) -> list[Row]:
        """Rows of further policies that need predictions, the best first."""
        most = self.need(self.row(self.current))
        return [row for row in self.rows if most < self.need(row) <= Need.PREDICTION]

    @property
    def knowing(self) -> list[Row]:
        """Rows of policies that know everything in advance, the best first."""
        most = self.need(self.row(self.current))
        return [row for row in self.rows if most < self.need(row) == Need.EVERYTHING]

    @property
    def groups(self) -> list[tuple[str, list[Row]]]:
        """Rows under the titles of tables; there is no title without rows."""
        groups = [
            ("Ready to deploy", self.deployable),
            ("Need predictions", self.predicting),
            ("Know every output", self.knowing),
            ("The log itself", [row for row in self.rows if row.policy is None]),
        ]
        return [(title, rows) for title, rows in groups if rows]

    def hopeless(self, row: Row) -> bool:
        """Return whether a row never ends, or is worse than the policy in use by `HOPELESS`."""
        if row.policy is None or row.name == self.current:
            return False
        now, then = self.row(self.current).value(self.metric), row.value(self.metric)
        if isnan(then) or isnan(now):
            return isnan(then) and not isnan(now)
        return self.metric.ratio(then, now) > HOPELESS

    @property
    def listed(self) -> list[tuple[str, list[Row]]]:
        """The groups with the rows worth a line: not hopeless, and only the best policy that knows
        everything, as a yardstick."""
        kept = []
        for title, rows in self.groups:
            some = [row for row in rows if not self.hopeless(row)]
            yardsticks = [row for row in some if row in self.knowing][1:]
            if some := [row for row in some if row not in yardsticks]:
                kept.append((title, some))
        return kept

    def ratio_interval(self, row: Row) -> tuple[float, float] | None:
        """Return the ratio at the ends of `Row.interval`; None where there is none."""
        ends = row.interval(self.metric)
        if ends is None:
            return None
        ratios = [self.metric.ratio(end, self.bounds[self.metric.key]) for end in ends]
        return min(ratios), max(ratios)

    @property
    def enclosure(self) -> tuple[float, float]:
        """Two ends around the metric of the best schedule: the bound, and the best row known."""
        known = [row.value(self.metric) for row in self.rows if is_schedule(row)]
        if self.optimum is not None and self.metric.key == "mean":
            known.append(self.optimum[1] / len(self.instance))
        pick = max if self.metric.larger_is_better else min
        low, high = sorted((self.bounds[self.metric.key], pick(known, default=float("nan"))))
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, without the times of single requests."""
        saving = self.saving
        return {
            "instance": self.instance.name,
            "digest": self.instance.digest,
            "requests": len(self.instance),
            "memory": self.instance.memory,
            "unit": self.unit,
            "preemption": self.preemption,
            "interrupted": self.interrupted,
            "metric": self.metric.key,
            "bounds": self.bounds,
            "best_schedule": list(self.enclosure),
            "optimum": None if self.optimum is None else list(self.optimum),
            "optimum_source": self.optimum_source,
            "current": self.current,
            "rows": [self._row(row) for row in self.rows],
            "saving": None
            if saving is None
            else {
                "relative": saving.relative,
                "held_out": saving.held_out,
                "interval_95": [saving.low, saving.high] if np.isfinite(saving.low) else None,
                "chosen_again": None if isnan(saving.again) else saving.again,
                "seconds": saving.seconds,
                "load": saving.load,
                "servers": saving.servers,
            },
            "demand": {
                "span": self.demand.span,
                "rate": self.demand.rate,
                "load": self.demand.load,
                "running_at_a_time": self.row(self.current).running,
                "nothing_waits": self.nothing_waits,
                "keeps_up": self.row(self.current).keeps_up,
            },
            "situation": " ".join(self.situation),
            **({} if self.promise is None else {"goodput": self.promise.to_dict()}),
            "recommendation": self.headline,
            "judgement": self.judgement,
            "with_predictions": self.with_predictions,
            "drawbacks": self.drawbacks,
            "skipped": [{"policy": key, "why": why} for key, why in self.skipped],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        values = {metric.key: row.value(metric) for metric in self.metrics}
        ratios = {metric.key: self.ratio(row, metric) for metric in self.metrics}
        interval = row.interval(self.metric) if row.services else None
        return {
            **({"policy": row.name} if row.policy is None else describe(row.policy)),
            "preemption": self.preemption,
            "can_be_deployed": row.policy is not None and not row.knows_everything,
            "needs": None if row.policy is None else self.need(row).name.lower(),
            "keeps_up": row.keeps_up,
            "seeds": len(row.services),
            "evictions": row.evictions,
            "values": {k: None if isnan(v) else v for k, v in values.items()},
            "at_most_above_the_best": {k: v if np.isfinite(v) else None for k, v in ratios.items()},
            "interval_95": None if interval is None else list(interval),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each policy and a column for each metric."""
        import pandas as pd

        frame = pd.DataFrame([self._row(row) | {"policy": row.name} for row in self.rows])
        values = pd.DataFrame(frame.pop("values").tolist())
        return pd.concat([frame[["policy", "can_be_deployed", "evictions"]], values], axis=1)


def is_schedule(row: Row) -> bool:
    """Return whether what a row did is a schedule under the evaluation's rules: not the log."""
    return bool(row.services) and row.policy is not None and not row.policy.may_overflow
