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
in floats, and the checker `ratiolab.hindsight.certificates.certify_promises` computes the bound
from them in integers.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.certificate import InTimeCertificate
from ratiolab.hindsight.certificates.certify_promises import NEVER, SLIP, UNIT, in_time_value
from ratiolab.hindsight.programs.highs import LinearProgram
from ratiolab.model import Instance, Preemption
from ratiolab.model.fleet import Fleet, replicas_of
from ratiolab.online.clock import ROUNDS, BatchTime, picoseconds
from ratiolab.ratio.clock_bound import works_of

BUCKETS = 256
"""Most buckets of time with a price of their own, a power of two."""

MOST_PLACES = 60_000
"""Most columns of the linear program, about; it takes a second or two."""

MOST_SECONDS = 20.0
"""Seconds after which the linear program ends with the prices that it has."""


def goodput_certificate(
    given: Instance | Fleet,
    clock: BatchTime | None,
    preemption: Preemption,
    limits: tuple[float | None, float | None, float | None],
) -> InTimeCertificate:
    """Return the certificate of a bound on how many requests any schedule serves in time.

    Parameters
    ----------
    given : what is served, by one replica or by several, whatever the router.
    clock : how long a batch takes; None counts rounds.
    limits : of time to first token, of time per output token and of latency, in seconds or in
        rounds; None where there is no limit.

    >>> pair = Instance("pair", 3, [0, 0], [0, 0], [2, 2])  # 6 token-seconds, 3 at once
    >>> goodput_certificate(pair, None, "restart", (None, None, 2)).bound
    2
    """
    instance, replicas = replicas_of(given)
    time = clock or ROUNDS
    stated = None if clock is None else instance.tick_seconds
    timed = instance.replace(tick_seconds=stated)
    ttft, tpot, latency = (0 if x is None else max(1, picoseconds(x)) for x in limits)
    claim = InTimeCertificate(
        *(given.name, given.digest, 0, preemption, time.whole[:4]),
        picoseconds((time.tick if stated is None else stated) or 0.0),
        (ttft, tpot, latency),
        *(0, 1, ()),
        replicas=replicas,
    )
    tasks = _tasks(timed, time, preemption, claim.limits)
    if tasks:
        begin = min(task.arrival for task in tasks)
        last = max(task.arrival for task in tasks) + sum(task.alone for task in tasks)
        end = max(min(last, task.deadline) for task in tasks) + 1
        count = BUCKETS
        width = -(-(end - begin) // count)
        while count > 1 and _places(tasks, begin, width, count) > MOST_PLACES:
            count //= 2
            width = -(-(end - begin) // count)
        price = _best_prices(tasks, instance.memory, begin, width, count, replicas)
        claim = replace(claim, begin=begin, width=width, price=price)
    return replace(claim, bound=in_time_value(claim, instance, replicas))


class _Task(NamedTuple):
    """A request that can be in time, in picoseconds; its works in M-ths of one."""

    arrival: int
    first_by: int
    deadline: int
    first: int
    rest: int
    alone: int


def _tasks(
    instance: Instance, clock: BatchTime, preemption: Preemption, limits: tuple[int, int, int]
) -> list[_Task]:
    """Return the requests that can be in time, each by the sooner of two limits."""
    fixed, prefill, *_ = clock.whole
    ttft, tpot, latency = (limit + SLIP if limit else NEVER for limit in limits)
    works = works_of(instance, clock, preemption)
    tasks = []
    for request, arrival, (first, rest, alone) in zip(
        instance.requests, clock.arrivals(instance), works, strict=True
    ):
        later, begun = tpot * (request.output - 1), fixed + prefill * request.prompt
        if begun <= ttft and alone - begun <= later and alone <= latency:
            deadline = arrival + min(latency, ttft + later)
            tasks.append(
                _Task(arrival, min(arrival + ttft, deadline), deadline, first, rest, alone)
            )
    return tasks


def _best_prices(
    tasks: list[_Task], memory: int, begin: int, width: int, count: int, replicas: int
) -> tuple[int, ...]:
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
    return tuple(whole.tolist())


def _places(tasks: list[_Task], begin: int, width: int, count: int) -> int:
    """Return how many buckets all windows reach together."""
    return sum(
        min(count - 1, (moment - begin) // width) - (task.arrival - begin) // width + 1
        for task in tasks
        for moment in (task.first_by, task.deadline)
    )
