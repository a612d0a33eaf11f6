"""Saving of a switch from one policy to another, measured on requests that did not choose it.

The policy that is best on a log is best there partly by chance: the more policies are tried, the
more its lead is luck, and an interval that draws the requests again for this policy alone leaves
that out. Therefore the choice itself is repeated. The log is cut into blocks of consecutive
requests, whose fates hang together. Each draw takes as many blocks with replacement and chooses the
best policy on them; what the switch saves is measured on the blocks left out, a third of the log
(the out-of-bag estimate of Breiman, 1996). Seeds of policies that use randomness are drawn, and
left out, likewise. Quantiles of these savings are the interval. It is rather too wide: a third of
the log tells less than all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.evaluation.service import Metric, Service
from ratiolab.model.streams import stream

Places: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 999

BLOCKS = 40
"""Runs of consecutive requests that are drawn again together: neighbours share their fate."""

CHUNK = 4_000_000
"""Numbers in memory at once while percentiles of draws are found."""


@dataclass(frozen=True)
class Saving:
    """The change when one policy is given up for the best of several.

    Parameters
    ----------
    relative : by which part of the old value the metric improves on the log itself, which chose the
        policy; negative when it gets worse.
    held_out : the relative saving on requests that did not choose, mean over the draws.
    low, high : 95% interval of `held_out`.
    again : share of the draws that choose the same policy.
    seconds : of all requests together, for metrics of latency.
    load : how much more load the new policy takes at the old value; None where that is unknown.
    """

    relative: float
    held_out: float
    low: float
    high: float
    again: float
    seconds: float
    load: float | None

    @property
    def servers(self) -> float | None:
        """Part of the servers that the same value needs no longer, when they share the load."""
        return None if self.load is None else 1 - 1 / self.load


def saved(
    metric: Metric,
    old: str,
    new: str,
    services: Mapping[str, Sequence[Service]],
    order: Places,
    load: float | None,
) -> Saving:
    """Compare the times of the same requests under two policies, one of them chosen from all.

    Parameters
    ----------
    old, new : the policy in use, and the best policy on the whole log.
    services : of every policy that could have been chosen, with the old one: one for each seed.
    order : the requests by arrival.
    load : for `Saving.load`.
    """

    def gain(before: Values, after: Values) -> Values:
        gained = after - before if metric.larger_is_better else before - after
        return np.divide(gained, before, out=np.zeros_like(gained), where=before != 0)

    def mean(name: str) -> Values:
        return np.array([np.mean([metric.value(service) for service in services[name]])])

    relative = float(gain(mean(old), mean(new))[0])
    before, after = (
        float(np.nansum(np.mean([service.latency for service in services[name]], axis=0)))
        for name in (old, new)
    )
    inside, outside = _draws(metric, services, order)
    names = list(services)
    worst = -np.inf if metric.larger_is_better else np.inf
    choice = np.where(np.isnan(inside), worst, inside)
    chosen = choice.argmax(axis=0) if metric.larger_is_better else choice.argmin(axis=0)
    savings = gain(outside[names.index(old)], outside[chosen, np.arange(len(chosen))])
    savings = savings[~np.isnan(savings)]
    if not len(savings):  # too few requests to choose on some and judge on others
        return Saving(relative, relative, -np.inf, np.inf, float("nan"), before - after, load)
    low, high = np.quantile(savings, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    again = float((chosen == names.index(new)).mean())
    return Saving(relative, float(savings.mean()), low, high, again, before - after, load)


def _draws(
    metric: Metric, services: Mapping[str, Sequence[Service]], order: Places
) -> tuple[Values, Values]:
    """Return the values of all policies in all draws, inside and outside, (policies, draws)."""
    rng = stream(len(order), "bootstrap")
    number = min(BLOCKS, len(order))
    sizes = [len(block) for block in np.array_split(order, number)]
    block_of = np.repeat(np.arange(number), sizes)
    inside = rng.multinomial(number, np.full(number, 1 / number), RESAMPLES)
    outside = (inside == 0).astype(np.int64)
    found: tuple[list[Values], list[Values]] = [], []
    for name in services:
        seeds = len(services[name])
        drawn = rng.multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES)
        left = (drawn == 0).astype(np.int64)
        left[~left.any(axis=1)] = 1  # a single seed, or all of them drawn: nothing else is left
        columns = [metric.each(service)[order] for service in services[name]]
        for values, weights, of_seed in ((found[0], inside, drawn), (found[1], outside, left)):
            each = [weighted(column, block_of, weights, metric.tail) for column in columns]
            values.append((np.array(each).T * of_seed).sum(axis=1) / of_seed.sum(axis=1))
    return np.array(found[0]), np.array(found[1])


def weighted(column: Values, block_of: Places, weights: Places, tail: bool) -> Values:
    """Return the mean, or the 99th percentile, of a column in each of many draws of blocks.

    Parameters
    ----------
    column, block_of : values in order, NaN where unknown, and the block of each, shape (n,).
    weights : how often each block is in each draw, shape (draws, blocks).
    tail : whether the percentile is wanted; it is that of the next value above.

    Returns
    -------
    Shape (draws,), NaN where a draw has no known value.
    """
    known = ~np.isnan(column)
    column, block_of = column[known], block_of[known]
    blocks = weights.shape[1]
    count = weights @ np.bincount(block_of, minlength=blocks)
    with np.errstate(invalid="ignore"):
        if not tail:
            sums = (weights @ np.bincount(block_of, column, blocks)).astype(np.float64)
            return np.asarray(sums / count)
    down: Places = np.argsort(-column, kind="stable")
    column, block_of = column[down], block_of[down]
    above = 0.01 * (count - 1)  # values above the percentile
    found = np.full(len(weights), np.nan)
    open_ = np.flatnonzero(count > 0)
    for depth in (len(column) // 20 + 1, len(column)):  # nearly always the largest values suffice
        step = max(1, CHUNK // max(depth, 1))
        for begin in range(0, len(open_), step):
            some = open_[begin : begin + step]
            reached = np.cumsum(weights[some][:, block_of[:depth]], axis=1) > above[some, None]
            done = reached.any(axis=1)
            found[some[done]] = column[reached[done].argmax(axis=1)]
        open_ = np.flatnonzero((count > 0) & np.isnan(found))
        if not len(open_):
            break
    return found


def bootstrap(number: int, statistic: Callable[[Places], float]) -> tuple[float, float]:
    """Return the percentile interval of a statistic of things drawn again with replacement.

    Parameters
    ----------
    number : number of the things; the draws are seeded by it.
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
