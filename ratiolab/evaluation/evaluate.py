"""Policies on one trace under a clock: how far each is from any schedule, and what to deploy."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, isnan, nan

import numpy as np

from ratiolab.evaluation.advice import NOTICED
from ratiolab.evaluation.load import sustained_load
from ratiolab.evaluation.promise import Promise
from ratiolab.evaluation.result import GIVEN, Evaluation, is_schedule
from ratiolab.evaluation.row import Row
from ratiolab.evaluation.saving import saved
from ratiolab.evaluation.service import (
    METRICS,
    Service,
    Slo,
    bound_of,
    goodput_proof,
    metric_of,
    observed_bound,
)
from ratiolab.executors import Executor, executor_or_local
from ratiolab.hindsight import OptResult
from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.model import Instance, Preemption
from ratiolab.model.files import PathLike
from ratiolab.model.instance import PICOSECONDS, shown
from ratiolab.model.io import as_instance
from ratiolab.model.numbers import require_integer, require_number
from ratiolab.online import Policy, Simulation
from ratiolab.online.clock import BatchTime, as_clock
from ratiolab.online.registry import as_policy, identity, labels
from ratiolab.ratio.choice import Skipped, usable_policies
from ratiolab.ratio.ranking import best_first
from ratiolab.ratio.runs import simulated
from ratiolab.seconds.both_ends import both_ends
from ratiolab.seconds.order_search import Planned

EACH = 0.01
"""Seconds of effort for each request, so that short logs are evaluated at once."""

CHECKED = 0.0008
"""Seconds in which a certificate is checked, for each request: no time for more means no bound."""


def evaluate(
    instance: Instance | PathLike,
    policies: Sequence[Policy | str] | None = None,
    *,
    clock: BatchTime | str | None = None,
    preemption: Preemption = "recompute",
    metric: str = "mean",
    slo: Slo | str | None = None,
    current: Policy | str = "fcfs",
    observed: Service | None = None,
    comparable: bool = True,
    optimum: OptResult | tuple[float, float] | None = None,
    runs: int = 5,
    seed: int = 0,
    load: bool = True,
    search: float = 0.0,
    effort: float = 0.0,
    workers: int = 1,
    executor: Executor | None = None,
    advance: Callable[[str], None] | None = None,
    tell: Callable[[float], None] = lambda _: None,
) -> Evaluation:
    """Run policies on an instance, all under one clock and semantics, and bound any schedule.

    Parameters
    ----------
    instance : with a clock, it states the seconds of a tick.
    policies : or their keys; default: all that make sense under these semantics.
    clock : how long a batch takes, or the name of a clock; None counts rounds.
    preemption : what an eviction costs, for all policies.
    metric : what rows are sorted by: a key of `ratiolab.evaluation.service.METRICS`, or
        ``goodput``.
    slo : the objective of goodput, also as words: ``ttft=1,tpot=0.05``.
    current : the policy in use, or its key; parameters count, too.
    observed : what the log itself says of the requests, if it does. Its ratios are to the bound on
        those requests whose times it knows.
    comparable : whether the clock describes the engine of the log, and its arrivals are known; else
        the log has no ratios.
    optimum : `ratiolab.solve` of this instance; without a clock and under ``restart`` only. Or
        two numbers, a lower bound on the total latency of the hindsight optimum and that of a
        schedule, rounds. Whether these two are proven is the caller's word, and the result says so.
    runs : seeds ``seed, seed + 1, ...`` of each policy that uses randomness.
    load : whether to look for the load that the best policy takes at the current value.
    search : seconds of a search for the order of the least mean latency, which becomes a row of
        its own among the policies that know everything; it needs a clock.
    effort : most seconds for both ends of what the best schedule takes, a thread each: a certified
        bound, and a search unless ``search`` says otherwise. Short logs get less. Without a clock,
        or where nothing waits, there is none.
    workers : processes that simulate; or else
    executor : where the simulations run. The result does not depend on it.
    advance : called with the name of what has just been finished.
    tell : called with the part of the time for both ends that is used.

    Returns
    -------
    The rows of all policies, the current one first; after Ctrl-C the rows of the policies that had
    run, and both ends as far as they were found.

    Raises
    ------
    ValueError
        for an unknown metric, no policy, a policy that makes no sense under these semantics, a
        search without a clock, or an optimum that is not of this instance, is impossible or
        contradicts what is found here.
    """
    clock = as_clock(clock)
    slo = Slo.parse(slo) if isinstance(slo, str) else slo
    chosen = metric_of(metric, slo)
    require_integer("runs", runs, 1)
    require_number("search", search, 0)
    require_number("effort", effort, 0)
    if search and clock is None:
        raise ValueError("search needs a clock: without one, solve finds the best schedule")
    metrics = (*METRICS.values(), *([metric_of("goodput", slo)] if slo else ()))
    skipped: Skipped = []
    instance = as_instance(instance)
    ends = None if optimum is None else _ends_of(optimum, instance, clock, preemption)
    if policies is None:
        allowed, skipped = usable_policies(instance, preemption)
    else:
        allowed = [as_policy(policy) for policy in policies]
    ordered = in_use_first(allowed, as_policy(current))
    names = labels(ordered)
    current = names[0]
    report = advance or (lambda _: None)
    place = executor_or_local(executor, workers)
    rows: dict[int, Row] = {}
    interrupted = False
    certificate: SecondsCertificate | None = None
    try:
        for number, own in simulated(
            place, instance, ordered, range(seed, seed + runs), preemption=preemption, clock=clock
        ):
            rows[number] = row_of(own, names[number])
            report(names[number])
        worth = bool(rows[0].services) and rows[0].waiting > NOTICED
        seconds = min(effort, EACH * len(instance)) if worth else 0.0
        if clock is not None and (search or seconds):
            bound = max(0.0, seconds - CHECKED * len(instance))
            found = both_ends(
                *(instance, clock, preemption),
                search=search or seconds,
                bound=bound,
                seed=seed,
                tell=tell,
            )
            rows[len(ordered)] = row_of([found.run], Planned.name)
            certificate, interrupted = found.certificate, found.interrupted
            report("both ends")
    except KeyboardInterrupt:
        if 0 not in rows:  # nothing to compare with
            raise
        interrupted = True
    found_rows = [rows[number] for number in sorted(rows)]
    if observed is not None:
        found_rows.append(Row("observed", (observed,)))
    listed = best_first(found_rows, lambda row: row.value(chosen), chosen.larger_is_better)
    bounds = {m.key: bound_of(m, instance, clock, preemption) for m in METRICS.values()}
    in_time = None if slo is None else goodput_proof(slo, instance, clock, preemption)
    if in_time is not None:
        bounds["goodput"] = in_time.bound / len(instance)
    if certificate is not None:
        proven = certificate.bound / PICOSECONDS / len(instance)
        bounds["mean"] = max(bounds["mean"], proven)
    source = optimum.proof if isinstance(optimum, OptResult) else GIVEN
    if ends is not None:
        _require_possible(ends, bounds["mean"] * len(instance), found_rows)
        bounds["mean"] = max(bounds["mean"], ends[0] / len(instance))
    if observed is not None:
        known = dict.fromkeys(bounds, nan)
        if comparable:
            known = {
                m.key: observed_bound(m, observed, instance, clock, preemption) for m in metrics
            }
        listed = tuple(row if row.policy else replace(row, bounds=known) for row in listed)
    promise = None
    if slo is not None and in_time is not None and not interrupted:
        first = next(iter(rows[0].services), None)
        promise = Promise.of(instance, clock, preemption, slo, in_time, current, first)
    report("bounds")
    made = Evaluation(
        *(instance, clock, preemption, chosen, metrics, bounds, listed, current),
        None,
        tuple(skipped),
        interrupted,
        ends,
        promise,
        certificate,
        None if ends is None else source,
    )
    best, now = made.deployable[0], made.row(current)
    if best.name == current or isnan(now.value(chosen)) or not best.services:
        return made
    sustained = None
    if load and now.keeps_up and not interrupted:
        assert best.policy is not None
        sustained = sustained_load(
            instance,
            best.policy,
            chosen,
            now.value(chosen),
            clock=clock,
            preemption=preemption,
            seed=seed,
        )
    order = np.argsort(instance.arrival, kind="stable")
    candidates = {row.name: row.services for row in (*made.deployable, now) if row.services}
    return replace(made, saving=saved(chosen, current, best.name, candidates, order, sustained))


def in_use_first(policies: Sequence[Policy], current: Policy) -> list[Policy]:
    """Return policies with the one in use first; it joins them if none is equal to it."""
    mine = identity(current)
    ordered = sorted(policies, key=lambda policy: identity(policy) != mine)
    return ordered if ordered and identity(ordered[0]) == mine else [current, *ordered]


def _ends_of(
    optimum: OptResult | tuple[float, float],
    instance: Instance,
    clock: BatchTime | None,
    preemption: Preemption,
) -> tuple[float, float]:
    """Return both ends of a given optimum, or raise ValueError where it cannot be one."""
    if clock is not None or preemption != "restart":
        raise ValueError(
            "optimum is in rounds and under restart: leave it out, or take clock=None and "
            "preemption='restart'"
        )
    if isinstance(optimum, OptResult):
        instance.require_own(optimum.instance, "optimum")
        return float(optimum.lower), float(optimum.upper)
    try:
        lower, upper = map(float, optimum)
    except (TypeError, ValueError):
        lower, upper = nan, nan
    if not 0 < lower <= upper < inf:
        raise ValueError(
            f"optimum {shown(optimum)} must be the result of solve, or two numbers of rounds: a "
            "lower bound above 0 and the total latency of a schedule, which is not below it"
        )
    return lower, upper


def _require_possible(ends: tuple[float, float], proven: float, rows: Sequence[Row]) -> None:
    """Raise ValueError if both ends of an optimum contradict a bound or a schedule found here."""
    lower, upper = ends
    if upper < proven * (1 - 1e-9):
        raise ValueError(
            f"optimum {ends}: no schedule has a total latency of {upper:,.0f} rounds, as a bound "
            f"proves {proven:,.0f}"
        )
    for row in rows:
        best = min((s.latency.sum() for s in row.services if is_schedule(row)), default=inf)
        if best < lower * (1 - 1e-9):
            raise ValueError(
                f"optimum {ends}: {row.name} has a total latency of {best:,.0f} rounds, which is "
                "below this lower bound"
            )


def row_of(runs: Sequence[Simulation], name: str) -> Row:
    """Return the row of a policy by its name, from its runs, the first seed first."""
    policy = runs[0].policy
    evictions = float(np.mean([run.schedule.evictions for run in runs]))
    ended = all(run.outcome == "complete" for run in runs)
    services = tuple(map(Service.of, runs)) if ended else ()
    return Row(name, services, policy, evictions, runs[0])
