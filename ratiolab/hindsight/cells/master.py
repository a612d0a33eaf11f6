"""Prices of rows by a linear program over all integer starts, with lazy rows and columns.

A row says what memory can hold at a time: tokens, or configurations on a grid of `GRID` tokens
(`ratiolab.hindsight.relaxation.configurations`). Prices mu_r >= 0 of rows of weights w_r and caps
c_r give each start p of a request the *reduced cost* p - a + sum of mu_r w_r(tokens held at the
time of row r, rounds left). Every schedule waits at least as
many rounds in sum as the least reduced costs of all requests less the sum of mu_r c_r: the
Lagrangian bound. Prices are integers in units of 2^-24 rounds, so that the bound is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.cells.kernels import FAR, ONE, Costs, Problem, Rows, serial, weight_of
from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.params import CellsParams
from ratiolab.hindsight.programs.highs import FloatArray, LinearProgram
from ratiolab.hindsight.relaxation.configurations import Separator
from ratiolab.machine_code import compiled
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Column, Instance
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream


def problem_of(instance: Instance) -> Problem:
    """Return the columns of an instance as the kernels read them."""
    known: dict[tuple[int, int, int], int] = {}
    twin = []
    for i, request in enumerate(instance.requests):
        twin.append(known.get(request, -1))
        known[request] = i
    arrival, prompt, output = map(np.array, (instance.arrival, instance.prompt, instance.output))
    return Problem(arrival, prompt, output, np.array(twin, np.int64), instance.memory)


def serial_schedule(instance: Instance, order: Column) -> Schedule:
    """Give each request in this order the earliest start that memory still allows.

    Later requests may fill gaps that earlier ones left. No order need lead to an optimum: a growing
    footprint can make a start feasible and a later start, which blocks less, better.

    >>> three = Instance("three", 5, [0, 0, 0], [1, 1, 1], [3, 1, 2])
    >>> serial_schedule(three, [0, 1, 2]).starts.tolist()
    [0, 0, 3]
    """
    problem = problem_of(instance)
    starts = serial(problem, np.asarray(order, np.int64), problem.arrival)
    return Schedule.from_starts(instance, starts)


@compiled
def _reduced_costs(problem, rows, horizon):  # type: ignore[no-untyped-def]
    """Return the reduced cost of each start up to a horizon, units; shape (n, horizon + 1)."""
    n = len(problem.arrival)
    costs = np.empty((n, horizon + 1), np.int64)
    for i in range(n):
        arrival, prompt, output = problem.arrival[i], problem.prompt[i], problem.output[i]
        for p in range(horizon + 1):
            costs[i, p] = (p - arrival) * ONE if p >= arrival else FAR
        for r in range(len(rows.time)):
            t, price = rows.time[r], rows.price[r]
            for p in range(max(arrival, t - output), min(t, horizon + 1)):
                left = p + output - t
                costs[i, p] += price * weight_of(rows, r, prompt + t - p, left, problem.memory)
    return costs


@dataclass(frozen=True)
class Prices:
    """An instance with priced rows.

    Parameters
    ----------
    tables : of the rows, from table 1 on.
    ahead : prices for what lies ahead of a label; these prices by default. Configurations prove
        more, but a running request that is only known by its cell certainly weighs less in them.
    horizon : no row has a later time.
    """

    problem: Problem
    rows: Rows
    tables: tuple[Table, ...]
    horizon: int
    ahead: "Prices | None" = None

    def __post_init__(self) -> None:
        caps = np.array([self.problem.memory, *(table.cap for table in self.tables)])
        paid = caps[self.rows.table] * self.rows.price
        capacities = np.append(np.cumsum(paid[::-1])[::-1], 0)
        reduced = _reduced_costs(self.problem, self.rows, self.horizon)
        later = np.minimum.accumulate(reduced[:, ::-1], axis=1)[:, ::-1]
        object.__setattr__(self, "capacities", capacities)  # of the rows from each one on
        object.__setattr__(self, "reduced", reduced)
        object.__setattr__(self, "later", later)

    capacities: IntArray = None  # type: ignore[assignment]
    reduced: IntArray = None  # type: ignore[assignment]
    later: IntArray = None  # type: ignore[assignment]

    @property
    def rest(self) -> "Prices":
        """Return the prices of what lies ahead of a label."""
        return self.ahead or self

    @property
    def triples(self) -> list[tuple[int, int, int]]:
        """Return time, table and price of each row."""
        return list(zip(*(column.tolist() for column in self.rows[:3]), strict=True))

    @property
    def grid(self) -> int:
        """Return the tokens of the memory of the tables."""
        return int(self.rows.weight.shape[1]) - 1

    @property
    def capacity(self) -> int:
        """Return the priced capacity of all rows, units."""
        return int(self.capacities[0])

    @property
    def bound(self) -> int:
        """Return the Lagrangian bound on the rounds of waiting."""
        return -(-(int(self.later[:, 0].sum()) - self.capacity) // ONE)

    def costs(self, width: int) -> Costs:
        """Return the reduced costs of cells of ``width`` rounds."""
        begins = np.arange(0, self.horizon + 1, width)
        cell = np.minimum.reduceat(self.reduced, begins, axis=1)
        later = np.ascontiguousarray(self.later[:, begins])
        cell[:, -1] = later[:, -1]
        ahead = np.ascontiguousarray(self.rest.later[:, begins])
        return Costs(cell, later, ahead, self.capacity)


GRID = 179
"""Tokens of the memory for which configurations are searched, unless it has fewer. G + 1 is a
multiple of 2 to 6, so that requests of more than M / 2 to M / 6 tokens stay so; a search takes
O(G^2) states an item."""

PIECES = 5
"""Most pieces of the first tables: k + 1 divides G + 1 up to it."""

IDLE = 3
"""A row is dropped after this number of rounds without a price, as in `ratiolab.hindsight.cuts`."""

TOLERANCE = 1e-6
"""Values of columns, and reduced costs in rounds, below which they count as zero."""


class Master:
    """The program: one start for each request, and the rows and columns that were needed so far.

    Parameters
    ----------
    starts : starts of a schedule, whose columns make the program feasible. Shape (n,).
    """

    def __init__(self, problem: Problem, starts: IntArray, params: CellsParams) -> None:
        self.problem, self.params = problem, params
        ends = starts + problem.output
        makespan, longest = int(ends.max()), int(problem.output.max())
        self.horizon = makespan + max(makespan // 2, longest)
        self.program, n = LinearProgram(), len(starts)
        none = np.zeros(0, np.int64)
        self.program.add_rows(
            np.ones(n), np.full(n, np.inf), np.zeros(n + 1, np.int64), none, np.zeros(0)
        )
        self.request = self.start = self.time = self.table = none
        self.grid = min(GRID, problem.memory)
        self.idle = none
        self.tables: list[Table] = []
        self._room = np.zeros((8, self.grid + 1, self.grid + 1), np.int64)
        self.cap = np.array([problem.memory])
        ages = [np.arange(1, output + 1) for output in problem.output.tolist()]
        held = zip(problem.prompt.tolist(), problem.output.tolist(), ages, strict=True)
        items = np.concatenate([np.column_stack((s + age, o - age)) for s, o, age in held])
        items = np.unique(self._scaled(items), axis=0)
        self.separator = Separator(self.grid, items[items[:, 0] > 0], n)
        self._add_columns(np.tile(np.arange(n), 2), np.concatenate((starts, problem.arrival)))
        self.first = min(PIECES, self.grid)
        for k in range(1, self.first + 1):  # at most k requests of more than M / (k + 1) tokens
            least = [(-(-j * (self.grid + 1) // (k + 1)), 0, j) for j in range(1, k + 1)]
            self._add_table(Table(k, tuple(least)))
        times = np.unique(ends)
        self._add_rows(times, np.zeros(len(times), np.int64))

    def _scaled(self, tokens: IntArray) -> IntArray:
        """Return tokens or rounds on the grid."""
        return (self.grid + 1) * tokens // (self.problem.memory + 1)

    def run(self, upper: int, stop: Callable[[], bool], tables: int) -> Prices:
        """Return the best prices found, with at most ``tables`` new tables a round.

        Parameters
        ----------
        upper : rounds of waiting of the best schedule.
        """
        best, known = None, []
        n, primal = len(self.problem.arrival), True
        while True:
            solution = self.program.solve(primal=primal)
            duals = np.maximum(0.0, -solution.duals[n:])
            prices = self._prices(duals)
            if best is None or prices.bound > best.bound:
                best = prices
            if best.bound >= upper or stop():
                return best
            settled = solution.value - prices.bound <= max(0.5, 0.002 * abs(solution.value))
            primal = not settled and self._price_out(prices, solution.duals[:n])
            if not primal:
                known.append(best.bound)
                rounds = self.params.patience
                if len(known) > rounds and (
                    known[-1] - known[-1 - rounds] < self.params.gain * (upper - known[-1])
                ):
                    return best
                self._drop(duals)
                if not self._separate(solution.columns, tables):
                    return best

    def _held(self, times: IntArray, at: IntArray) -> tuple[IntArray, IntArray]:
        """Return the tokens that columns hold at times, and the rounds left; shape (times, at)."""
        request = self.request[at]
        age, output = times[:, None] - self.start[at], self.problem.output[request]
        active = (age > 0) & (age <= output)
        tokens = np.where(active, self.problem.prompt[request] + age, 0)
        return tokens, np.where(active, output - age, 0)

    def _weights(self, times: IntArray, tables: IntArray, at: IntArray) -> FloatArray:
        """Return the weights of columns in rows over their caps, shape (rows, columns)."""
        tokens, left = self._held(times, at)
        k = tables[:, None]
        weights = self.weight[k, self._scaled(tokens), self._scaled(left)]
        over: FloatArray = np.where(k, weights, tokens) / self.cap[k]
        return over

    def _add_rows(self, times: IntArray, tables: IntArray) -> None:
        weights = self._weights(times, tables, np.arange(len(self.start)))
        rows, columns = np.nonzero(weights)
        begins = np.searchsorted(rows, np.arange(len(times) + 1))
        lower, upper = np.full(len(times), -np.inf), np.ones(len(times))
        self.program.add_rows(lower, upper, begins, columns, weights[rows, columns])
        self.time = np.append(self.time, times)
        self.table = np.append(self.table, tables)

    def _add_columns(self, request: IntArray, start: IntArray) -> None:
        old = len(self.start)
        self.request = np.append(self.request, request)
        self.start = np.append(self.start, start)
        n, new = len(self.problem.arrival), np.arange(old, len(self.start))
        weights = self._weights(self.time, self.table, new).T.reshape(len(new), len(self.time))
        once = np.zeros((len(new), n))
        once[np.arange(len(new)), request] = 1.0
        entries = np.hstack((once, weights))
        columns, rows = np.nonzero(entries)
        begins = np.searchsorted(columns, np.arange(len(new) + 1))
        cost = (start - self.problem.arrival[request]).astype(float)
        upper = np.full(len(new), np.inf)
        self.program.add_columns(cost, upper, begins, rows, entries[columns, rows])

    def _prices(self, duals: FloatArray) -> Prices:
        """Return these duals as prices of a unit of weight, rounded down."""
        price = np.floor(duals / self.cap[self.table] * ONE).astype(np.int64)
        kept = np.flatnonzero(price)
        kept = kept[np.argsort(self.time[kept], kind="stable")]
        rows = Rows(self.time[kept], self.table[kept], price[kept], self.weight)
        return Prices(self.problem, rows, tuple(self.tables), self.horizon)

    def _price_out(self, prices: Prices, duals: FloatArray) -> bool:
        """Add starts of negative reduced cost, local minima; return whether there are any."""
        requests, starts = [], []
        for i, dual in enumerate(duals):
            reduced = prices.reduced[i, self.problem.arrival[i] :] / ONE - dual
            padded = np.concatenate(([np.inf], reduced, [np.inf]))
            least = (reduced < padded[:-2]) & (reduced <= padded[2:]) & (reduced < -TOLERANCE)
            places = np.flatnonzero(least)
            places = places[np.argsort(reduced[places], kind="stable")][: self.params.columns]
            starts.append(places + self.problem.arrival[i])
            requests.append(np.full(len(places), i))
        request, start = np.concatenate(requests), np.concatenate(starts)
        known = set(zip(self.request.tolist(), self.start.tolist(), strict=True))
        new = [pair not in known for pair in zip(request.tolist(), start.tolist(), strict=True)]
        if any(new):
            self._add_columns(request[new], start[new])
        return any(new)

    def _separate(self, values: FloatArray, most: int) -> bool:
        """Add violated rows: of known tables, or else of new ones; return whether there are any."""
        used = np.flatnonzero(values > TOLERANCE)
        ends = self.start[used] + self.problem.output[self.request[used]]
        times = np.unique(np.concatenate((ends, self.start[used] + 1)))
        tokens, left = self._held(times, used)
        items, amounts = (self._scaled(tokens), self._scaled(left)), values[used]
        loads = np.empty((len(self.tables) + 1, len(times)))
        loads[0] = tokens @ amounts / self.problem.memory
        for k in range(1, len(loads)):
            loads[k] = self.weight[k][items] @ amounts / self.cap[k]
        if most:  # separated tables cut off more
            loads[1 : self.first + 1] = 0.0
        place = {t: x for x, t in enumerate(times.tolist())}
        for t, k in zip(self.time.tolist(), self.table.tolist(), strict=True):
            if t in place:
                loads[k, place[t]] = 0.0
        table, load = loads.argmax(axis=0), loads.max(axis=0)
        for x in stream(len(self.time), "separation").permutation(len(times)).tolist():
            if len(self.tables) + 1 - len(loads) == most:
                break
            here = np.flatnonzero(items[0][x])
            if load[x] <= 1 + self.params.violation and len(here) > 1:
                found = self.separator(items[0][x, here], items[1][x, here], amounts[here])
                if found is not None:
                    self._add_table(found)
                    own = self.weight[-1][items[0][x], items[1][x]] @ amounts / found.cap
                    table[x], load[x] = len(self.tables), own
        chosen = np.argsort(-load, kind="stable")[: self.params.rows]
        chosen = chosen[load[chosen] > 1 + self.params.violation]
        if len(chosen):
            self._add_rows(times[chosen], table[chosen])
        return len(chosen) > 0

    def _drop(self, duals: FloatArray) -> None:
        """Remove rows that had no price in the last rounds."""
        new = len(duals) - len(self.idle)
        self.idle = np.where(duals > 0, 0, np.append(self.idle, np.zeros(new, np.int64)) + 1)
        drop = self.idle >= IDLE
        if drop.any():
            self.program.delete_rows(len(self.problem.arrival) + np.flatnonzero(drop))
            self.time, self.table, self.idle = self.time[~drop], self.table[~drop], self.idle[~drop]

    @property
    def weight(self) -> IntArray:
        """Return the weights of all tables; table 0 stands for tokens."""
        return self._room[: len(self.tables) + 1]

    def _add_table(self, table: Table) -> None:
        self.tables.append(table)
        self.cap = np.append(self.cap, table.cap)
        if len(self.tables) == len(self._room):
            self._room = np.concatenate((self._room, np.zeros_like(self._room)))
        self._room[len(self.tables)] = table.dense(self.grid)
