"""Policies on one trace under a clock: how far each is from any schedule, and what to deploy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ratiolab.model import Instance, Preemption
from ratiolab.model.display import Result
from ratiolab.online import POLICIES, Information, Policy, Simulation, make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.online.observations import required_columns
from ratiolab.online.registry import describe
from ratiolab.ratio.saving import Saving, bootstrap, saved
from ratiolab.ratio.service import METRICS, Metric, Service, Slo, bound_of, metric_of

if TYPE_CHECKING:
    import pandas as pd

STEPS = 7
"""Halvings of the interval in which the load that a policy sustains is sought."""

DRAINED = 0.1
"""Part of the time of the arrivals in which a server that keeps up has served what is left."""

MOST_LOAD = 4.0
"""Largest multiple of the load that is tried."""


def keeps_up(run: Simulation) -> bool:
    """Return whether a run ends soon after its last arrival, or all arrive at once and it ends.

    Soon is a tenth of the time in which requests arrive, beside what the longest takes alone. A
    server that does not keep up has a backlog that grows with the length of the log.
    """
    if run.outcome != "complete":
        return False
    frame = per_request(run)
    arrival = frame["arrival"]
    span = float(arrival.max() - arrival.min())
    longest = float((frame["latency"] / frame["slowdown"]).max())
    left = float(frame["completion"].max() - arrival.max())
    return span == 0 or left <= DRAINED * span + longest


@dataclass(frozen=True)
class Row:
    """What one policy, or the log itself, makes of the requests.

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
    def knows_everything(self) -> bool:
        """Whether the policy cannot be deployed: it knows output lengths, or its ties do."""
        policy = self.policy
        return policy is not None and (
            policy.information is Information.TRUE_LENGTH or policy.ties in ("worst", "best")
        )

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
class Evaluation(Result):
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
    def deployable(self) -> list[Row]:
        """Rows of policies that one can deploy, the best first."""
        return [row for row in self.rows if row.policy and not row.knows_everything]

    @property
    def knowing(self) -> list[Row]:
        """Rows of policies that know everything, the best first."""
        return [row for row in self.rows if row.knows_everything]

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

    @property
    def headline(self) -> str:
        """The recommendation, in a sentence."""
        best, current = self.deployable[0], self.row(self.current)
        title, bound = self.metric.title, self.bounds[self.metric.key]
        now, then = current.value(self.metric), best.value(self.metric)
        limit = f"no schedule {'exceeds' if self.metric.larger_is_better else 'is below'}"
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
                f"than {self._shown(now)}; {limit}"
            )
        saving = self.saving
        change = f"{abs(saving.relative):.1%} {'better' if saving.relative > 0 else 'worse'}"
        sure = f"95 % interval {saving.low:.1%} to {saving.high:.1%}"
        if saving.low <= 0:
            return (
                f"Nothing is certain: {best.name} has a {title} of {self._shown(then)}, "
                f"{self.current} {self._shown(now)}, {change} ({sure}); {limit}"
            )
        words = (
            f"Switch from {self.current} to {best.name}: {title} {self._shown(now)} -> "
            f"{self._shown(then)}, {change} ({sure}); {limit}"
        )
        if saving.servers is not None:
            words += f" At equal {title}, about {saving.servers:.0%} fewer GPUs."
        return words

    def _shown(self, value: float) -> str:
        return f"{value:.1%}" if self.metric.key == "goodput" else f"{value:.4g} {self.unit}"

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
            "current": self.current,
            "rows": [self._row(row) for row in self.rows],
            "saving": None
            if saving is None
            else {
                "relative": saving.relative,
                "interval_95": [saving.low, saving.high],
                "seconds": saving.seconds,
                "load": saving.load,
                "servers": saving.servers,
            },
            "recommendation": self.headline,
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


def usable_policies(
    instance: Instance, preemption: Preemption
) -> tuple[list[Policy], list[tuple[str, str]]]:
    """Return the policies that make sense under these semantics; the others with the reason."""
    usable, skipped = [], []
    for key in POLICIES:
        policy = make(key)
        missing = [c for c in required_columns(policy.information) if getattr(instance, c) is None]
        if preemption not in policy.semantics:
            skipped.append((key, f"it is not made for {preemption}"))
        elif missing:
            skipped.append((key, f"the log has no predictions ({missing[0]}); see --predict"))
        else:
            usable.append(policy)
    return usable, skipped


