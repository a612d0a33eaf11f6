"""Routers and policies on one log with several replicas: how far from any schedule, and what helps.

Every policy runs behind every router, under one clock and one cost of evictions. No schedule of the
fleet is below the bound, whatever its router; for means in rounds it holds for requests that move
between replicas, too. *Dispatch at once* costs what the best router that decides on arrival lies
above a central queue, under the same policy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratiolab.evaluation.advice import NOTICED, figure, percent, share, span
from ratiolab.evaluation.demand import Demand
from ratiolab.evaluation.needs import Need, need
from ratiolab.evaluation.promise import Promise
from ratiolab.evaluation.service import (
    METRICS,
    Metric,
    Service,
    Slo,
    bound_of,
    goodput_proof,
    metric_of,
)
from ratiolab.executors import Executor, executor_or_local
from ratiolab.hindsight.bounds import fleet_lower_bound
from ratiolab.hindsight.relaxation.growth import growth_bounds
from ratiolab.model import Preemption
from ratiolab.model.display import Result
from ratiolab.model.fleet import Fleet, replicas_of, require_fleet
from ratiolab.model.numbers import require_integer
from ratiolab.online import Policy
from ratiolab.online.clock import BatchTime, as_clock
from ratiolab.online.fleets.loop import FleetSimulation, simulate_fleet
from ratiolab.online.fleets.registry import as_router
from ratiolab.online.registry import as_policy, identity, labels, make
from ratiolab.online.router import Router

if TYPE_CHECKING:
    import pandas as pd

POLICIES = ("fcfs", "mc-sf", "svf", "vllm-fcfs")
"""Policies by default: by arrival and by length, one round ahead and planning, and an engine."""

ROUTERS = ("round-robin", "jsq", "least-kv", "central")
"""Routers by default."""


class Work(NamedTuple):
    """One simulation: places of policy and router, and the seed."""

    policy: int
    router: int
    seed: int


@dataclass(frozen=True)
class FleetRow:
    """The figures of one policy behind one router.

    Parameters
    ----------
    name : name of the policy, with parameters where another row has the same policy.
    services : one for each seed; empty when a run did not end.
    evictions : mean over the seeds.
    share : part of the requests that the replica with most of them got, times the replicas.
    """

    name: str
    policy: Policy
    router: Router
    services: tuple[Service, ...] = field(repr=False)
    evictions: float
    share: float

    def value(self, metric: Metric) -> float:
        """Return the mean of a metric over the seeds; NaN when a run did not end."""
        if not self.services:
            return float("nan")
        return float(np.mean([metric.value(service) for service in self.services]))

    def ends(self, metric: Metric) -> tuple[float, float]:
        """Return the least and the largest value of a metric over the seeds."""
        values = [metric.value(service) for service in self.services] or [float("nan")]
        return min(values), max(values)


@dataclass(frozen=True, eq=False)
class FleetEvaluation(Result):
    """Rows of policies behind routers, and a proven bound on each metric.

    Parameters
    ----------
    fleet, clock, preemption : what was served, how long batches take, what an eviction costs.
    metric : what rows are sorted by.
    metrics : all that are shown.
    bounds : on each metric, for every schedule of the fleet.
    rows : the best first.
    router, policy : those in use.
    promise : who is in time, where an objective was given.
    """

    fleet: Fleet
    clock: BatchTime | None
    preemption: Preemption
    metric: Metric
    metrics: tuple[Metric, ...]
    bounds: dict[str, float]
    rows: tuple[FleetRow, ...]
    router: str
    policy: str
    interrupted: bool = False
    promise: Promise | None = None

    @property
    def unit(self) -> str:
        """The unit of all times."""
        return "rounds" if self.clock is None else "s"

    def ratio(self, row: FleetRow) -> float:
        """Return how many times the bound a row is."""
        return self.metric.ratio(row.value(self.metric), self.bounds[self.metric.key])

    def row(self, policy: str, router: str) -> FleetRow | None:
        """Return the row of a policy behind a router, if it has run."""
        for row in self.rows:
            if (row.name, row.router.name) == (policy, router):
                return row
        return None

    @property
    def price(self) -> dict[str, tuple[str, float]]:
        """The price of dispatch at once, by policy: its best router, and its part above central."""
        found = {}
        for policy in dict.fromkeys(row.name for row in self.rows):
            central = self.row(policy, "central")
            once = [r for r in self.rows if r.name == policy and not r.router.late]
            if central is None or not once or isnan(value := central.value(self.metric)):
                continue
            best = once[0]  # rows are sorted
            found[policy] = best.router.name, self.metric.ratio(best.value(self.metric), value) - 1
        return found

    @cached_property
    def demand(self) -> Demand:
        """Demand of the log on one replica, the largest."""
        return Demand.of(self.fleet.instance, self.clock, self.preemption)

    @property
    def situation(self) -> list[str]:
        """Demand of the log on all replicas, and the certain loss of an objective."""
        demand = self.demand
        n, number = f"{demand.requests:,} requests", f"{self.fleet.replicas} replicas"
        told = [] if self.promise is None else self.promise.sentences
        if demand.rate is None or demand.load is None:
            return [f"{n} arrive at once: how much of a load they are cannot be told.", *told]
        unit = "a second" if self.unit == "s" else "a round"
        words = f"{n} arrive over {span(demand.span, self.unit)}, {demand.rate:.3g} {unit}"
        if demand.is_burst:
            return [f"{words}: a burst, shorter than the longest request takes alone.", *told]
        # in seconds a smaller replica does no less work, as far as is proven
        most = sum(self.fleet.memories) / self.fleet.instance.memory
        load = demand.load / (most if self.clock is None else self.fleet.replicas)
        if load > 1:
            words += f", {share(load)} what {number} sustain: no router and policy keep up. More "
            words += "replicas or fewer requests would help"
        else:
            words += f", at least {share(load)} what {number} sustain"
        return [f"{words}.", *told]

    @property
    def advice(self) -> list[str]:
        """Sentences on what would help: a better router, another policy, late binding."""
        key, now = self.metric, self.row(self.policy, self.router)
        assert now is not None
        title, policy, router = key.title, self.policy, self.router

        def shown(row: FleetRow) -> str:
            return percent(row.value(key)) if key.slo else f"{figure(row.value(key))} {self.unit}"

        def gain(row: FleetRow) -> float:
            if key.slo:
                return row.value(key) - now.value(key)
            return 1 - row.value(key) / now.value(key)

        def change(row: FleetRow) -> str:
            return f"{100 * gain(row):.1f} points more" if key.slo else f"{gain(row):.1%} less"

        best = next(row for row in self.rows if row.name == policy)
        if isnan(now.value(key)):
            return [f"{policy} behind {router} does not end: its runs never serve all requests."]
        if best is now:
            lines = [f"No router here serves {policy} better than {router}: {title} {shown(now)}."]
        else:
            helps = "would help" if gain(best) > NOTICED else "would hardly help"
            lines = [
                f"A smarter router {helps}: behind {best.router.name}, the best one here, {policy} "
                f"has a {title} of {shown(best)} instead of {shown(now)} behind {router}, "
                f"{change(best)}."
            ]
        bound = self.bounds[key.key]
        least = percent(bound) if key.slo else f"{figure(bound)} {self.unit}"
        lines.append(
            f"No router and no scheduler reaches a {title} {'above' if key.slo else 'below'} "
            f"{least} (proven): {policy} behind {router} is at most {self.ratio(now):.2f} times "
            f"{'below ' * (key.slo is not None)}the best schedule of {self.fleet.replicas} "
            "replicas."
        )
        ahead = next(row for row in self.rows if row.router.name == router)
        if ahead is not now:
            instance = self.fleet.instance
            known = need(ahead.policy, instance)
            knows = {
                Need.PREDICTION: ", but it needs predictions",
                Need.EVERYTHING: ", but it knows every output length, as no server does",
            }
            lines.append(
                f"The best policy behind {router} is {ahead.name}: {title} {shown(ahead)}, "
                f"{change(ahead)}{knows.get(known, '') * (known > need(now.policy, instance))}."
            )
        for name, (once, price) in self.price.items():
            found, central = self.row(name, once), self.row(name, "central")
            assert found is not None
            assert central is not None
            lines.append(
                f"Dispatch at once costs {name} {price:.1%}: {shown(found)} behind {once}, the "
                f"best router that decides on arrival, against {shown(central)} with a central "
                "queue."
                if price > 0
                else f"A central queue does not help {name}: {shown(central)}, against "
                f"{shown(found)} behind {once}, the best router that decides on arrival."
            )
        return lines

    @property
    def headline(self) -> str:
        """The first sentence of the advice."""
        return self.advice[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, without the times of single requests."""
        return {
            "instance": self.fleet.name,
            "digest": self.fleet.digest,
            "replicas": self.fleet.replicas,
            "requests": len(self.fleet),
            "memory": self.fleet.instance.memory,
            **({} if self.fleet.equal else {"memories": list(self.fleet.memories)}),
            "unit": self.unit,
            "preemption": self.preemption,
            "interrupted": self.interrupted,
            "metric": self.metric.key,
            "bounds": self.bounds,
            "current": {"policy": self.policy, "router": self.router},
            "rows": [self._row(row) for row in self.rows],
            "price_of_dispatch_at_once": {
                policy: {"router": router, "price": price}
                for policy, (router, price) in self.price.items()
            },
            **({} if self.promise is None else {"goodput": self.promise.to_dict()}),
            "situation": " ".join(self.situation),
            "advice": self.advice,
        }

    def _row(self, row: FleetRow) -> dict[str, Any]:
        values = {metric.key: row.value(metric) for metric in self.metrics}
        ratio = self.ratio(row)
        return {
            "policy": row.name,
            "router": row.router.name,
            "runs": len(row.services),
            "ratio": None if isnan(ratio) else ratio,
            "values": {key: None if isnan(v) else v for key, v in values.items()},
            "evictions": row.evictions,
            "largest_share": row.share,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each policy and router."""
        import pandas as pd

        rows = [self._row(row) for row in self.rows]
        return pd.DataFrame([{**row, **row.pop("values")} for row in rows])


def evaluate_fleet(
    fleet: Fleet,
    policies: Sequence[Policy | str] | None = None,
    routers: Sequence[Router | str] = ROUTERS,
    *,
    clock: BatchTime | str | None = None,
    preemption: Preemption = "recompute",
    metric: str = "mean",
    slo: Slo | str | None = None,
    current: Policy | str = "fcfs",
    runs: int = 5,
    seed: int = 0,
    workers: int = 1,
    executor: Executor | None = None,
    advance: Callable[[str], None] | None = None,
) -> FleetEvaluation:
    """Run policies behind routers on a fleet, and bound any schedule.

    Parameters
    ----------
    policies : or their keys; default: those of `POLICIES` that make sense under these semantics.
    routers : or their keys; the first is the one in use.
    current : the policy in use, or its key; parameters count, too.
    runs : seeds ``seed, seed + 1, ...`` of what uses randomness.
    clock, preemption, metric, slo, workers, executor, advance : as for
        `ratiolab.evaluation.evaluate.evaluate`.

    Raises
    ------
    ValueError
        for an unknown metric, no router, or a policy that makes no sense under these semantics.
    """
    require_fleet(fleet, "evaluate")
    clock = as_clock(clock)
    slo = Slo.parse(slo) if isinstance(slo, str) else slo
    chosen = metric_of(metric, slo)
    metrics = (*METRICS.values(), *([metric_of("goodput", slo)] if slo else ()))
    require_integer("runs", runs, 1)
    given = [as_router(router) for router in routers]
    if slo is not None:
        replicas_of(fleet)  # its bound knows one memory
    if not given:
        raise ValueError("routers is empty: name at least one")
    if policies is None:
        makes_sense = [make(key) for key in POLICIES]
        allowed = [policy for policy in makes_sense if preemption in policy.semantics]
    else:
        allowed = [as_policy(policy) for policy in policies]
    used_policy = as_policy(current)
    if identity(used_policy) not in map(identity, allowed):
        allowed.insert(0, used_policy)
    titles = labels(allowed)
    current = titles[[identity(policy) for policy in allowed].index(identity(used_policy))]
    works = [
        Work(p, r, s)
        for p, policy in enumerate(allowed)
        for r, router in enumerate(given)
        for s in range(seed, seed + runs)
        if s == seed or policy.uses_randomness or router.randomized
    ]
    report = advance or (lambda _: None)
    place = executor_or_local(executor, workers)
    ran: dict[Work, FleetSimulation] = {}
    interrupted = False
    try:
        for work, run in place.unordered(
            _simulate, works, fleet, allowed, given, preemption, clock
        ):
            ran[work] = run
            report(f"{run.policy.name} behind {run.router.name}")
    except KeyboardInterrupt:
        interrupted = True
    rows = []
    for p, policy in enumerate(allowed):
        for r, router in enumerate(given):
            own = [ran[work] for work in works if work[:2] == (p, r) and work in ran]
            if own:
                rows.append(_row_of(titles[p], policy, router, own, fleet))
    names = {(row.name, row.router.name) for row in rows}
    if (current, given[0].name) not in names:  # nothing to compare with
        raise KeyboardInterrupt
    bounds = {m.key: fleet_bound(m, fleet, clock, preemption) for m in METRICS.values()}
    promise = None
    if slo is not None:
        proof = goodput_proof(slo, fleet, clock, preemption)
        bounds["goodput"] = proof.bound / len(fleet)
        used = next(r for r in rows if (r.name, r.router.name) == (current, given[0].name))
        promise = Promise.of(
            *(fleet, clock, preemption, slo, proof),
            f"{current} behind {given[0].name}",
            next(iter(used.services), None),
        )
    report("bounds")
    sign = -1 if chosen.larger_is_better else 1

    def key(row: FleetRow) -> float:
        value = row.value(chosen)
        return float("inf") if isnan(value) else sign * value

    return FleetEvaluation(
        *(fleet, clock, preemption, chosen, metrics, bounds),
        *(tuple(sorted(rows, key=key)), given[0].name, current, interrupted, promise),
    )


def fleet_bound(
    metric: Metric, fleet: Fleet, clock: BatchTime | None, preemption: Preemption
) -> float:
    """Return a bound on a metric for every schedule of a fleet under a clock and semantics.

    For the mean latency in rounds under ``restart`` it sees what fits a replica: dual feasible
    functions, and growth rows after a fixed number of steps. Replicas that differ have the bounds
    of equal ones with the largest memory, which can do what they do; in rounds those of a single
    one with all of their memory, too, since any schedule is one of its own.
    """
    bound = bound_of(metric, fleet.instance, clock, preemption, fleet.replicas)
    if clock is None and not fleet.equal:
        pooled = fleet.instance.replace(memory=sum(fleet.memories))
        bound = max(bound, bound_of(metric, pooled, clock, preemption))
    if metric.key == "mean" and clock is None and preemption == "restart":
        best = fleet_lower_bound(fleet)[0].value
        best = max(best, *(proof.bound for proof in growth_bounds(fleet)))
        bound = max(bound, best / len(fleet))
    return bound


def _simulate(
    work: Work,
    fleet: Fleet,
    policies: Sequence[Policy],
    routers: Sequence[Router],
    preemption: Preemption,
    clock: BatchTime | None,
) -> FleetSimulation:
    what = policies[work.policy], routers[work.router]
    return simulate_fleet(fleet, *what, seed=work.seed, preemption=preemption, clock=clock)


def _row_of(
    name: str, policy: Policy, router: Router, runs: Sequence[FleetSimulation], fleet: Fleet
) -> FleetRow:
    names = Service._fields
    ended = all(run.outcome == "complete" for run in runs)
    services = (
        Service(*(run.per_request[name].to_numpy(np.float64) for name in names)) for run in runs
    )
    evictions = float(np.mean([run.evictions for run in runs]))
    counts = np.bincount(np.maximum(runs[0].replica, 0), minlength=fleet.replicas)
    share = float(counts.max() / counts.mean())
    return FleetRow(name, policy, router, tuple(services) if ended else (), evictions, share)
