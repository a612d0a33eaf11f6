"""What rows over several times would prove on small cuts: parts of `bench_targets.py`.

Growth rows and configuration cuts look at those who run at one time. Here rows may look at two or
three times at once: a request runs at some of them, all or none, and what runs at each must fit in
memory. Every row of that kind that the time-indexed program violates is added, whatever its form.
Beside them walks over all rounds, which know everything but who has run.
"""

from collections.abc import Iterator
from time import thread_time

import numpy as np
from bench_traces import cut
from scipy.optimize import linprog
from scipy.sparse import csr_array

from ratiolab.hindsight import solve
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.dssr import Dssr
from ratiolab.hindsight.labelling.multipliers import Multipliers
from ratiolab.hindsight.labelling.weights import Weights
from ratiolab.hindsight.params import DEFAULT
from ratiolab.hindsight.relaxation.ascent import FloatArray
from ratiolab.model import Instance
from ratiolab.model.footprint import IntArray

CUTS = ((16, 3), (24, 5))
"""Requests, and by what their outputs and arrivals are divided."""

APART = (1, 2, 4, 8)
"""Rounds between two times of a row."""

MOST = 20_000
"""Most sets of starts that a separation enumerates; with more it gives up."""

WALKED, HALVED, WIDTH = ((16, 3), (20, 5)), 166, 1_000_000
"""Cuts of a memory of 99 tokens, as walks take at most 127, and states that a layer may keep."""

ROUNDS, GAIN, VIOLATED, TINY = 40, 1e-5, 1e-3, 1e-7