def evaluate(
    instance: Instance,
    policies: Sequence[Policy] | None = None,
    *,
    clock: BatchTime | None = None,
    preemption: Preemption = "recompute",
    metric: str = "mean",
    slo: Slo | None = None,
    current: str = "fcfs",
    observed: Service | None = None,
    runs: int = 5,
    seed: int = 0,
    load: bool = True,
    advance: Callable[[str], None] | None = None,
) -> Evaluation:
    """Run policies on an instance, all under one clock and semantics, and bound any schedule.

    Parameters
    ----------
    instance : with a clock, it states the seconds of a tick.
    policies : default: all of `usable_policies`.
    clock : how long a batch takes; None counts rounds.
    preemption : what an eviction costs, for all policies.
    metric : what rows are sorted by, a key of `ratiolab.ratio.service.METRICS`, or ``goodput``.
    slo : the objective of goodput.
    current : the policy in use.
    observed : what the log itself says of the requests, if it does.
    runs : seeds ``seed, seed + 1, ...`` of each policy that uses randomness.
    load : whether to look for the load that the best policy takes at the current value.
    advance : called with the name of what has just been finished.

    Returns
    -------
    The rows of all policies; after Ctrl-C of those that had run, the current one first of all.

    Raises
    ------
    ValueError
        for an unknown metric, no policy, or a policy that makes no sense under these semantics.
    """
    chosen = metric_of(metric, slo)
    metrics = (*METRICS.values(), *([metric_of("goodput", slo)] if slo else ()))
    skipped: list[tuple[str, str]] = []
    if policies is None:
        policies, skipped = usable_policies(instance, preemption)
    ordered = sorted(policies, key=lambda policy: policy.name != current)
    if not ordered or ordered[0].name != current:
        ordered.insert(0, make(current))
    report = advance or (lambda _: None)
    settings = _Settings(clock, preemption, seed, runs)
    rows, interrupted = [], False
    try:
        for policy in ordered:
            rows.append(settings.row(instance, policy))
            report(policy.name)
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
    if observed is not None:
        rows.append(Row("observed", (observed,)))
    rows.sort(key=lambda row: _place(chosen, row.value(chosen)))
    bounds = {each.key: bound_of(each, instance, clock, preemption) for each in metrics}
    report("bounds")
    made = Evaluation(
        *(instance, clock, preemption, chosen, metrics, bounds, tuple(rows), current),
        None,
        tuple(skipped),
        interrupted,
    )
    best, now = made.deployable[0], made.row(current)
    if best.name == current or isnan(now.value(chosen)) or not best.services:
        return made
    wanted = load and not interrupted
    wanted = wanted and now.keeps_up
    found = settings.load(instance, best, now.value(chosen), chosen) if wanted else None
    order = np.argsort(instance.arrival, kind="stable")
    saving = saved(chosen, now.services, best.services, order, found)
    return Evaluation(**{**vars(made), "saving": saving})


def _place(metric: Metric, value: float) -> tuple[bool, float]:
    return isnan(value), -value if metric.larger_is_better else value


@dataclass(frozen=True)
class _Settings:
    """What all runs of an evaluation share."""

    clock: BatchTime | None
    preemption: Preemption
    seed: int
    runs: int

    def row(self, instance: Instance, policy: Policy) -> Row:
        runs = list(self._runs(instance, policy))
        evictions = float(np.mean([run.schedule.evictions for run in runs]))
        ended = all(run.outcome == "complete" for run in runs)
        services = tuple(map(Service.of, runs)) if ended else ()
        return Row(policy.name, services, policy, evictions, runs[0])

    def _runs(self, instance: Instance, policy: Policy) -> Iterator[Simulation]:
        for seed in range(self.seed, self.seed + (self.runs if policy.uses_randomness else 1)):
            yield simulate(
                instance, policy, seed=seed, preemption=self.preemption, clock=self.clock
            )

    def load(self, instance: Instance, row: Row, value: float, metric: Metric) -> float | None:
        """Return how many times the load a policy takes before its metric is worse than a value.

        Load is changed by letting the same requests arrive that much faster; a server that does
        not keep up with them does not take the load, however short the log is.
        """
        if self.clock is None or instance.tick_seconds is None or not instance.arrival.any():
            return None
        tick, policy = instance.tick_seconds, row.policy
        assert policy is not None
        low, high = 1.0, MOST_LOAD
        for _ in range(STEPS):
            middle = (low + high) / 2
            faster = instance.replace(tick_seconds=tick / middle)
            run = simulate(
                faster, policy, seed=self.seed, preemption=self.preemption, clock=self.clock
            )
            found = metric.value(Service.of(run)) if keeps_up(run) else float("nan")
            if isnan(found) or metric.better(value, found):
                high = middle
            else:
                low = middle
        return low
