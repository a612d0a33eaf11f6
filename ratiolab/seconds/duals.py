"""Duals of the bound in seconds, in floats: their value, its slope, and good ones in closed form.

`ratiolab.hindsight.certificates.certify_seconds` states the bound that duals prove and recomputes
it in integers; what is computed here only chooses them.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.bounds import Piece, one_machine
from ratiolab.machine_code import compiled
from ratiolab.model import Instance, IntArray
from ratiolab.online.clock import BatchTime

Floats = NDArray[np.float64]
Flag = NDArray[np.bool_]
"""Of shape (1,); a thread sets it to end another one."""

LEVELS = 5
"""Levels of work between which pairs of prefilled requests are told apart."""


BEYOND = 1.05
"""Times the end of the machine's work up to which there are duals."""


class Duals(NamedTuple):
    """Prices of machine time, and the concurrency that they assume, of each cell of time.

    Parameters
    ----------
    width : seconds of a cell.
    price : price of a second of the machine, in seconds of latency.
    decoding : sum over decoding requests of the root of the part of their work that is done.
    prefilled : of each level, sum over running requests of their prefill over the root of the
        output.
    """

    width: float
    price: Floats
    decoding: Floats
    prefilled: Floats


class Room(NamedTuple):
    """Scratch of `bound`, which compiles sooner when it makes no arrays."""

    rest: Floats
    credit: Floats
    highest: IntArray
    p: Floats
    low: Floats
    ahead: Floats
    chosen: IntArray
    origin: IntArray

    @classmethod
    def of(cls, parts: "Parts", duals: Duals) -> "Room":
        """Return room for these parts and duals."""
        size, groups = len(duals.price) + 3, int(np.diff(parts.first).max()) + 1
        rest, p, low = np.zeros((3, size))
        credit, highest = np.zeros((len(parts.steps) + 1, size)), np.zeros(size, np.int64)
        chosen, origin = np.zeros((2, groups, size), np.int64)
        return cls(rest, credit, highest, p, low, np.zeros((groups, size)), chosen, origin)


class Parts(NamedTuple):
    """Requests as the bound sees them; times in seconds from the first arrival.

    Parameters
    ----------
    due, work, level : of each request; the level counts those of `levels` that are at least its
        work.
    constant : what needs no duals, all requests together.
    levels : works, falling.
    first : groups of request j are first[j] to first[j + 1]; the first two are its own work.
    size, length, soonest : of each group its work, the least time that it takes, and when it may
        begin.
    root, running : of each group the slopes of a unit of its work in the duals.
    relief : of each request what a growth row takes off, seconds of fixed times of batches.
    """

    due: Floats
    work: Floats
    level: NDArray[np.int64]
    constant: float
    levels: Floats
    first: NDArray[np.int64]
    size: Floats
    length: Floats
    soonest: Floats
    root: Floats
    running: Floats
    relief: Floats
    fixed: float
    decode: float

    @property
    def steps(self) -> Floats:
        """Rise of the reciprocal of work at each level."""
        return np.diff(1 / self.levels, prepend=0.0)


