"""A beam over schedules in order of start, guided by prices of memory.

The gap between any schedule and the bound of prices u >= 0 is regret plus priced idle memory:

    latency = L(u) + sum over i of [c_i(p_i) - min c_i] + sum over t of u_t (M - use_t),

so that a partial schedule is judged by what it has lost so far and what it must lose. A state is
what runs, what waits, and the last start. A child starts a waiting request at the first time at
which it fits for good. Its score adds regrets and idle memory so far, the least regrets still
possible of those that wait, expected to start a little later than they could, and the memory that
stays idle over the next rounds. The best states of each bucket of times and generation are kept;
without generations, states that start little would crowd out the others.

Prices are those of a memory a little smaller: schedules lag behind the relaxation, which uses
every token.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ratiolab.hindsight.scale import beam_state as kept
from ratiolab.hindsight.scale.ascent import FloatArray
from ratiolab.hindsight.scale.beam_kernels import advance, expand, welcome
from ratiolab.hindsight.scale.beam_state import (
    Beam,
    Children,
    Guide,
    Knobs,
    Requests,
    States,
    Tree,
    Waiting,
)
from ratiolab.hindsight.scale.row_kernels import accumulate, cheapest_near
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.streams import stream

TABLE = 2**24
"""Entries of the table of least regrets, about."""

SLICE = 500
"""States expanded between two looks at the clock."""


class Setting(NamedTuple):
    """What guides a beam beside prices.

    Parameters
    ----------
    weight : of idle memory, between 0 and 1.
    delay, size_delay : rounds by which a request is expected to start late: whatever its prompt,
        and for each 4,000 tokens of it.
    horizon : rounds after a start for which idle memory counts.
    bucket : rounds whose states compete.
    """

    weight: float
    delay: float
    size_delay: float
    horizon: int
    bucket: int


class Prepared(NamedTuple):
    """Requests in order of volume, where each stands in the instance, and the first arrival."""

    requests: Requests
    order: IntArray
    origin: int


def prepare(instance: Instance, seed: int = 0) -> Prepared:
    """Return the requests of an instance as the beam numbers them."""
    order = np.argsort(instance.volume, kind="stable")
    origin = int(instance.arrival.min())
    arrival = instance.arrival[order] - origin
    letters = stream(seed, "hashes").integers(1, 2**63, len(instance)).astype(np.uint64)
    requests = Requests(
        arrival,
        instance.prompt[order],
        instance.output[order],
        instance.memory,
        np.argsort(arrival, kind="stable"),
        letters,
    )
    return Prepared(requests, order, origin)


def guide(
    prepared: Prepared, prices: FloatArray, width: int, room: float, setting: Setting
) -> Guide:
    """Return what prices of buckets of times say of the starts of requests."""
    requests, none = prepared.requests, np.zeros(0, np.int64)
    sums = accumulate(prices[None, :], width, room, none, none, 1.0)
    columns = requests.arrival, requests.prompt, requests.output
    least, _, _ = cheapest_near(sums, *columns, width, 0.0)
    horizon = setting.horizon
    ages = np.minimum(horizon, requests.output)
    share = 1 - np.arange(horizon) / horizon
    first, second = np.cumsum(share), np.cumsum(share * np.arange(1, horizon + 1))
    credit = requests.prompt * first[ages - 1] + second[ages - 1]
    delay = setting.delay + setting.size_delay * requests.prompt / 4000
    return Guide(
        *(prices, sums.level, sums.moment, least, width, room, delay, credit),
        *(setting.weight, horizon),
    )


def begin(prepared: Prepared, guide: Guide, knobs: Knobs, horizon: int, width: int) -> Beam:
    """Return a beam whose one state has started nothing."""
    requests, n = prepared.requests, len(prepared.order)
    slots, some = 64 * max(4, width), 64

    def zeros(size: int | tuple[int, ...], kind: type = np.int64) -> Any:
        return np.zeros(size, kind)

    states = States(
        time=zeros(slots),
        depth=zeros(slots),
        node=zeros(slots),
        references=zeros(slots),
        total=zeros(slots),
        cost=zeros(slots, np.float64),
        key=zeros(slots, np.uint64),
        running=zeros(slots),
        end=zeros((slots, some), np.int32),
        base=zeros((slots, some), np.int32),
        started=zeros(slots),
        item=zeros((slots, some), np.int32),
        free=np.arange(slots)[::-1].copy(),
    )
    some = 8 * slots
    following = np.arange(1, some + 1)
    following[-1] = -1
    children = Children(
        score=zeros(some, np.float64),
        cost=zeros(some, np.float64),
        start=zeros(some),
        request=zeros(some),
        parent=zeros(some),
        following=following,
        head=np.full(horizon // knobs.bucket + 2, -1, np.int64),
    )
    nodes = [np.zeros(2 * n * max(1, width), np.int32) for _ in range(3)]
    rows = int(min(len(guide.price) + 64, max(128, TABLE // n)))
    waiting = Waiting(
        np.zeros(n + 1, np.int64),
        np.zeros(n, np.bool_),
        np.zeros((rows, n), np.float32),
        np.full(4096, -1, np.int64),
        *(np.zeros(4096), np.zeros(4096)),
        np.zeros(n, np.int64),
    )
    count = np.zeros(kept.COUNTS, np.int64)
    count[kept.FREE_STATES] = slots - 1
    count[kept.BEST_TOTAL] = 2**62
    count[kept.BEST_NODE] = -1
    root = states.free[slots - 1]
    states.node[root], states.references[root] = -1, 1
    states.time[root] = requests.arrival[requests.arrivals[0]]
    beam = Beam(states, children, Tree(*nodes), waiting, np.zeros(2**17, np.uint64), count)
    welcome(requests, guide, waiting, count, states.time[root] + knobs.ahead)
    expand(requests, guide, knobs, states, children, waiting, count, root)
    states.references[root] -= 1
    return beam


def order_of(prepared: Prepared, beam: Beam) -> IntArray | None:
    """Return the requests in the order in which the best schedule starts them; None before the end.

    Each starts as early as it fits, but not before those earlier in the order.
    """
    node, order = int(beam.counts[kept.BEST_NODE]), []
    while node >= 0:
        order.append(int(prepared.order[beam.tree.request[node]]))
        node = int(beam.tree.before[node])
    return np.array(order[::-1], np.int64) if order else None


def run(
    prepared: Prepared,
    guide: Guide,
    knobs: Knobs,
    width: int,
    horizon: int,
    left: Callable[[], float] = lambda: 1.0,
) -> IntArray | None:
    """Return the order of starts that a beam finds; None when it is stopped before.

    Parameters
    ----------
    width : states kept of each bucket and generation; fewer when time gets short.
    horizon : rounds from the first arrival within which all requests start, about.
    left : part of the time that is left; 0 or less ends the beam once it has narrowed to nothing.
    """
    beam, n = begin(prepared, guide, knobs, horizon, width), len(prepared.order)
    while not beam.counts[kept.DONE]:
        time, part = left(), beam.counts[kept.DEEPEST] / n
        if time <= -0.2:
            return None
        # what has been done so far has taken so much of the time: the rest must fit
        rate = (1 - time) / max(part, 0.02)
        narrow = (
            width if rate <= 1 else max(1, int(width * max(0.0, time) / (rate * (1 - part) + 1e-9)))
        )
        beam = advance(prepared.requests, guide, knobs, beam, min(width, narrow), SLICE)
    return order_of(prepared, beam)
