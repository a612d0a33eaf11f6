"""An upper bound on how many requests any schedule serves in time under a clock, with its proof.

Work is that of `ratiolab.ratio.clock_bound`: a batch lasts at least as long as the work done in it,
so R replicas do at most R seconds of work in a second. Let W0 be the work of the first token of a
request and W1 that of its other tokens, and let u(t) >= 0 be prices of a second of time. A request
that is in time has all batches that make its tokens between its arrival a and its deadline d, and
the batch that makes its first token by f. Work done at t pays u(t), so

    requests in time <= R integral of u + sum_i max(0, 1 - W0_i min over [a, f] of u
                                                      - W1_i min over [a, d] of u),

where requests that would be late alone are left out. A run that is evicted after its first token
has done W0 by f; what it keeps or makes again is W1 by d at least. Hence the bound holds for every
semantics of preemption. Prices are constant in buckets of time; they are those of a linear program
in floats, and the bound is computed from them in integers.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.programs.highs_lp import LinearProgram
from ratiolab.model import Instance, Preemption
from ratiolab.online.clock import BatchTime, picoseconds
from ratiolab.ratio.clock_bound import works_of

BUCKETS = 256
"""Most buckets of time with a price of their own, a power of two."""

MOST_PLACES = 60_000
"""Most columns of the linear program, about; it takes a second or two."""

MOST_SECONDS = 20.0
"""Seconds after which the linear program ends with the prices that it has."""

UNIT = 2**30
"""Prices are rounded down to multiples of its inverse."""

SLIP = 10**6
"""Picoseconds that every limit is widened by: times of runs are floats, which may be off."""


@dataclass(frozen=True)
class TimePrices:
    """Prices of the time of a machine, which prove how many requests can be in time.

    Parameters
    ----------
    begin, width : beginning of the first bucket and length of each, picoseconds.
    price : what all work that fits into a bucket pays, in `UNIT`-ths of a request.
    """

    begin: int
    width: int
    price: tuple[int, ...] = field(repr=False)


def goodput_bound(
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption,
    limits: tuple[list[float], list[float]],
    reachable: NDArray[np.bool_],
    replicas: int = 1,
) -> tuple[int, TimePrices]:
    """Return the most requests that any schedule serves in time, and the prices that prove it.

    Parameters
    ----------
    limits : seconds from arrival to first token and to completion, for each request; infinite
        where there is none.
    reachable : requests that are in time when they are alone, shape (n,).
    replicas : equal replicas, each with the memory of the instance.

    >>> pair = Instance("pair", 3, [0, 0], [0, 0], [2, 2])  # 6 token-seconds, 3 at once
    >>> both = np.ones(2, bool)
    >>> goodput_bound(pair, BatchTime(fixed=1, tick=1), "restart", ([9, 9], [2, 2]), both)[0]
    2
    """
    tasks = _tasks(instance, clock, preemption, limits, reachable)
    if not tasks:
        return 0, TimePrices(0, 1, ())
    begin = min(task.arrival for task in tasks)
    last = max(task.arrival for task in tasks) + sum(task.alone for task in tasks)
    end = max(min(last, task.deadline) for task in tasks) + 1
    count = BUCKETS
    width = -(-(end - begin) // count)
    while count > 1 and _places(tasks, begin, width, count) > MOST_PLACES:
        count //= 2
        width = -(-(end - begin) // count)
    prices = _best_prices(tasks, instance.memory, begin, width, count, replicas)
    return min(len(tasks), _proven(tasks, instance.memory, prices, replicas)), prices


def proven_goodput(
    prices: TimePrices,
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption,
    limits: tuple[list[float], list[float]],
    reachable: NDArray[np.bool_],
    replicas: int = 1,
) -> int:
    """Return the bound that prices prove, in Python integers; `ValueError` for negative prices."""
    if prices.width < 1 or min(prices.price, default=0) < 0:
        raise ValueError("prices must be at least 0, and buckets have a length")
    tasks = _tasks(instance, clock, preemption, limits, reachable)
    return min(len(tasks), _proven(tasks, instance.memory, prices, replicas))


@dataclass(frozen=True)
class _Task:
    """A request that can be in time, in picoseconds; its works in M-ths of one."""

    arrival: int
    first_by: int
    deadline: int
    first: int
    rest: int
    alone: int


def _tasks(
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption,
    limits: tuple[list[float], list[float]],
    reachable: NDArray[np.bool_],
) -> list[_Task]:
    """Return the requests that can be in time; they are in time by the sooner of two limits."""
    tasks = []
    works = works_of(instance, clock, preemption)
    rows = zip(clock.arrivals(instance), works, *limits, reachable.tolist(), strict=True)
    for arrival, (first, rest, alone), ttft, latency, possible in rows:
        if possible:
            deadline = arrival + _limit(latency)
            tasks.append(
                _Task(arrival, min(arrival + _limit(ttft), deadline), deadline, first, rest, alone)
            )
    return tasks


def _limit(seconds: float) -> int:
    return 2**100 if np.isinf(seconds) else picoseconds(seconds) + SLIP


def _proven(tasks: list[_Task], memory: int, prices: TimePrices, replicas: int) -> int:
    """Return the bound that prices prove: the tasks less what is lost for certain."""
    price, width, begin = prices.price, prices.width, prices.begin
    whole = memory * width * UNIT  # what the worth of a request is, in the unit of the costs

    def least(start: int, end: int) -> int:
        first, last = (start - begin) // width, (end - begin) // width
        if first < 0 or last >= len(price):
            return 0  # a time without a price
        return min(price[first : last + 1])

    lost = -replicas * sum(price) * memory * width
    for task in tasks:
        cost = task.first * least(task.arrival, task.first_by)
        cost += task.rest * least(task.arrival, task.deadline)
        lost += min(whole, cost)
    return len(tasks) - max(0, -(-lost // whole))


def _best_prices(
    tasks: list[_Task], memory: int, begin: int, width: int, count: int, replicas: int
) -> TimePrices:
    """Return the prices of capacity in the linear program whose dual is the bound.

    A part x of each request is served, at most all of it. The part x of its first work goes into
    buckets up to f, the part x of its further work into buckets up to d, and none takes more than
    it has.
    """
    scale = memory * width
    rows: list[int] = []
    values, cost, ends = list[float](), list[float](), [0]
    for number, task in enumerate(tasks):
        links = count + 2 * number, count + 2 * number + 1
        rows += links
        values += [-task.first / scale, -task.rest / scale]
        cost.append(-1.0)
        ends.append(len(rows))
        first = (task.arrival - begin) // width
        for link, moment in zip(links, (task.first_by, task.deadline), strict=True):
            last = min(count - 1, (moment - begin) // width)
            for bucket in range(first, last + 1):
                rows += bucket, link
                values += 1.0, 1.0
                cost.append(0.0)
                ends.append(len(rows))
    program, most = LinearProgram(), np.inf
    upper = np.append(np.full(count, float(replicas)), np.zeros(2 * len(tasks)))
    lower = np.append(np.full(count, -most), np.zeros(2 * len(tasks)))
    none = np.zeros(0, np.int64)
    program.add_rows(lower, upper, np.zeros(len(upper) + 1, np.int64), none, np.zeros(0))
    costs = np.array(cost)
    entries = np.array(ends, np.int64), np.array(rows, np.int64), np.array(values)
    program.add_columns(costs, np.where(costs < 0, 1.0, most), *entries)
    duals = -program.solve(MOST_SECONDS).duals[:count]  # any prices prove a bound
    whole = np.floor(np.maximum(duals, 0) * UNIT).astype(np.int64)
    return TimePrices(begin, width, tuple(whole.tolist()))


def _places(tasks: list[_Task], begin: int, width: int, count: int) -> int:
    """Return how many buckets all windows reach together."""
    return sum(
        min(count - 1, (moment - begin) // width) - (task.arrival - begin) // width + 1
        for task in tasks
        for moment in (task.first_by, task.deadline)
    )
