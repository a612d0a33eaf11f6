"""A beam over schedules in order of start, guided by prices of memory.

The gap between any schedule and the bound of prices u >= 0 is regret plus priced idle memory:

    latency = L(u) + sum over i of [c_i(p_i) - min c_i] + sum over t of u_t (M - use_t),

so that the score of a partial schedule is its loss so far and what it must lose. A state is
what runs, what waits, and the last start. A child starts a waiting request at the first time at
which it fits for good. Its score adds regrets and idle memory so far, the least regrets still
possible of waiting requests, expected to start a little later than they could, and the memory that
stays idle over the next rounds. The best states of each bucket of times and generation are kept;
without generations, states that start little would crowd out the others.

Prices are those of a memory a little smaller: schedules lag behind the relaxation, which uses
every token.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.relaxation.ascent import FloatArray
from ratiolab.hindsight.relaxation.row_kernels import Terms, accumulate, cheapest_near
from ratiolab.hindsight.scale import beam_state as kept
from ratiolab.hindsight.scale.beam_kernels import advance
from ratiolab.hindsight.scale.beam_state import Beam, Guide, Knobs, Records, Room, with_room
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.promises import NO_DATE
from ratiolab.model.streams import stream

TABLE = 2**24
"""Entries of the table of least regrets, about."""

SLICE = 500
"""States expanded between two looks at the clock."""


class Setting(NamedTuple):
    """Guides of a beam beside prices.

    Parameters
    ----------
    weight : weight of idle memory, between 0 and 1.
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

    requests: Records
    order: IntArray
    origin: int
    memory: int


def prepare(instance: Instance, seed: int = 0) -> Prepared:
    """Return the requests of an instance as the beam numbers them."""
    order = np.argsort(instance.volume, kind="stable")
    origin = int(instance.arrival.min())
    requests = np.zeros(len(instance), kept.REQUEST)
    requests["arrival"] = instance.arrival[order] - origin
    requests["prompt"], requests["output"] = instance.prompt[order], instance.output[order]
    letters = stream(seed, "hashes").integers(1, 2**63, len(instance))
    requests["letters"] = letters.astype(np.uint64)
    return Prepared(requests, order, origin, instance.memory)


def guide(
    prepared: Prepared, prices: FloatArray, width: int, room: float, setting: Setting
) -> tuple[Records, Guide]:
    """Return requests with what prices of buckets of times say of their starts, and the prices."""
    requests, none = prepared.requests.copy(), np.zeros(0, np.int64)
    sums = accumulate(prices[None, :], width, float(room), none, none)
    arrival, prompt, output = (
        np.ascontiguousarray(requests[name]) for name in ("arrival", "prompt", "output")
    )
    n = len(requests)
    least, starts = np.empty(n), np.empty(n, np.int64)
    terms = Terms(np.ones(n), np.full(n, NO_DATE), np.full(n, np.inf))
    cheapest_near(sums, terms, arrival, prompt, output, width, 0.0, least, starts)
    requests["least"] = least
    horizon = setting.horizon
    ages = np.minimum(horizon, output)
    share = 1 - np.arange(horizon) / horizon
    first, second = np.cumsum(share), np.cumsum(share * np.arange(1, horizon + 1))
    requests["credit"] = prompt * first[ages - 1] + second[ages - 1]
    requests["delay"] = setting.delay + setting.size_delay * prompt / 4000
    both = np.column_stack([sums.level, sums.moment])
    return requests, Guide(prices, both, width, room, prepared.memory, setting.weight, horizon)


def begin(requests: Records, guide: Guide, knobs: Knobs, horizon: int, width: int) -> Beam:
    """Return a beam that has started nothing."""
    n, rows = len(requests), int(min(len(guide.price) + 64, max(128, TABLE // len(requests))))
    count = np.zeros(kept.COUNTS, np.int64)
    count[[kept.BUCKET, kept.FREE_STATE, kept.FREE_CHILD, kept.BEST_NODE]] = -1
    count[kept.BEST_TOTAL] = 2**62
    sums = np.zeros(4096, kept.MOMENT)
    sums["time"] = -1
    beam = Beam(
        requests=requests,
        arrivals=np.argsort(requests["arrival"], kind="stable"),
        states=np.zeros(0, kept.STATE),
        runs=np.zeros((0, 64), kept.RUN),
        items=np.zeros((0, 64), np.int32),
        children=np.zeros(0, kept.CHILD),
        heads=np.full(horizon // knobs.bucket + 2, -1, np.int32),
        tree=np.zeros(2 * n * max(1, width), kept.NODE),
        heap=np.zeros(0, kept.PENDING),
        fresh=np.zeros(n + 1),
        waiting=np.zeros(n + 1, np.int64),
        table=np.zeros((n, rows), np.float32),
        sums=sums,
        seen=np.zeros(2**17, np.uint64),
        counts=count,
    )
    return with_room(beam, 16 * max(4, width), knobs.children)


def order_of(prepared: Prepared, beam: Beam) -> IntArray | None:
    """Return the requests in the order in which the best schedule starts them; None before the end.

    Each starts as early as it fits, but not before those earlier in the order.
    """
    node, order = int(beam.counts[kept.BEST_NODE]), []
    while node >= 0:
        order.append(int(prepared.order[beam.tree["request"][node]]))
        node = int(beam.tree["before"][node])
    return np.array(order[::-1], np.int64) if order else None


def run(
    prepared: Prepared,
    guided: tuple[Records, Guide],
    knobs: Knobs,
    width: int,
    horizon: int,
    left: Callable[[], float] = lambda: 1.0,
) -> tuple[IntArray | None, int]:
    """Return the order of starts that a beam finds, None when it is stopped, and states expanded.

    Parameters
    ----------
    guided : what `guide` returns.
    width : states kept of each bucket and generation; fewer when time gets short.
    horizon : rounds from the first arrival within which all requests start, about.
    left : part of the time that is left; 0 or less ends the beam once it has narrowed to nothing.
    """
    requests, prices = guided
    beam, n = begin(requests, prices, knobs, horizon, width), len(requests)
    while not beam.counts[kept.DONE]:
        time, part = left(), beam.counts[kept.DEEPEST] / n
        if time <= -0.2:
            return None, int(beam.counts[kept.EXPANDED])
        # what has been done so far has taken so much of the time: the rest must fit
        rate = (1 - time) / max(part, 0.02)
        narrow = (
            width if rate <= 1 else max(1, int(width * max(0.0, time) / (rate * (1 - part) + 1e-9)))
        )
        narrow = min(width, narrow)
        beam = with_room(beam, narrow, knobs.children)
        advance(beam, prices, knobs, Room.of(beam, knobs.children), narrow, SLICE)
    return order_of(prepared, beam), int(beam.counts[kept.EXPANDED])
