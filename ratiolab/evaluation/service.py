"""Times of requests under a schedule, their metrics, and bounds for every schedule.

All times are seconds, or rounds where there is no clock: then a round is a batch of one second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.certificates.certificate import InTimeCertificate
from ratiolab.model import Instance, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.fleet import Fleet, fleet_of
from ratiolab.online import Simulation
from ratiolab.online.clock import ROUNDS, BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.ratio.clock_bound import clock_lower_bound, ttft_lower_bound
from ratiolab.ratio.goodput_bound import goodput_certificate

Seconds = NDArray[np.float64]

ROUNDING = 1e-12
"""Difference from 1 of a ratio that is 1 but for the rounding of sums."""


class Service(NamedTuple):
    """Latency, time to first token and time per output token of each request, shape (n,).

    ``tpot`` is NaN for a request of one token, and all may be NaN where a log does not know.
    """

    latency: Seconds
    ttft: Seconds
    tpot: Seconds

    @classmethod
    def of(cls, run: Simulation) -> "Service":
        """Return the times of the requests of a run."""
        frame = per_request(run)
        return cls(*(frame[name].to_numpy(np.float64) for name in cls._fields))

    def take(self, requests: NDArray[np.int64]) -> "Service":
        """Return the times of some of the requests."""
        return Service(*(column[requests] for column in self))


@dataclass(frozen=True)
class Slo:
    """A service level objective: seconds that a request may take; None where it sets no limit."""

    ttft: float | None = None
    tpot: float | None = None
    latency: float | None = None

    @classmethod
    def parse(cls, words: str) -> "Slo":
        """Read ``ttft=1,tpot=0.05``; `ValueError` names the part that is wrong.

        >>> Slo.parse("ttft=1,tpot=0.05")
        Slo(ttft=1.0, tpot=0.05, latency=None)
        """
        limits: dict[str, float] = {}
        for word in words.split(","):
            name, _, value = word.strip().partition("=")
            if name in limits:
                raise ValueError(f"slo {words!r} names {name!r} twice")
            try:
                limits[name] = float(value)
            except ValueError:
                limits[name] = -1.0
            if name not in ("ttft", "tpot", "latency") or not 0 < limits[name] < 1e9:
                raise ValueError(f"slo {word!r} must be ttft=, tpot= or latency=SECONDS")
        return cls(**limits)

    def met(self, service: Service) -> NDArray[np.bool_]:
        """Return which requests are served within all limits; unknown times are not."""
        within = np.ones(len(service.latency), bool)
        for name in Service._fields:
            limit, times = getattr(self, name), getattr(service, name)
            if limit is not None:
                one_token = np.isnan(times) & ~np.isnan(service.latency) & (name == "tpot")
                within &= (times <= limit) | one_token
        return within

    def limits(self, output: NDArray[np.int64]) -> tuple[list[float], list[float]]:
        """Return the longest times to first token and to completion that the objective allows.

        Limits of the first token and of each later one together limit the completion, too.
        """
        inf = float("inf")
        ttft = inf if self.ttft is None else self.ttft
        later = np.inf if self.tpot is None else ttft + self.tpot * (output - 1)
        both = np.minimum(inf if self.latency is None else self.latency, later)
        return [ttft] * len(output), np.broadcast_to(both, output.shape).tolist()


@dataclass(frozen=True)
class Metric:
    """A figure of a service.

    Parameters
    ----------
    key, title : for options, and for tables.
    each : what it looks at of each request, NaN where that is not known.
    tail : whether the figure is the 99th percentile rather than the mean.
    larger_is_better : else smaller is.
    slo : the objective of goodput.
    """

    key: str
    title: str
    each: Callable[[Service], Seconds]
    tail: bool = False
    larger_is_better: bool = False
    slo: Slo | None = None

    def value(self, service: Service) -> float:
        """Return the figure of a service; NaN when nothing is known."""
        values = self.each(service)
        known = values[~np.isnan(values)]
        if not len(known):
            return float("nan")
        return float(np.percentile(known, 99) if self.tail else known.mean())

    def better(self, one: float, other: float) -> bool:
        """Return whether one value is better than another one."""
        return one > other if self.larger_is_better else one < other

    def ratio(self, value: float, bound: float) -> float:
        """Return how many times worse than a bound a value is, at least 1 for a true bound."""
        worse, better = (bound, value) if self.larger_is_better else (value, bound)
        ratio = worse / better if better else float("inf")
        return 1.0 if abs(ratio - 1) < ROUNDING else ratio


def _times(name: str) -> Callable[[Service], Seconds]:
    return attrgetter(name)


METRICS: Mapping[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("mean", "mean latency", _times("latency")),
        Metric("p99", "P99 latency", _times("latency"), True),
        Metric("ttft", "mean TTFT", _times("ttft")),
        Metric("p99-ttft", "P99 TTFT", _times("ttft"), True),
        Metric("tpot", "mean TPOT", _times("tpot")),
        Metric("p99-tpot", "P99 TPOT", _times("tpot"), True),
    )
}
"""Metrics that need no objective, by key."""


def metric_of(key: str, slo: Slo | None) -> Metric:
    """Return a metric by its key; ``goodput`` needs an objective."""
    if key == "goodput":
        if slo is None:
            raise ValueError("metric goodput needs --slo, as in ttft=1,tpot=0.05")
        objective = slo
        met = lambda s: objective.met(s).astype(float)  # noqa: E731
        return Metric(key, "goodput", met, larger_is_better=True, slo=slo)
    if key not in METRICS:
        raise ValueError(f"metric {key!r} must be one of {', '.join(METRICS)}, goodput")
    return METRICS[key]


def isolated_service(
    instance: Instance, clock: BatchTime | None, preemption: Preemption
) -> Service:
    """Return the times of each request at best, alone and never evicted: no schedule does better.

    Under ``recompute`` and ``pause`` a batch may prefill what a request holds rather than decode,
    and the quicker of both counts.
    """
    time = ROUNDS if clock is None else clock
    prompt, output = instance.prompt, instance.output
    held = np.arange(int((prompt + output).max()) + 1)
    made = time.decode + time.kv * held
    if EVICTIONS[preemption].refills:
        made = np.minimum(made, time.prefill * held)
    before = np.concatenate([[0.0], np.cumsum(made)])
    later = time.fixed * (output - 1) + before[prompt + output] - before[prompt + 1]
    ttft: Seconds = time.fixed + time.prefill * prompt.astype(np.float64)
    return Service(ttft + later, ttft, later / np.where(output > 1, output - 1, np.nan))


def bound_of(
    metric: Metric,
    instance: Instance,
    clock: BatchTime | None,
    preemption: Preemption,
    replicas: int = 1,
) -> float:
    """Return a bound on a metric that holds for every schedule under a clock and semantics.

    For means of latency and TTFT that of `ratiolab.ratio.clock_bound`, for goodput that of
    `ratiolab.ratio.goodput_bound`; for the others what the requests would have alone, because each
    of these metrics is monotone in the times of requests.
    """
    time = ROUNDS if clock is None else clock
    timed = instance.replace(tick_seconds=None) if clock is None else instance
    isolated = isolated_service(instance, clock, preemption)
    alone = metric.value(isolated)
    if metric.slo is not None:
        proof = goodput_proof(metric.slo, fleet_of(instance, replicas), clock, preemption)
        return proof.bound / len(instance)
    if metric.key == "mean":
        return max(alone, clock_lower_bound(timed, time, preemption, replicas) / len(instance))
    if metric.key == "ttft":
        return max(alone, ttft_lower_bound(timed, time, replicas) / len(instance))
    return alone


def goodput_proof(
    slo: Slo, given: Instance | Fleet, clock: BatchTime | None, preemption: Preemption
) -> InTimeCertificate:
    """Return the certificate of a bound on the requests that any schedule serves within limits."""
    return goodput_certificate(given, clock, preemption, (slo.ttft, slo.tpot, slo.latency))


def observed_bound(
    metric: Metric,
    observed: Service,
    instance: Instance,
    clock: BatchTime | None,
    preemption: Preemption,
) -> float:
    """Return a bound on a metric of the requests whose times are known, as `bound_of` all.

    A schedule of all requests contains a schedule of these requests, in batches that are no
    shorter: the bound on these requests holds for it.
    """
    values = metric.each(observed)
    one_token = np.isnan(observed.tpot) & ~np.isnan(observed.latency) & (instance.output == 1)
    known = np.flatnonzero(~np.isnan(values) | one_token)
    if not len(known):
        return float("nan")
    some = instance if len(known) == len(instance) else instance.take(known.tolist())
    return bound_of(metric, some, clock, preemption)
