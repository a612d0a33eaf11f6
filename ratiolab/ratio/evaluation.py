"""Result of an evaluation: rows of policies on one log, bounds, and what to deploy."""

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.model import Instance, Preemption
from ratiolab.model.display import Result
from ratiolab.online import Policy, Simulation
from ratiolab.online.clock import BatchTime
from ratiolab.online.registry import describe, rule
from ratiolab.ratio.load import keeps_up
from ratiolab.ratio.ranking import Ranked, Ranking
from ratiolab.ratio.saving import RESAMPLES, Saving, bootstrap
from ratiolab.ratio.service import Metric, Service

if TYPE_CHECKING:
    import pandas as pd


NOTICED = 0.01
"""Part by which another metric must get worse, or servers get fewer, before it is told."""


@dataclass(frozen=True)
class Row(Ranked):
    """The figures of one policy, or of the log itself, on the requests.

    Parameters
    ----------
    name : of the policy, or ``observed``.
    services : one for each seed; empty when a run did not end.
    policy : None for the log.
    evictions : mean over the seeds.
    run : the one of the first seed; None for the log.
    """

    name: str
    services: tuple[Service, ...] = field(repr=False)
    policy: Policy | None = None
    evictions: float = 0.0
    run: Simulation | None = field(default=None, repr=False)

    @property
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