def parts_of(
    instance: Instance,
    clock: BatchTime,
    *,
    refills: bool,
    groups: int,
    row: tuple[int, int] = (0, 0),
) -> Parts:
    """Return requests as the bound sees them.

    Parameters
    ----------
    refills : whether a batch may prefill what a request holds, in place of decoding.
    groups : parts into which the tokens after the first are divided.
    row : tokens and rounds of a growth row; (0, 0) for none.
    """
    arrivals = np.array(clock.arrivals(instance), np.float64) / 1e12
    due = arrivals - arrivals.min()
    fixed, decode = clock.fixed, min(clock.decode, clock.prefill) if refills else clock.decode
    works, relief, constant = np.empty(len(due)), np.zeros(len(due)), 0.0
    rows, first = [], [0]
    prefilled = np.empty(len(due))
    for j, (s, o) in enumerate(
        zip(instance.prompt.tolist(), instance.output.tolist(), strict=True)
    ):
        held = np.arange(s, s + o)
        own = clock.decode + clock.kv * held
        if refills:
            own = np.minimum(own, clock.prefill * held)
        own[0] = clock.prefill * s
        use = (held + 1) / instance.memory
        tokens, rounds = row
        if rounds:
            last = np.maximum(np.arange(o) + rounds + 1 - o, 0)  # what the row takes off
            use = use + rounds * np.minimum(use / tokens, 1 / instance.memory) - last / tokens
            relief[j] = -fixed * use[use < 0].sum()
        share = fixed * np.maximum(use, 0.0)
        part = own + share
        work = part.sum()
        before = np.cumsum(part) - part
        done = (before + part / 2) / work
        constant += fixed * done.sum() + (own * (before + own / 2)).sum() / work
        constant -= decode * done[1:].sum()
        root = np.sqrt(done) / np.maximum(share, 1e-300)
        f = own[0] / np.sqrt(o)
        ready = due[j] + fixed + own[0]
        rows.append((own[0], fixed + own[0], due[j], 0.0, 0.0))
        if o > 1:
            most = own[1:].max()
            lasts = own[1:].sum() / most * (fixed + most) if most else 0.0
            rows.append((own[1:].sum(), lasts, ready, 0.0, 0.0))
        rows.append((share[0], fixed, due[j], 0.0, f / share[0] if share[0] else 0.0))
        ends = [1 + (o - 1) * g // groups for g in range(groups + 1)]
        for begin, end in pairwise(ends):
            if begin < end and (most := share[begin:end].max()):
                size = share[begin:end].sum()
                lasts = size / most * (fixed + decode)
                rows.append((size, lasts, ready, root[begin:end].min(), f / most))
        first.append(len(rows))
        works[j], prefilled[j] = work, own[0]
    table = np.array(rows).T.copy()
    ranked = np.sort(works)[::-1]
    levels = ranked[[len(ranked) * k // LEVELS for k in range(LEVELS)]]
    levels = np.unique(levels)[::-1].copy()
    level = (works[:, None] <= levels).sum(axis=1)
    made = np.concatenate([[0.0], 1 / levels])
    constant -= float((prefilled**2 * made[level]).sum()) / 2
    size, length, soonest, root_slope, running = table
    shapes = due, works, level, constant, levels, np.array(first)
    return Parts(*shapes, size, length, soonest, root_slope, running, relief, fixed, decode)


@compiled
def bound(parts, steps, duals, slopes, room):  # type: ignore[no-untyped-def]
    """Return the bound without its constant, and add its slopes in the duals."""
    due, work, level, first = parts.due, parts.work, parts.level, parts.first
    size, length, soonest = parts.size, parts.length, parts.soonest
    root, running, fixed, decode = parts.root, parts.running, parts.fixed, parts.decode
    width, price, decoding, prefilled = duals
    rest, credit, highest, p, low, ahead, chosen, origin = room
    cells, levels = len(price), len(steps)
    total = 0.0
    for b in range(cells):
        q = decode * (decoding[b] * decoding[b])
        for m in range(levels):
            q += steps[m] * (prefilled[m, b] * prefilled[m, b]) / 2
            credit[m + 1, b] = credit[m, b] + steps[m] * prefilled[m, b]
        rest[b] = price[b] - q / fixed
        total -= width * price[b]
        slopes.price[b] -= width
    rest[cells] = 0.0
    highest[cells] = cells
    for b in range(cells - 1, -1, -1):
        highest[b] = b if rest[b] > rest[highest[b + 1]] else highest[b + 1]
    for j in range(len(due)):
        begin = int(due[j] / width)
        if begin >= cells:
            continue
        n = cells - begin + 1
        b = highest[begin]
        if parts.relief[j] > 0 and b < cells:
            total -= parts.relief[j] * rest[b]
            slopes.price[b] -= parts.relief[j]
            slopes.decoding[b] += 2 * parts.relief[j] * decode * decoding[b] / fixed
            for m in range(levels):
                slopes.prefilled[m, b] += parts.relief[j] * steps[m] * prefilled[m, b] / fixed
        for chain in range(2):
            middle = first[j] + (2 if first[j + 1] - first[j] > 2 else 1)
            g0, g1 = (first[j], middle) if chain == 0 else (middle, first[j + 1])
            for x in range(n + 2):
                ahead[g1 - g0, x] = 0.0
            for g in range(g1 - 1, g0 - 1, -1):
                k = g - g0
                for x in range(n):
                    b = begin + x
                    at = max(0.0, b * width - due[j]) / work[j]
                    if chain == 0:
                        p[x] = at + (price[b] if b < cells else 0.0)
                    else:
                        p[x] = at + rest[b] + running[g] * credit[level[j], b]
                        if b < cells:
                            p[x] += 2 * decode * root[g] * decoding[b]
                lowest = 0
                for x in range(n):
                    if p[x] < p[lowest]:
                        lowest = x
                here = n - 1
                for x in range(n - 1, lowest - 1, -1):
                    if p[x] < p[here]:
                        here = x
                    low[x], origin[k, x] = p[here], here
                here = 0
                for x in range(lowest):
                    if p[x] < p[here]:
                        here = x
                    low[x], origin[k, x] = p[here], here
                cover = int(length[g] / width)
                if not cover:
                    for x in range(n - 1, 0, -1):
                        if low[x - 1] < low[x]:
                            low[x], origin[k, x] = low[x - 1], origin[k, x - 1]
                earliest = min(n - 1, max(0, int(soonest[g] / width) - begin))
                block = cover * low[n - 1]
                best: float = np.inf
                at_best = n - 1
                for x in range(n - 1, -1, -1):
                    cost = size[g] * low[x]
                    if cover:
                        block += low[x] - low[min(n - 1, x + cover)]
                        cost = size[g] * block / cover
                    cost += ahead[k + 1, min(n - 1, x + cover)]
                    if x >= earliest and cost < best:
                        best, at_best = cost, x
                    ahead[k, x], chosen[k, x] = best, at_best
            total += ahead[0, 0]
            x = 0
            for g in range(g0, g1):
                k = g - g0
                x = chosen[k, min(x, n - 1)]
                cover = int(length[g] / width)
                spread = max(1, cover)
                for i in range(spread):
                    b = begin + origin[k, min(n - 1, x + i)]
                    if b >= cells:
                        continue
                    weight = size[g] / spread
                    slopes.price[b] += weight
                    if chain:
                        gain = root[g] - decoding[b] / fixed
                        slopes.decoding[b] += 2 * weight * decode * gain
                        for m in range(levels):
                            gain = (running[g] if m < level[j] else 0.0) - prefilled[m, b] / fixed
                            slopes.prefilled[m, b] += weight * steps[m] * gain
                x += cover
    return total


def value(parts: Parts, duals: Duals) -> tuple[float, Duals]:
    """Return the bound that duals prove, seconds of total latency, and its slopes in them."""
    slopes = Duals(duals.width, *(np.zeros_like(x) for x in duals[1:]))
    found = bound(parts, parts.steps, duals, slopes, Room.of(parts, duals))
    return parts.constant + float(found), slopes


def projected(parts: Parts, duals: Duals) -> Duals:
    """Return duals with less concurrency where the price is too small for it."""
    q = parts.decode * duals.decoding**2 + parts.steps @ duals.prefilled**2 / 2
    most = parts.fixed * duals.price
    scale = np.sqrt(np.minimum(1.0, most / np.maximum(q, 1e-300)))
    return duals._replace(decoding=duals.decoding * scale, prefilled=duals.prefilled * scale)


def horizon(parts: Parts) -> float:
    """Return until when there are duals, seconds: a little after the machine has done all work."""
    last = 2.0**-30 * _machine(parts, 1.0)[-1].end
    alone = parts.soonest + parts.length
    return max(BEYOND * last, float(alone.max()))


def in_closed_form(
    parts: Parts, width: float, cells: int, *, stretch: float = 1.0, share: float = 0.9
) -> Duals:
    """Return duals of the machine that serves the least work first, all works made longer.

    Parameters
    ----------
    width, cells : seconds of a cell, and how many there are.
    stretch : factor on works; a schedule leaves some memory idle.
    share : part of the concurrency of a full memory.
    """
    tokens = np.diff(parts.first)
    request = np.repeat(np.arange(len(tokens)), tokens)
    memory = _memory(parts)
    decoding = float((parts.root * parts.size).sum()) / memory
    running = np.bincount(request, parts.running * parts.size)
    prefilled = [float(running[parts.level > m].sum()) / memory for m in range(len(parts.levels))]
    full = np.full(cells, share)
    price = _prices(parts, _machine(parts, stretch), stretch, width, cells)
    return projected(parts, Duals(width, price, decoding * full, np.outer(prefilled, full)))


def _memory(parts: Parts) -> float:
    """Return the batches' memories that all requests fill, one after the other."""
    own = np.zeros(len(parts.size), bool)
    own[parts.first[:-1]] = True
    more = parts.first[:-1][np.diff(parts.first) > 2] + 1
    own[more] = True
    return max(float(parts.size[~own].sum()) / parts.fixed, 1e-9)


def _machine(parts: Parts, stretch: float) -> list[Piece]:
    due = np.rint(parts.due * 2.0**30).astype(np.int64).tolist()
    works = np.maximum(np.rint(stretch * parts.work * 2.0**30), 1).astype(np.int64).tolist()
    return list(one_machine(due, works, shortest_remaining=False))


def machine_prices(parts: Parts, cells: int, beyond: float, stretch: float) -> tuple[float, Floats]:
    """Return the seconds of a cell and the price of each, up to some times the machine's end."""
    pieces = _machine(parts, stretch)
    width = beyond * 2.0**-30 * pieces[-1].end / cells
    return width, _prices(parts, pieces, stretch, width, cells)


def _prices(parts: Parts, pieces: list[Piece], stretch: float, width: float, cells: int) -> Floats:
    """Return the mean price of machine time in each cell.

    While a request of work w is served the price falls by 1 / w a second; after its last piece it
    is what the pieces behind need, and 0 where the machine idles.
    """
    works = stretch * parts.work
    known = np.full(len(works), np.nan)
    spans = np.empty((len(pieces), 4))
    price, after = 0.0, pieces[-1].end
    for place in range(len(pieces) - 1, -1, -1):
        i, begin, end, _ = pieces[place]
        if end < after:
            price = 0.0
        after = begin
        first, last = 2.0**-30 * begin, 2.0**-30 * end
        if np.isnan(known[i]):
            known[i] = price + last / works[i]
        price = known[i] - first / works[i]
        spans[place] = first, last, price, known[i] - last / works[i]
    begins, ends, high, low = spans.T
    sums = np.concatenate([[0.0], ((ends - begins) * (high + low) / 2).cumsum()])
    at = np.arange(cells + 1) * width
    held = np.maximum(np.searchsorted(begins, at, "right") - 1, 0)
    inside = np.clip(at - begins[held], 0, (ends - begins)[held])
    fall = ((low - high) / np.maximum(ends - begins, 1e-300))[held]
    total = sums[held] + high[held] * inside + fall * inside**2 / 2
    prices: Floats = np.maximum(np.diff(total) / width, 0.0)
    return prices


def refined(parts: Parts, duals: Duals, cells: int) -> Duals:
    """Return duals of more cells: those in closed form, changed by what changed the coarse ones."""
    coarse = len(duals.price)
    old = in_closed_form(parts, duals.width, coarse)
    new = in_closed_form(parts, duals.width * coarse / cells, cells)
    times = cells // coarse
    made = [
        y * np.repeat(x / np.maximum(z, 1e-300), times, axis=-1)
        for x, y, z in zip(duals[1:], new[1:], old[1:], strict=True)
    ]
    return projected(parts, Duals(new.width, *made))


def raised(parts: Parts, duals: Duals, part: Callable[[], float], *, rate: float = 0.03) -> Duals:
    """Return better duals: ascent along the slopes in the logarithms of the duals.

    Steps are Adam's (Kingma, Ba 2015, arXiv 1412.6980v9), whose rate falls to 0 as the time is
    used up; the best duals that were met are kept.

    Parameters
    ----------
    part : returns the part of the time that is used.
    rate : rate of the first step.
    """
    best, slopes = value(parts, duals)
    kept, count = duals, 0
    mean = [np.zeros_like(x) for x in duals[1:]]
    square = [np.zeros_like(x) for x in duals[1:]]
    while (used := part()) < 1:
        count += 1
        moved = []
        for k, (x, slope) in enumerate(zip(duals[1:], slopes[1:], strict=True)):
            along = slope * np.maximum(x, 1e-3 * x.max())
            mean[k] += 0.1 * (along - mean[k])
            square[k] += 0.01 * (along**2 - square[k])
            size = np.sqrt(square[k] / (1 - 0.99**count)) + 1e-300
            step = mean[k] / (1 - 0.9**count) / size
            moved.append(x * np.exp(rate * (1 - used) * step))
        duals = projected(parts, Duals(duals.width, *moved))
        found, slopes = value(parts, duals)
        if found > best:
            best, kept = found, duals
    return kept
