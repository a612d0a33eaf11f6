"""The main job: one instance, its certified optimum, and what every policy makes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.executors import Executor, executor_or_local
from ratiolab.hindsight import OptResult, certified, solve
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.display import Result
from ratiolab.model.files import PathLike
from ratiolab.model.interrupts import Interruptible
from ratiolab.model.io import as_instance
from ratiolab.model.numbers import require_integer
from ratiolab.online import Policy, Simulation
from ratiolab.online.registry import as_policy, describe, labels
from ratiolab.ratio.choice import Skipped, usable_policies
from ratiolab.ratio.interval import RatioInterval
from ratiolab.ratio.ranking import Ranked, Ranking, best_first
from ratiolab.ratio.runs import simulated
from ratiolab.theory.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PolicyRow(Ranked):
    """The runs of one policy on one instance and what they cost.

    Parameters
    ----------
    name : name of the policy, with parameters where another row has the same policy.
    policy : what was run.
    runs : one simulation a seed; a single one when the policy uses no randomness.
    optimum : bounds on the optimum of the same instance.
    """

    name: str
    policy: Policy
    runs: tuple[Simulation, ...]
    optimum: OptResult

    @property
    def stalled(self) -> int:
        """Number of runs that did not end."""
        return sum(run.outcome != "complete" for run in self.runs)

    @property
    def costs(self) -> list[int]:
        """Total latency of every run that ended."""
        return [run.schedule.total_latency for run in self.runs if run.outcome == "complete"]

    @property
    def mean_cost(self) -> Fraction | None:
        """Mean total latency over the runs, exact; None when one of them stalled."""
        return None if self.stalled else Fraction(sum(self.costs), len(self.costs))

    @property
    def cost_interval(self) -> tuple[float, float] | None:
        """Student's 95% interval for the expected total latency; None with fewer than two runs."""
        if self.stalled or len(self.costs) < 2:
            return None
        estimate = Estimate.of(self.costs, confidence=0.95)
        return estimate.low, estimate.high

    @property
    def ratio(self) -> RatioInterval | None:
        """Mean total latency over the optimum; None when a run stalled."""
        if self.mean_cost is None:
            return None
        return RatioInterval(self.mean_cost, self.optimum.lower, self.optimum.upper)

    def mean_of(self, figure: Callable[[Simulation], float]) -> float:
        """Return the mean over the runs of any figure of a run."""
        return float(np.mean([figure(run) for run in self.runs]))

    @property
    def latencies(self) -> NDArray[np.int64]:
        """End-to-end latencies of all requests in all runs that ended, rounds."""
        ended = [run.schedule.latency for run in self.runs if run.outcome == "complete"]
        return np.concatenate(ended) if ended else np.zeros(0, np.int64)

    @property
    def ttft(self) -> NDArray[np.int64]:
        """TTFT (rounds to the first token) of all requests in all runs that ended."""
        ended = [run.schedule.ttft for run in self.runs if run.outcome == "complete"]
        return np.concatenate(ended) if ended else np.zeros(0, np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return policy, costs and ratio; there are no costs when a run stalled."""
        data: dict[str, Any] = describe(self.policy)
        data |= {"runs": len(self.runs), "stalled": self.stalled}
        if self.mean_cost is None or self.ratio is None:
            return data
        interval = self.cost_interval
        return data | {
            "mean_tel": float(self.mean_cost),
            "tel_interval_95": None if interval is None else list(interval),
            "ratio": [float(self.ratio.low), float(self.ratio.high)],
            "evictions": self.mean_of(lambda run: run.schedule.evictions),
            "wasted_tokens": self.mean_of(lambda run: run.schedule.wasted_tokens),
            "mean_latency": float(self.latencies.mean()),
            "p99_latency": float(np.percentile(self.latencies, 99)),
            "mean_ttft": float(self.ttft.mean()),
            "makespan": self.mean_of(lambda run: run.schedule.makespan),
        }


@dataclass(frozen=True, eq=False)
class Comparison(Ranking[PolicyRow], Interruptible, Result):
    """The certified optimum of an instance and a row for each policy, the best first.

    Parameters
    ----------
    skipped : policies that were left out, and why.
    interrupted : whether Ctrl-C ended the solve, or came before all policies had run.
    """

    instance: Instance
    optimum: OptResult
    rows: tuple[PolicyRow, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    interrupted: bool = False

    @property
    def headline(self) -> str:
        """The instance and its optimum."""
        return f"{self.instance.headline}; {self.optimum.headline}"

    def to_dict(self) -> dict[str, Any]:
        """Return the optimum, the rows, and the policies that were left out."""
        return {
            "instance": self.instance.name,
            "digest": self.instance.digest,
            "memory": self.instance.memory,
            "requests": len(self.instance),
            "interrupted": self.interrupted,
            "optimum": self.optimum.to_dict(),
            "policies": [row.to_dict() for row in self.rows],
            "skipped": [{"policy": key, "why": why} for key, why in self.skipped],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row for each policy and the proven ends of its ratio."""
        import pandas as pd

        rows = []
        for row in self.rows:
            data = row.to_dict()
            del data["policy"]
            low, high = data.pop("ratio", None) or (None, None)
            rows.append({"policy": row.name, "ratio_low": low, "ratio_high": high} | data)
        return pd.DataFrame(rows).drop(columns=["params", "tel_interval_95"], errors="ignore")


def default_policies(instance: Instance) -> tuple[list[Policy], Skipped]:
    """Return every policy that this optimum applies to and that the columns of an instance allow.

    Returns
    -------
    These policies, and the keys of the others with the reason. A policy that keeps the tokens of
    evicted requests is one of the others: the optimum is that of runs without a break.
    """
    return usable_policies(instance, None)


def compare(
    instance: Instance | PathLike,
    policies: Sequence[Policy | str] | None = None,
    *,
    runs: int = 10,
    seed: int = 0,
    optimum: OptResult | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    advance: Callable[[str], None] | None = None,
) -> Comparison:
    """Bound the optimum of an instance, run policies on it, and put one over the other.

    Parameters
    ----------
    instance : what is to be served, or the path of its file.
    policies : or their keys; default: all of `default_policies`. Others may be asked for; the
        ratio of a policy that keeps the tokens of evicted requests can be below 1.
    runs : seeds ``seed, seed + 1, ...`` for each policy that uses randomness; others run once.
    optimum : bounds on the optimum of this instance when they are known already.
    time_limit, node_limit : for `ratiolab.hindsight.solver`, seconds and nodes.
    workers : processes that simulate; or else
    executor : where the simulations run. The result does not depend on it.
    advance : called with the name of what has just been finished, for progress bars.

    Returns
    -------
    The optimum interval and one row a policy, in the order of their mean total latency; a policy
    that does not end comes last. After Ctrl-C, rows of the policies that had run.

    Raises
    ------
    ValueError
        for fewer than one run, and for an optimum of another instance.
    """
    skipped: Skipped = []
    instance = as_instance(instance)
    if policies is None:
        chosen, skipped = default_policies(instance)
    else:
        chosen = [as_policy(policy) for policy in policies]
    require_integer("runs", runs, 1)
    if optimum is None:
        optimum = enclosed(instance, time_limit=time_limit, node_limit=node_limit)
    instance.require_own(optimum.instance, "optimum")
    report = advance or (lambda _: None)
    report("optimum")
    place = executor_or_local(executor, workers)
    found: dict[int, tuple[Simulation, ...]] = {}
    interrupted = optimum.interrupted
    try:
        for number, own in simulated(place, instance, chosen, range(seed, seed + runs)):
            found[number] = tuple(own)
            report(chosen[number].name)
    except KeyboardInterrupt:
        interrupted = True
    optimum = _tightened(optimum, [run for runs_ in found.values() for run in runs_])
    names = labels(chosen)
    rows = best_first(
        (
            PolicyRow(names[number], chosen[number], found[number], optimum)
            for number in sorted(found)
        ),
        lambda row: nan if row.mean_cost is None else row.mean_cost,
    )
    return Comparison(instance, optimum, rows, tuple(skipped), interrupted)


def enclosed(instance: Instance, **options: Any) -> OptResult:
    """Return bounds on the optimum by `ratiolab.hindsight.solver` with these options, certified."""
    return certified(solve(instance, **options), options.get("progress"))


def _tightened(optimum: OptResult, runs: Sequence[Simulation]) -> OptResult:
    """Lower the optimum's upper bound to the best run: its final starts are a schedule."""
    ended = [run for run in runs if run.outcome == "complete" and run.preemption == "restart"]
    ended = [run for run in ended if not run.policy.may_overflow]
    best = min(ended, key=lambda run: run.schedule.total_latency, default=None)
    if best is None or best.schedule.total_latency >= optimum.upper:
        return optimum
    schedule = Schedule.from_starts(optimum.instance, best.schedule.starts)
    return replace(
        optimum,
        schedule=require_feasible(schedule),
        upper=schedule.total_latency,
        status="optimal" if schedule.total_latency == optimum.lower else optimum.status,
    )
