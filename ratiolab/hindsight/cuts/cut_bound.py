"""Lower bounds from the time-indexed program with configuration cuts.

Rounds: solve the linear program; look for cuts that its solution violates, first among the tables
known, in every span of times, then by separation; drop cuts whose dual has become zero; repeat.
Times of a span share their duals, which makes the program small. Spans grow with time: nearly all
that schedules leave unused at a cost, they leave in the first third of their rounds. When rounds
gain little, spans are split where duals seem to change (`ratiolab.hindsight.cuts.master`), and the
program goes on from its basis. After each round the duals are rounded to integers and
`ratiolab.hindsight.relaxation.lagrangian` proves the bound, so that a bound never rests on floating
point, and stopping early only makes it weaker.
"""

import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, dual_certificate
from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.certificates.effort import MOST_BYTES, duals_effort
from ratiolab.hindsight.cuts.master import (
    TOLERANCE,
    Master,
    Row,
    first_spans,
    means,
    present,
    single,
    split,
)
from ratiolab.hindsight.programs.highs import FloatArray
from ratiolab.hindsight.relaxation.configurations import Separator, real_items
from ratiolab.hindsight.relaxation.lagrangian import DENOMINATOR
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import Instance, IntArray, stream
from ratiolab.model.fleet import Fleet, memories_of

ROUNDS = 60
"""Most rounds by default."""

TABLES_A_ROUND = 30
"""New tables of one round."""

KNOWN = 3
"""Most rows of known tables that a span gets in a round."""

PATIENCE, STALLED = 2, 0.004
"""Spans are split when ``PATIENCE`` rounds raise the bound by less than this part of it."""

LEAST_AMOUNT = 1e-6
"""Smaller amounts of an item are rounding."""

LARGEST_MEMORY = 200
"""Most tokens of memory for which configurations are searched: O(M^2) states a table."""

CHECKED = 0.9
"""Part of the memory of a check that costs of starts may take; the rest is for cuts."""

MOST_ENTRIES = 50_000_000
"""Most non-zeros of the memory rows: they take two gigabytes."""


class CutProgress(NamedTuple):
    """Seconds and rounds so far, and the best proven bound."""

    seconds: float
    rounds: int
    lower: int


Report: TypeAlias = Callable[[CutProgress], None]
Separate: TypeAlias = Callable[[IntArray, IntArray, FloatArray], Table | None]
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
    certificate: DualCertificate = field(repr=False)
    rounds: int
    seconds: float
    stopped: Stopped


def cut_bound(
    given: Instance | Fleet,
    *,
    horizon: int | None = None,
    rounds: int = ROUNDS,
    time_limit: float | None = None,
    target: int | None = None,
    progress: Report | None = None,
) -> CutBound:
    """Bound the hindsight optimum from below by configuration cuts, with a proof.

    Each round of cuts solves a linear program of O(n T) columns. Each search for a configuration
    takes O(M^2) states times the items of a table.

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

    >>> cut_bound(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).lower
    12
    """
    instance, memories = memories_of(given)
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
    edges = first_spans(horizon)
    separate = Separator(instance.memory, real_items(instance))
    master = Master(instance, edges, memories)
    solved = master.solve_plain(clock.left)
    plain = master.lower
    stopped: Stopped
    done = 0
    gains: list[int] = []
    try:
        while True:
            if progress is not None:
                progress(CutProgress(clock.seconds, done, master.lower))
            if target is not None and master.lower >= target:
                stopped = "target"
                break
            if not solved or clock.over:
                stopped = "time"
                break
            if done == rounds:
                stopped = "rounds"
                break
            before, loads = master.lower, master.loads()
            stalled = len(gains) >= PATIENCE and sum(gains[-PATIENCE:]) < STALLED * before
            rows = []
            if single(edges) or not stalled:
                rows = _violated(master, separate, edges, means(loads, edges), clock)
            while not (rows or single(edges) or clock.over):
                edges, rows = split(edges, loads, master.rows, master.row_duals, master.weights)
                gains = []
            if not rows:
                stopped = "time" if clock.over else "converged"
                break
            master.add_rows(rows)
            done += 1
            solved = master.solve(clock.left)
            gains.append(master.lower - before)
    except KeyboardInterrupt:  # duals and their value change together: what is proven stays
        stopped = "interrupted"
    certificate = dual_certificate(given, master.duals, master.value)
    return CutBound(instance, certificate.bound, plain, certificate, done, clock.seconds, stopped)


def fits(instance: Instance, horizon: int) -> bool:
    """Return whether memory and program are small enough for `cut_bound`, and for its checker."""
    if instance.memory > LARGEST_MEMORY or _entries(instance, horizon) > MOST_ENTRIES:
        return False
    plain = Duals(DENOMINATOR, (DENOMINATOR,) * horizon, (), ())
    return duals_effort(plain, instance).bytes <= CHECKED * MOST_BYTES


def longest_horizon(instance: Instance, most: int) -> int:
    """Return the longest horizon that `fits`, up to ``most``; 0 when none does."""
    if fits(instance, most):
        return most
    return bisect_left(range(1, most), True, key=lambda horizon: not fits(instance, horizon))


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


def _violated(
    master: Master, separate: Separate, edges: list[int], amounts: FloatArray, clock: _Clock
) -> list[Row]:
    """Return rows that the solution violates: of known tables, or else of new ones."""
    spans = list(pairwise(edges))
    excess = amounts @ master.weights.T - 1
    known = np.where(present(master.rows, edges, len(master.tables)), 0.0, excess)
    rows: list[Row] = []
    for span, (begin, end) in enumerate(spans):
        order = np.argsort(-known[span], kind="stable")[:KNOWN]
        rows += [Row(k, begin, end) for k in order.tolist() if known[span, k] > TOLERANCE]
    most = np.maximum(TOLERANCE, excess.max(axis=1))
    best: dict[int, int] = {}
    left = np.flatnonzero(excess.max(axis=1) <= TOLERANCE)
    new = 0
    for span in stream(len(rows), "separation").permutation(left).tolist():
        if new == TABLES_A_ROUND or clock.over:
            break
        held = np.flatnonzero(amounts[span] > LEAST_AMOUNT)
        if span in best or not len(held):
            continue
        table = separate(master.m[held], master.r[held], amounts[span, held])
        if table is None:
            continue
        new += 1
        master.add_table(table)
        beyond = amounts @ master.weights[-1] - 1
        for other in np.flatnonzero(beyond > most).tolist():
            best[other], most[other] = len(master.tables) - 1, beyond[other]
    return rows + [Row(table, *spans[span]) for span, table in sorted(best.items())]
