"""Weights and dates in rounds, as `simulate` tells of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ratiolab.model import Instance
    from ratiolab.model.fleet import Fleet


def in_time(given: "Instance | Fleet", preemption: str, runs: Sequence[dict[str, Any]]) -> Any:
    """Return the weight in time, the bound on it, and the requests that are late even alone.

    Nothing for runs that state no ``goodput``.
    """
    from ratiolab.hindsight.promises import certified_goodput, covered
    from ratiolab.model.fleet import replicas_of
    from ratiolab.model.promises import last_starts_in_time, weights

    if "goodput" not in runs[0]:
        return {}
    instance, _ = replicas_of(given)
    late = last_starts_in_time(instance) < instance.arrival
    kept = preemption != "restart"  # tokens, which the proof for evictions takes to be lost
    return {
        "mean": sum(run["goodput"] for run in runs) / len(runs),
        "weight": int(weights(instance).sum()),
        "bound": certified_goodput(given).bound,
        "covers": "schedules without evictions" if kept else covered(instance, "goodput"),
        "unreachable": late.nonzero()[0].tolist(),
    }


def sentence(promise: dict[str, Any]) -> str:
    """Return what `in_time` found in one line."""
    return (
        f"in time: weight {promise['mean']:,.6g} of {promise['weight']:,}; of "
        f"{promise['covers']}, none serves more than {promise['bound']:,} (certified); "
        f"{len(promise['unreachable']):,} requests are late even alone"
    )