def times(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What rows over one, two and three times would prove of small cuts of code, at load 2.

    The part, in percent, of the gap between the time-indexed program and the optimum that all rows
    over one time close, then those over two times 1, 2, 4 or 8 rounds apart beside them, then over
    three, at most ``--limit`` seconds for each. The last column has the part of the separations
    that were given up, as more than 20,000 sets of starts fit. Means over the seeds that are proven
    and have a gap.
    """
    yield "| requests | outputs | gap, % | one time | two | three | proven | given up, % |"
    yield "|---|---|---|---|---|---|---|---|"
    for n, slow in CUTS:
        closed = []
        for seed in seeds:
            instance = cut(seed, n, slow)
            result = solve(instance, time_limit=60).uninterrupted()
            if not result.is_exact:
                continue
            program = Program(instance, result.schedule.makespan)
            plain = program.value()
            if result.upper - plain < 1e-6:
                continue
            parts = [100 * (result.upper / plain - 1)]
            for count in (1, 2, 3):
                reached = program.close(count, limit)
                parts.append(100 * (reached - plain) / (result.upper - plain))
            parts.append(100 * program.given_up / max(1, program.separated))
            closed.append(parts)
            print(f"cut {n} / {slow}, seed {seed}: {parts}", flush=True)
        means = [f"{sum(x) / len(closed):.1f}" for x in zip(*closed, strict=True)] or ["-"] * 5
        cells = " | ".join([*means[:4], f"{len(closed)} of {len(seeds)}", means[4]])
        yield f"| {n} | / {slow} | {cells} |"


def walks(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What a cost-to-go over all rounds would prove of small cuts of code, at load 2.

    The part, in percent, of the gap between the time-indexed program and the optimum that walks
    back over all rounds close that know what runs, but not who has run: multipliers of an ascent
    make those dear that a cheapest path starts twice, for ``--limit`` seconds. No window and no
    aggregation of such walks proves more. Where a layer has more than a million states there is no
    bound; the others count.
    """
    yield "| requests | outputs | gap, % | closed, %: mean (each) | with a bound |"
    yield "|---|---|---|---|---|"
    for n, slow in WALKED:
        gaps, closed = [], []
        for seed in seeds:
            instance = cut(seed, n, slow, HALVED)
            result = solve(instance, time_limit=60).uninterrupted()
            if not result.is_exact:
                continue
            plain = Program(instance, result.schedule.makespan).value()
            reached = walked(instance, result.upper, limit)
            if reached == 0 or result.upper - plain < TINY:
                continue
            gaps.append(100 * (result.upper / plain - 1))
            share = (max(plain, reached) - plain) / (result.upper - plain)
            closed.append(100 * min(1.0, share))
        each = ", ".join(f"{part:.0f}" for part in closed)
        mean, gap = (sum(x) / max(1, len(x)) for x in (closed, gaps))
        bounded = f"{len(closed)} of {len(seeds)}"
        yield f"| {n} | / {slow} | {gap:.1f} | {mean:.1f} ({each}) | {bounded} |"


def walked(instance: Instance, upper: int, seconds: float) -> float:
    """Return the best bound of sweeps without critical requests, 0 if none is complete."""
    proven = cut_bound(instance, rounds=0).certificate
    first = Weights.of(instance, proven.duals)
    search = Multipliers(
        *(instance, proven.duals, first.least / first.unit, lambda: upper, DEFAULT.bundle)
    )
    ends, best = thread_time() + seconds, 0.0

    def stop() -> bool:
        return thread_time() > ends

    while best < upper:
        dssr = Dssr(search.prices(), upper, stop, DEFAULT.labelling)
        if not dssr.exact(0, WIDTH, upper, stop) or dssr.last is None:
            break
        best = max(best, dssr.bound)
        search.learn(dssr.last.paths)
        search.again()
        if not all(search.step(WIDTH, stop) for _ in range(DEFAULT.bundle.steps)):
            break
    return best


class Program:
    """The time-indexed linear program with starts up to a horizon, and the rows added so far."""

    def __init__(self, instance: Instance, horizon: int) -> None:
        self.memory = instance.memory
        begin = int(instance.arrival.min())
        columns = [
            (i, p)
            for i in range(len(instance))
            for p in range(int(instance.arrival[i]), horizon - int(instance.output[i]) + 1)
        ]
        self.request, self.start = np.array(columns).T
        self.output = instance.output[self.request]
        self.cost = self.start + self.output - instance.arrival[self.request]
        self.times = np.arange(begin + 1, horizon + 1)
        age = self.times[:, None] - self.start
        runs = (age >= 1) & (age <= self.output)
        self.held = np.where(runs, instance.prompt[self.request] + age, 0)
        self.once = csr_array((np.ones(len(columns)), (self.request, np.arange(len(columns)))))
        self.rows: list[FloatArray] = []
        self.separated = self.given_up = 0

    def solved(self) -> tuple[float, FloatArray]:
        """Return value and solution of the program with its rows."""
        caps = np.concatenate([np.full(len(self.held), self.memory), np.ones(len(self.rows))])
        left = csr_array(np.vstack([self.held, *self.rows]))
        ones = np.ones(self.once.shape[0])
        found = linprog(self.cost, left, caps, self.once, ones, method="highs")
        return float(found.fun), found.x

    def value(self) -> float:
        return self.solved()[0]

    def close(self, count: int, seconds: float) -> float:
        """Add rows over so many times until none gains, or for so long; return the value."""
        ends, known, stalled = thread_time() + seconds, -np.inf, 0
        for _ in range(ROUNDS):
            value, amounts = self.solved()
            stalled = stalled + 1 if value < known * (1 + GAIN) else 0
            if stalled > 2 or thread_time() > ends:
                break
            known, before = value, len(self.rows)
            for apart in APART if count > 1 else (0,):
                for first in range(len(self.times) - (count - 1) * apart):
                    row = self.violated(first + apart * np.arange(count), amounts)
                    if row is not None:
                        self.rows.append(row)
            if len(self.rows) == before:
                break
        return value

    def violated(self, at: IntArray, amounts: FloatArray) -> FloatArray | None:
        """Return a row over these times that the amounts violate, at most 1 in every schedule."""
        held = self.held[at]
        options = np.flatnonzero((amounts > TINY) & held.any(axis=0))
        if len(options) < 2 or np.all(amounts[options] > 1 - TINY):
            return None
        self.separated += 1
        sets = self.sets(options, held)
        if sets is None:
            self.given_up += 1
            return None
        weights = best_weights(sets, amounts[options])
        if weights @ amounts[options] < 1 + VIOLATED:
            return None
        row = np.zeros(len(amounts))
        for option, weight in zip(options, weights, strict=True):
            own = self.request == self.request[option]
            above = own & (held >= held[:, [option]]).all(axis=0)
            row[above] = np.maximum(row[above], weight)
        return row

    def sets(self, options: IntArray, held: IntArray) -> FloatArray | None:
        """Return all sets of starts, a request at most once, that fit; none if too many."""
        found: list[list[int]] = [[]]
        used, rooms = [frozenset[int]()], [np.full(len(held), self.memory)]
        for k, option in enumerate(options):
            one = int(self.request[option])
            for s in range(len(found)):
                room = rooms[s] - held[:, option]
                if one not in used[s] and room.min() >= 0:
                    found.append([*found[s], k])
                    used.append(used[s] | {one})
                    rooms.append(room)
                    if len(found) > MOST:
                        return None
        sets = np.zeros((len(found), len(options)))
        for row, chosen in zip(sets, found, strict=True):
            row[chosen] = 1
        return sets


def best_weights(sets: FloatArray, amounts: FloatArray) -> FloatArray:
    """Return the weights, no set above 1, that weigh amounts most; rows are added as needed."""
    rows = np.eye(sets.shape[1])
    while True:
        found = linprog(-amounts, rows, np.ones(len(rows)), method="highs").x
        over = sets @ found
        worst = int(np.argmax(over))
        if over[worst] <= 1 + TINY:
            weights: FloatArray = found / max(1.0, float(over[worst]))
            return weights
        rows = np.vstack([rows, sets[worst]])
