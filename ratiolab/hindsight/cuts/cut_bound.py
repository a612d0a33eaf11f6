"""Lower bounds from the time-indexed program with configuration cuts.

Rounds: solve the linear program; look for cuts that its solution violates, first among the tables
known, at every time, then by separation; drop cuts that have become slack; repeat. At first, spans
of several times share their prices, which makes the program small. Spans grow with time: nearly all
that schedules leave unused at a price, they leave in the first third of their rounds. When rounds
gain little, spans are halved, and the tables found so far go on. After each round the duals are
rounded to integers and `ratiolab.hindsight.relaxation.lagrangian` proves the bound, so that a bound
never rests on floating point, and stopping early only makes it weaker.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.certificate import PriceCertificate, price_certificate
from ratiolab.hindsight.cuts.configurations import Separator
from ratiolab.hindsight.cuts.master import Master
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model.instance import Instance

ROUNDS = 40
"""Most rounds by default."""

TABLES_A_ROUND = 30
"""New tables of one round."""

SPANS = 64
"""About the number of spans of times that share prices, at first."""

GROWTH = 2.0
"""The first times of spans grow with their number to this power."""

PATIENCE, STALLED = 3, 0.003
"""Spans are halved when so many rounds raise the bound by less than this part of it."""

TOLERANCE = 0.03
"""A cut is added when it is violated by this part of its cap."""

LARGEST_MEMORY = 200
"""Most tokens of memory for which configurations are searched: O(M^2) states a table."""

MOST_ENTRIES = 10_000_000
"""Most non-zeros of the memory rows."""


class Progress(NamedTuple):
    """Seconds and rounds so far, and the best proven bound."""

    seconds: float
    rounds: int
    lower: int


Report: TypeAlias = Callable[[Progress], None]
Stopped: TypeAlias = Literal["converged", "rounds", "time", "target", "interrupted"]


@dataclass(frozen=True, eq=False)
class CutBound:
    """A proven lower bound and the certificate that proves it.

    ``plain`` is the bound before the first cut; ``stopped`` says why rounds ended;
    after Ctrl-C the bound is the one proven so far.
    """

    instance: Instance
    lower: int
    plain: int
    certificate: PriceCertificate = field(repr=False)
    rounds: int
    seconds: float
    stopped: Stopped


def cut_bound(
    instance: Instance,
    *,
    horizon: int | None = None,
    rounds: int = ROUNDS,
    time_limit: float | None = None,
    target: int | None = None,
    progress: Report | None = None,
) -> CutBound:
    """A lower bound on the hindsight optimum by configuration cuts, with its proof.

    Parameters
    ----------
    horizon : last time with memory rows and cuts; any value gives a valid bound, one near the
        makespan of good schedules a good one. By default that of MC-SF's order.
    rounds : most rounds of cuts; the result is then the same on every machine.
    time_limit : seconds, checked between separations and handed to each linear program.
    target : stop once the bound reaches this value, such as the latency of a known schedule.
    progress : called after each round.

    Raises
    ------
    ValueError
        when the memory exceeds `LARGEST_MEMORY` or the program `MOST_ENTRIES`, or a limit is
        negative.

    Cost: a linear program of O(n T) columns a round, and O(M^2) states times the items of a
    table for each configuration searched.

    >>> cut_bound(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).lower
    12
    """
    if instance.memory > LARGEST_MEMORY:
        raise ValueError(f"memory {instance.memory} exceeds {LARGEST_MEMORY}, the most for cuts")
    for name, value in (("horizon", horizon), ("rounds", rounds), ("time_limit", time_limit)):
        if value is not None and value < 0:
            raise ValueError(f"{name} {value} must be at least 0")
    if horizon is None:
        horizon = list_schedule(instance, np.argsort(instance.output, kind="stable")).makespan
    entries = _entries(instance, horizon)
    if entries > MOST_ENTRIES:
        raise ValueError(f"up to {entries} non-zeros exceed {MOST_ENTRIES}, the most for cuts")
    clock = _Clock(time_limit)
    master, separate = Master(instance, first_spans(horizon)), Separator(instance)
    solved = master.solve_plain(clock.left)
    plain = master.lower
    stopped: Stopped
    done = 0
    gains: list[int] = []
    try:
        while True:
            if progress is not None:
                progress(Progress(clock.seconds, done, master.lower))
            if target is not None and master.lower >= target:
                stopped = "target"
                break
            if not solved or clock.over:
                stopped = "time"
                break
            if done == rounds:
                stopped = "rounds"
                break
            before = master.lower
            stalled = (
                master.spans < horizon
                and len(gains) >= PATIENCE
                and sum(gains[-PATIENCE:]) < STALLED * master.lower
            )
            if stalled or not _cut(master, separate, clock):
                if clock.over or master.spans == horizon:
                    stopped = "time" if clock.over else "converged"
                    break
                master, gains = master.halved(), []
            done += 1
            solved = master.solve(clock.left)
            gains.append(master.lower - before)
    except KeyboardInterrupt:  # prices and their value change together: what is proven stays
        stopped = "interrupted"
    certificate = price_certificate(instance, master.prices, master.value)
    return CutBound(instance, certificate.bound, plain, certificate, done, clock.seconds, stopped)


def first_spans(horizon: int) -> list[int]:
    """Edges of spans that grow with time: early on, more requests pay for what a round wastes.

    >>> first_spans(10)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    grown = (horizon + 1.0) * np.linspace(0.0, 1.0, SPANS + 1) ** GROWTH
    return sorted({1, horizon + 1, *np.ceil(grown[1:]).astype(int).tolist()})


def fits(instance: Instance, horizon: int) -> bool:
    """Whether memory and program are small enough for `cut_bound`."""
    return instance.memory <= LARGEST_MEMORY and _entries(instance, horizon) <= MOST_ENTRIES


def _entries(instance: Instance, horizon: int) -> int:
    return len(instance) * horizon * int(instance.output.max())


class _Clock:
    def __init__(self, limit: float | None) -> None:
        self.began, self.limit = time.perf_counter(), limit

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def left(self) -> float | None:
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    @property
    def over(self) -> bool:
        return self.limit is not None and self.seconds >= self.limit


def _cut(master: Master, separate: Separator, clock: _Clock) -> int:
    """Add violated cuts, tables known before new ones; how many."""
    amounts = {t: master.items(t) for t in range(master.spans)}
    amounts = {t: items for t, items in amounts.items() if len(items[2])}
    excess = dict.fromkeys(amounts, 0.0)
    best: dict[int, int] = {}

    def use(table: int) -> None:
        dense, cap = master.dense[table], master.tables[table].cap
        for t, (m, r, amount) in amounts.items():
            found = float(dense[m, r] @ amount) / cap - 1
            if found > max(TOLERANCE, excess[t]):
                excess[t], best[t] = found, table

    for number in range(len(master.tables)):
        use(number)
    known = dict(best)
    order = np.random.default_rng(len(master.cuts)).permutation(list(amounts)).tolist()
    new = 0
    for t in order:
        if new == TABLES_A_ROUND or clock.over:
            break
        if t not in best and (table := separate(*amounts[t])) is not None:
            new += 1
            master.add_table(table)
            use(len(master.tables) - 1)
    present = set(master.cuts)
    cuts = {(table, t) for t, table in [*known.items(), *best.items()]} - present
    if cuts:
        master.add_cuts(sorted(cuts))
    return len(cuts)