@dataclass(frozen=True)
class Evaluation(Ranking[Row], Result):
    """Rows sorted by a metric, a certified bound on it, and a recommendation.

    Parameters
    ----------
    instance, clock, preemption : what was served, how long batches take, what an eviction costs.
    metric : what rows are sorted by.
    bounds : on each metric, for every schedule under the same clock and semantics.
    rows : of policies that can be deployed, of those that know everything, and of the log.
    current : the policy that the others are compared with.
    saving : of the best policy that can be deployed; None when that is the current one.
    skipped : policies that were left out, and why.
    interrupted : whether Ctrl-C ended it before all policies had run.
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

    @property
    def observed(self) -> Row | None:
        """The row of the log itself."""
        return next((row for row in self.rows if row.policy is None), None)

    @property
    def unit(self) -> str:
        """The unit of all times."""
        return "rounds" if self.clock is None else "s"

    def row(self, name: str) -> Row:
        """Return the row of a name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def ratio(self, row: Row, metric: Metric | None = None) -> float:
        """Return how many times the bound on a metric a row is at most above the best schedule."""
        metric = metric or self.metric
        return metric.ratio(row.value(metric), self.bounds[metric.key])

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
        known = [row.value(self.metric) for row in self.rows if _is_schedule(row)]
        pick = max if self.metric.larger_is_better else min
        low, high = sorted((self.bounds[self.metric.key], pick(known, default=float("nan"))))
        return low, high

    @property
    def enclosed(self) -> str:
        """The enclosure of the best schedule, in a sentence."""
        low, high = map(self._shown, self.enclosure)
        return f"The best schedule has a {self.metric.title} between {low} and {high}."

    @property
    def headline(self) -> str:
        """The recommendation, in a sentence."""
        best, current = self.deployable[0], self.row(self.current)
        title, bound = self.metric.title, self.bounds[self.metric.key]
        now, then = current.value(self.metric), best.value(self.metric)
        limit = f"No schedule {'exceeds' if self.metric.larger_is_better else 'is below'}"
        limit += f" {self._shown(bound)}."
        if not current.keeps_up:
            limit += (
                f" {self.current} does not keep up with the log: latencies grow with its length."
            )
        if isnan(now):
            return f"{self.current} never ends; {best.name} has a {title} of {self._shown(then)}."
        if self.saving is None:
            return (
                f"Keep {self.current}: no other policy that can be deployed has a better {title} "
                f"than {self._shown(now)}. {limit}"
            )
        saving = self.saving
        change = f"{_percent(abs(saving.relative))} {'better' if saving.relative > 0 else 'worse'}"
        if saving.low <= 0:
            return (
                f"Nothing is certain: {best.name} has a {title} of {self._shown(then)}, "
                f"{self.current} {self._shown(now)}, {change} on this log. {self.judgement} {limit}"
            )
        words = (
            f"Switch from {self.current} to {best.name}: {title} {self._shown(then)} instead of "
            f"{self._shown(now)}, {change} on this log. {self.judgement} {limit}"
        )
        if saving.servers is not None and saving.servers > NOTICED:
            words += f" At equal {title}, about {100 * saving.servers:.0f} % fewer GPUs."
        return words

    @property
    def drawbacks(self) -> str:
        """A sentence on what a switch makes worse by more than `NOTICED`; or nothing."""
        if self.saving is None:
            return ""
        best, current = self.deployable[0], self.row(self.current)
        words = []
        for metric in self.metrics:
            now, then = current.value(metric), best.value(metric)
            ratio = now / then if metric.larger_is_better else then / now
            if metric.key != self.metric.key and then and ratio > 1 + NOTICED:
                old, new = self._shown(now, metric), self._shown(then, metric)
                words.append(f"{metric.title} {new} instead of {old}")
        if not words:
            return f"Nothing else that is measured here gets worse by {best.name}."
        return f"What gets worse by {best.name}: {', '.join(words)}."

    @property
    def advice(self) -> list[str]:
        """Recommendation, rule of the policy, drawbacks, and what is possible: sentences."""
        best = self.deployable[0]
        told = ""
        if self.saving is not None and best.policy is not None:
            told = f"The rule of {best.name}: {rule(type(best.policy))}".replace("``", "")
            if alike := [row for row in self.deployable[1:] if self._nearly(best, row)]:
                words = (f"{row.name} ({self._shown(row.value(self.metric))})" for row in alike)
                told += f" Nearly as good: {', '.join(words)}."
        return [words for words in (self.headline, told, self.drawbacks, self.enclosed) if words]

    def _nearly(self, best: Row, other: Row) -> bool:
        """Return whether a row is worse than the best one by no more than `NOTICED`."""
        one, two = best.value(self.metric), other.value(self.metric)
        return abs(one - two) <= NOTICED * abs(one) and other.name != self.current

    @property
    def judgement(self) -> str:
        """How sure the saving is: in parts of the log that had no say in the choice; or nothing."""
        saving = self.saving
        if saving is None:
            return ""
        if not np.isfinite(saving.low):
            return "There are too few requests to judge the choice."
        return (
            f"Chosen on a part of the log and judged on the rest, {RESAMPLES} times, a switch is "
            f"{_percent(saving.held_out)} better (95 % interval {_percent(saving.low)} to "
            f"{_percent(saving.high)}); "
            f"{100 * saving.again:.0f} % of these choices are {self.deployable[0].name}."
        )

    def _shown(self, value: float, metric: Metric | None = None) -> str:
        share = (metric or self.metric).key == "goodput"
        return _percent(value) if share else f"{value:.4g} {self.unit}"

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
            "recommendation": self.headline,
            "drawbacks": self.drawbacks,
            "skipped": [{"policy": key, "why": why} for key, why in self.skipped],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        values = {metric.key: row.value(metric) for metric in self.metrics}
        ratios = {metric.key: self.ratio(row, metric) for metric in self.metrics}
        interval = row.interval(self.metric) if row.services else None
        return {
            **({"policy": row.name} if row.policy is None else describe(row.policy)),
            "can_be_deployed": row.policy is not None and not row.knows_everything,
            "seeds": len(row.services),
            "evictions": row.evictions,
            "values": {k: None if isnan(v) else v for k, v in values.items()},
            "at_most_above_the_best": {k: v if np.isfinite(v) else None for k, v in ratios.items()},
            "interval_95": None if interval is None else list(interval),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each policy and a column for each metric."""
        import pandas as pd

        frame = pd.DataFrame([self._row(row) for row in self.rows])
        values = pd.DataFrame(frame.pop("values").tolist())
        return pd.concat([frame[["policy", "can_be_deployed", "evictions"]], values], axis=1)


def _is_schedule(row: Row) -> bool:
    """Return whether what a row did is a schedule under the evaluation's rules: not the log."""
    return bool(row.services) and row.policy is not None and not row.policy.may_overflow


def _percent(share: float) -> str:
    """Return a share in percent; what is rounded to nothing has no sign."""
    return f"{100 * share:.1f} %".replace("-0.0 %", "0.0 %")
