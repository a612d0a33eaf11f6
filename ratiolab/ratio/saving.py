"""What switching from one policy to another saves, with its uncertainty."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.streams import stream
from ratiolab.ratio.service import Metric, Service

Places: TypeAlias = NDArray[np.int64]

CONFIDENCE = 0.95
RESAMPLES = 999

BLOCKS = 40
"""Runs of consecutive requests that are drawn again together: neighbours share their fate."""


@dataclass(frozen=True)
class Saving:
    """What switching from one policy to another changes.

    Parameters
    ----------
    relative : by which part of the old value the metric improves; negative when it gets worse.
    low, high : 95 % interval of it, from blocks of consecutive requests drawn again.
    seconds : of all requests together, for metrics of latency.
    load : how much more load the new policy takes at the old value; None where that is unknown.
    """

    relative: float
    low: float
    high: float
    seconds: float
    load: float | None

    @property
    def servers(self) -> float | None:
        """Part of the servers that the same value needs no longer."""
        return None if self.load is None else 1 - 1 / self.load


def saved(
    metric: Metric,
    old: Sequence[Service],
    new: Sequence[Service],
    order: Places,
    load: float | None,
) -> Saving:
    """Compare what the same requests feel of two policies, as means over the seeds of each.

    Parameters
    ----------
    old, new : of the policy in use, and of another one.
    order : the requests by arrival; blocks of consecutive ones are drawn again.
    load : for `Saving.load`.
    """
    blocks = np.array_split(order, min(BLOCKS, len(order)))

    def relative(drawn: Places) -> float:
        requests = np.concatenate([blocks[i] for i in drawn])
        before, after = (
            float(np.mean([metric.value(service.take(requests)) for service in services]))
            for services in (old, new)
        )
        gained = after - before if metric.larger_is_better else before - after
        return gained / before if before else 0.0

    low, high = bootstrap(len(blocks), relative)
    before, after = (
        float(np.nansum(np.mean([service.latency for service in services], axis=0)))
        for services in (old, new)
    )
    return Saving(relative(np.arange(len(blocks))), low, high, before - after, load)


def bootstrap(number: int, statistic: Callable[[Places], float]) -> tuple[float, float]:
    """Return the percentile interval of a statistic of things drawn again with replacement.

    Parameters
    ----------
    number : of the things; the draws are seeded by it.
    statistic : of the positions that were drawn.
    """
    from scipy import stats

    if number < 2:
        value = statistic(np.arange(number))
        return value, value
    found = stats.bootstrap(
        (np.arange(number),),
        lambda drawn: statistic(drawn.astype(np.int64)),
        vectorized=False,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=stream(number, "bootstrap"),
    )
    interval = found.confidence_interval
    return float(interval.low), float(interval.high)
