"""Results as plain dictionaries: what ``--json`` prints and what tables show."""

from math import isnan
from typing import Any

import numpy as np

from ratiolab.hindsight import OptResult
from ratiolab.online import Policy, Simulation
from ratiolab.online.metrics import summary, unit
from ratiolab.online.registry import parameter_values
from ratiolab.ratio import Comparison, PolicyRow


def optimum_data(result: OptResult) -> dict[str, Any]:
    """Bounds, their source, and the best starts; times are rounds, seconds are wall-clock."""
    return {
        "instance": result.instance.name,
        "digest": result.instance.digest,
        "status": result.status,
        "upper": result.upper,
        "lower": result.lower,
        "gap": float(result.gap),
        "lower_source": result.lower_source,
        "certified": result.certified,
        "preemption": result.preemption,
        "starts": result.schedule.starts.tolist(),
        "nodes": result.nodes,
        "seconds": round(result.seconds, 3),
        "stages": [s._asdict() | {"seconds": round(s.seconds, 3)} for s in result.stages],
        "note": result.note,
        "options": result.options.as_dict(),
    }


def policy_data(policy: Policy) -> dict[str, Any]:
    """Key, parameters, information level and default semantics of preemption of a policy."""
    return {
        "policy": policy.name,
        "params": parameter_values(policy),
        "information": policy.information.value,
        "preemption": getattr(policy, "preemption", "restart"),
    }


def run_data(run: Simulation) -> dict[str, Any]:
    """One simulated run; completions are rounds, -1 for a request that a stalled run left over.

    ``figures`` are those of `ratiolab.online.metrics.summary`, in ``unit``; None where a run that
    stalled has none.
    """
    figures = summary(run)
    ended = run.outcome == "complete"
    return {
        "seed": run.seed,
        "outcome": run.outcome,
        "tel": run.schedule.total_latency if ended else None,
        "makespan": run.schedule.makespan if ended else None,
        "evictions": run.schedule.evictions,
        "wasted_tokens": run.schedule.wasted_tokens,
        "unit": unit(run),
        "figures": {name: None if isnan(value) else value for name, value in figures.items()},
        "completions": run.schedule.completion.tolist(),
    }


def row_data(row: PolicyRow) -> dict[str, Any]:
    """One row of a comparison; a stalled policy has no costs."""
    data: dict[str, Any] = policy_data(row.policy) | {"runs": len(row.runs), "stalled": row.stalled}
    if row.mean_cost is None or row.ratio is None:
        return data
    interval = row.cost_interval
    return data | {
        "mean_tel": float(row.mean_cost),
        "tel_interval_95": None if interval is None else list(interval),
        "ratio": [float(row.ratio.low), float(row.ratio.high)],
        "evictions": row.mean_of(lambda run: run.schedule.evictions),
        "wasted_tokens": row.mean_of(lambda run: run.schedule.wasted_tokens),
        "mean_latency": float(row.latencies.mean()),
        "p99_latency": float(np.percentile(row.latencies, 99)),
        "mean_ttft": float(row.ttft.mean()),
        "makespan": row.mean_of(lambda run: run.schedule.makespan),
    }


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Everything `ratiolab compare` knows."""
    instance = comparison.instance
    return {
        "instance": instance.name,
        "digest": instance.digest,
        "memory": instance.memory,
        "requests": len(instance),
        "optimum": optimum_data(comparison.optimum),
        "policies": [row_data(row) for row in comparison.rows],
        "skipped": [{"policy": key, "why": why} for key, why in comparison.skipped],
    }
