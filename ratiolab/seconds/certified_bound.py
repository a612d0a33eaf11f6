"""The best bound in seconds that is found within some time, as a certificate."""

import time
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from operator import itemgetter
from typing import Any

import numpy as np

from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.hindsight.certificates.certify_seconds import (
    LARGEST,
    PRICE_BITS,
    ROOT_BITS,
    seconds_value,
)
from ratiolab.hindsight.relaxation.growth import growth_row
from ratiolab.model import Instance, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online.clock import BatchTime, picoseconds
from ratiolab.seconds.duals import (
    Duals,
    Flag,
    Parts,
    horizon,
    in_closed_form,
    parts_of,
    raised,
    refined,
    value,
)

COARSE, FINEST, MOST = 500, 8000, 10**7
"""Cells of time: of the first ascent, at most, and at most times requests."""

COARSELY = 2 / 3
"""Part of the time for the first ascent."""

FEWEST, GROUPS, ALL_GROUPS = 2, 12, 4000
"""Groups into which the tokens of a request after its first are divided: at least, at most, and at
most of all requests together."""

FINE = 22
"""Binary digits of the fixed time of a batch in the unit of a certificate."""

SHORTER = 1 - 2.0**-20
"""Factor on the concurrency of duals, so that it is paid for after rounding, too."""


def seconds_certificate(
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption = "restart",
    *,
    seconds: float = 0.0,
    cells: int = 0,
    groups: int = 0,
    over: Flag | None = None,
) -> SecondsCertificate:
    """Return a certificate of a lower bound on the total latency of every schedule.

    Parameters
    ----------
    instance : it states the seconds of a tick, unless clock does or all requests arrive at 0.
    clock : how long a batch takes.
    preemption : what an eviction costs.
    seconds : of an ascent from duals in closed form; 0 for those alone.
    cells : of time, by default as many as time allows.
    groups : of the tokens of a request after its first, by default as many as time allows.
    over : ends the ascent with the best bound so far, when it is set.

    Returns
    -------
    The certificate; its bound is in picoseconds. Cost O(n cells groups) for each of some steps.

    Examples
    --------
    >>> pair = Instance("pair", 3, [0, 0], [0, 0], [2, 2])  # the optimum takes 2 + 3 seconds
    >>> seconds_certificate(pair, BatchTime(fixed=1, tick=1)).bound > 3.6 * 10**12
    True
    """
    began, over = time.perf_counter(), np.zeros(1, np.bool_) if over is None else over

    def used(share: float) -> float:
        """Return the part of a share of the time that is used."""
        return 1.0 if over[0] else (time.perf_counter() - began) / (share * seconds)

    fixed, prefill, decode, kv, _ = clock.whole
    unit = max(1, fixed >> FINE)
    refills = EVICTIONS[preemption].refills
    groups = groups or max(FEWEST, min(GROUPS, ALL_GROUPS // len(instance)))
    fine = cells or max(COARSE, min(FINEST, MOST // (len(instance) * COARSE) * COARSE))
    coarse = fine if fine % COARSE else COARSE
    found = []
    for row in _rows(instance, clock, preemption):
        parts = parts_of(instance, clock, refills=refills, groups=groups, row=row)
        width = unit / PICOSECONDS * ceil(horizon(parts) / fine / unit * PICOSECONDS)
        duals = in_closed_form(parts, width, fine)
        found.append((value(parts, duals)[0], row, parts, duals))
    _, row, parts, best = max(found, key=itemgetter(0))
    if seconds:
        start = in_closed_form(parts, best.width * (fine // coarse), coarse)
        better = raised(parts, start, lambda: used(COARSELY))
        better = refined(parts, better, fine) if coarse < fine else better
        better = raised(parts, better, lambda: used(1.0))
        best = max(best, better, key=lambda duals: value(parts, duals)[0])
    tick = clock.tick if instance.tick_seconds is None else instance.tick_seconds
    claim = SecondsCertificate(
        instance.name,
        instance.digest,
        *(0, preemption, (fixed, prefill, decode, kv), picoseconds(tick or 0.0), unit),
        *_rounded(parts, best, unit, groups, row),
    )
    return replace(claim, bound=seconds_value(claim, instance))


def _rows(
    instance: Instance, clock: BatchTime, preemption: Preemption
) -> Iterator[tuple[int, int]]:
    """Yield (0, 0) for no growth row, and one of tokens and rounds where it may be of use.

    A row may leave a request that prefills nothing without work, which the checker refuses.
    """
    yield (0, 0)
    tokens, rounds = growth_row(instance)
    fits = instance.memory * (tokens + rounds) < LARGEST >> FINE + 1
    prefills = clock.prefill > 0 and instance.prompt.min() > 0
    if not EVICTIONS[preemption].keeps_tokens and fits and prefills:
        yield tokens, rounds


def _rounded(
    parts: Parts, duals: Duals, unit: int, groups: int, row: tuple[int, int]
) -> tuple[Any, ...]:
    """Return duals in integers: the fields of a certificate from its width on."""
    second = PICOSECONDS / unit
    levels: list[int] = []  # falling, also where works are equal but for rounding
    for level in parts.levels[::-1].tolist():
        levels.insert(0, max(ceil(level * second), levels[0] + 1 if levels else 1))
    price = np.floor(duals.price * 2**PRICE_BITS).astype(np.int64) + 2
    decoding = np.floor(SHORTER * duals.decoding * 2**ROOT_BITS).astype(np.int64)
    prefilled = np.floor(SHORTER * duals.prefilled * second).astype(np.int64)
    return (
        *(round(duals.width * second), groups, row, tuple(levels)),
        *(tuple(price.tolist()), tuple(decoding.tolist()), tuple(map(tuple, prefilled.tolist()))),
    )
