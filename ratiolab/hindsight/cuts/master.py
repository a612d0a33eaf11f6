"""The linear program behind configuration cuts: it gains and loses rows, and gains columns.

It holds the columns whose reduced cost has once been near the least of their class. Missing columns
cannot spoil a bound: after each solve the duals are rounded to integers and every column of the
instance is priced with them (`ratiolab.hindsight.relaxation.lagrangian`).

Spans of times share their duals: a row for the mean of several times is a relaxation of their rows.
With duals of its own, a part of a span could charge what the solution holds there above the cap, at
first order dual times excess for each of its times. Spans are split where that promises most, so
that the program grows only where duals change.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.programs.highs import FloatArray, LinearProgram, Solution
from ratiolab.hindsight.relaxation.configurations import cap_within
from ratiolab.hindsight.relaxation.lagrangian import (
    DENOMINATOR,
    columns,
    reduced_costs,
    scaled_bound,
)
from ratiolab.model import Instance, IntArray

if TYPE_CHECKING:
    from scipy.sparse import coo_array

SPANS = 40
"""About the number of spans at first."""

GROWTH = 2.0
"""The first times of spans grow with their number to this power."""

PART = 0.5
"""The spans that are split promise this part of what splitting all would."""

TOLERANCE = 0.015
"""A span gets a row when it exceeds the cap by this part."""


class Row(NamedTuple):
    """The mean of a table's rows at times begin <= t < end."""

    table: int
    begin: int
    end: int


def first_spans(horizon: int) -> list[int]:
    """Return edges of spans that grow with time: early on, more requests pay for waste.

    >>> first_spans(10)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    grown = (horizon + 1.0) * np.linspace(0.0, 1.0, SPANS + 1) ** GROWTH
    return sorted({1, horizon + 1, *np.ceil(grown[1:]).astype(int).tolist()})


def means(loads: FloatArray, edges: list[int]) -> FloatArray:
    """Return the amounts of items in each span, on average over its times, shape (spans, items)."""
    summed: FloatArray = np.add.reduceat(loads, edges[:-1], axis=0)
    return summed / np.diff(edges)[:, None]


def split(
    edges: list[int], loads: FloatArray, rows: list[Row], duals: FloatArray, weights: FloatArray
) -> tuple[list[int], list[Row]]:
    """Halve some spans; return their edges and the rows that the halves exceed.

    Parameters
    ----------
    edges : first times of the spans, rising from 1, and T + 1.
    loads : amount of each item at times 0..T, shape (T + 1, items).
    rows, duals : rows of the program and their duals, at least 0.
    weights : weights of the items in each table, over its cap, shape (tables, items).
    """
    table, begin, end = np.array(rows, np.int64).reshape(-1, 3).T
    rate = duals / (end - begin)
    promise: dict[int, float] = {}
    exceeded: dict[int, list[Row]] = {}
    for first, last in pairwise(edges):
        if last == first + 1:
            continue
        middle = (first + last) // 2
        over = np.flatnonzero((begin < last) & (end > first) & (rate > 0))
        promise[middle], exceeded[middle] = 0.0, []
        for a, b in ((first, middle), (middle, last)):
            excess = weights[table[over]] @ loads[a:b].mean(axis=0) - 1
            promise[middle] += float(np.maximum(0.0, excess) @ rate[over]) * (b - a)
            found = over[excess > TOLERANCE]
            exceeded[middle] += [Row(k, a, b) for k in sorted(set(table[found].tolist()))]
    chosen: list[int] = []
    wanted = PART * sum(promise.values())
    for middle in sorted(promise, key=lambda middle: (-promise[middle], middle)):
        chosen.append(middle)
        wanted -= promise[middle]
        # without any promise all are halved, so that spans end as single times
        if wanted <= 0 < promise[middle]:
            break
    new = {row for middle in chosen for row in exceeded[middle]} - set(rows)
    return sorted({*edges, *chosen}), sorted(new)


def single(edges: list[int]) -> bool:
    """Return whether each span is one time."""
    return len(edges) == edges[-1]


def present(rows: list[Row], edges: list[int], tables: int) -> IntArray:
    """Return which tables have a row of just a span, shape (spans, tables), of 0 and 1."""
    found = np.zeros((len(edges) - 1, tables), np.int64)
    number = {pair: span for span, pair in enumerate(pairwise(edges))}
    for table, begin, end in rows:
        if (begin, end) in number:
            found[number[begin, end], table] = 1
    return found


PASSES = 4
"""Most solves a round; columns that the last one misses wait for the next round."""

NEAR = 3
"""Columns enter within this number of rounds from the least of their class."""

CLOSED = 0.1
"""Columns are complete when they could improve the program by at most this number of rounds."""

SLACK = 0.05
"""A row is dropped when it is slack by this part of its cap."""

IDLE = 3
"""A row is dropped after this number of rounds without a dual."""

MOST_TABLES = 400
"""With more tables than this, those without a row are forgotten, the oldest first."""

AT_ONCE = 250_000
"""Entries of the columns that enter at once."""


class Master:
    """The linear program: classes, then means of a table's rows over spans, divided by the cap.

    The memory is table 0: an item (m, r) weighs m, and the cap is M. Loads and caps of replicas are
    shared out over as many of the largest as make up their memory. Means over times are a
    relaxation, and cuts hold for them as they do for each time. A span and a part of it may both
    have rows, so that spans can be split while the program keeps its basis.

    Parameters
    ----------
    edges : first times of the spans that have a row of the memory at first, rising from 1, and
        T + 1, T that of `ratiolab.hindsight.relaxation.lagrangian`.
    memories : tokens of each replica that serves the requests; one replica by default.
    """

    def __init__(self, instance: Instance, edges: list[int], memories: Sequence[int] = ()) -> None:
        self.instance, self.horizon = instance, edges[-1] - 1
        self.memories = memories or (instance.memory,)
        self.replicas = sum(self.memories) / instance.memory  # as many of the largest
        self.columns = columns(instance, self.horizon)
        self.classes = len(self.columns.first)
        size = instance.memory + 1
        key = self.columns.m * size + self.columns.r
        real = np.flatnonzero(np.bincount(key, minlength=1))
        self.m, self.r = real // size, real % size  # of each item
        number = np.zeros(size * size, np.int32)
        number[real] = np.arange(len(real))
        self.item = number[key]  # of each entry
        counts = np.bincount(self.columns.column, minlength=len(self.columns.cost))
        self.entries = np.concatenate([[0], np.cumsum(counts)])  # where those of a column begin
        self.tables: list[Table] = []
        self.allowed: list[int] = []  # of each table, by all replicas together
        self.dense: list[IntArray] = []
        self.weights = np.zeros((0, len(real)))  # of the items in each table, over its cap
        tokens = range(1, instance.memory + 1)
        self.add_table(Table(instance.memory, tuple((m, 0, m) for m in tokens)))
        self.duals = Duals(DENOMINATOR, (0,) * self.horizon, (), ())
        reduced = self.columns.cost * DENOMINATOR
        self.value = scaled_bound(self.columns, self.duals, reduced, self.allowed)  # of the duals
        self.open = float("inf")  # value of the program above the bound proven from its duals
        self._last_value = 0.0
        self.amount = np.zeros(len(self.columns.cost))  # value of each column
        self.solution: Solution
        self.program: LinearProgram
        self.rows: list[Row]
        self.row_duals: FloatArray  # of each row, at least 0
        self.idle: IntArray  # rounds since each row had a dual
        self.place: IntArray  # of each column in the program, -1 outside
        self._start(np.arange(len(self.columns.cost)), edges)

    def solve_plain(self, time_limit: float | None) -> bool:
        """Solve without cuts over all columns, then keep the near ones; whether to optimality."""
        if not self._solve(time_limit):
            return False
        near = self._prove()
        # the last column of a class has no rows: with it the program stays feasible
        last = np.append(self.columns.first[1:], len(self.columns.cost)) - 1
        edges = [row.begin for row in self.rows] + [self.horizon + 1]
        self._start(np.union1d(near, last), edges)
        return True

    def solve(self, time_limit: float | None) -> bool:
        """Solve with cuts and prove a bound; whether the program was solved to its optimum."""
        for attempt in range(PASSES):
            if not self._solve(time_limit, primal=attempt > 0):
                return False
            near = self._prove()
            missing = near[self.place[near] < 0]
            if not len(missing) or self.open < CLOSED:
                break
            self._enter(missing)
        if self.solution.value > self._last_value + 0.5:
            self._drop()
            self._last_value = self.solution.value
        return True

    @property
    def lower(self) -> int:
        """Return the best bound proven."""
        return -(-self.value // self.duals.denominator)

    def loads(self) -> FloatArray:
        """Return the amount of each item at times 0..T for a replica, shape (T + 1, items)."""
        entries, column = self._entries_of(np.flatnonzero(self.amount > 1e-7))
        key = self.columns.time[entries] * len(self.m) + self.item[entries]
        size = (self.horizon + 1) * len(self.m)
        loads = np.bincount(key, self.amount[column], size).astype(float)
        return loads.reshape(self.horizon + 1, len(self.m)) / self.replicas

    def add_table(self, table: Table) -> None:
        """Add a table; without rows it changes nothing."""
        most = sum(self.memories)
        if self.tables:
            counts = Counter(self.memories)
            most = counts.pop(self.instance.memory) * table.cap
            most += sum(number * cap_within(table, m) for m, number in counts.items())
        self.tables.append(table)
        self.allowed.append(most)
        self.dense.append(table.dense(self.instance.memory))
        self.weights = np.vstack([self.weights, self.dense[-1][self.m, self.r] / self._cap(-1)])

    def _cap(self, table: int) -> float:
        """Return the cap of a table, shared out over replicas."""
        return self.allowed[table] / self.replicas

    def add_rows(self, rows: list[Row]) -> None:
        """Append rows of tables over times."""
        if not rows:
            return
        inside = np.flatnonzero(self.place >= 0)
        matrix = self._coefficients(rows, inside).tocsr()
        ones = np.ones(len(rows))
        indptr, indices = matrix.indptr.astype(np.int64), self.place[inside][matrix.indices]
        most = self.replicas * ones
        self.program.add_rows(-np.inf * ones, most, indptr, indices, matrix.data)
        self.rows += rows
        self.row_duals = np.append(self.row_duals, 0.0 * ones)
        self.idle = np.append(self.idle, np.zeros(len(rows), np.int64))

    def _solve(self, time_limit: float | None, *, primal: bool = False) -> bool:
        self.solution = self.program.solve(time_limit, primal=primal)
        if self.solution.optimal:
            inside = self.place >= 0
            self.amount[inside] = self.solution.columns[self.place[inside]]
            self.row_duals = np.maximum(0.0, -self.solution.duals[self.classes :])
        return self.solution.optimal

    def _start(self, chosen: IntArray, edges: list[int]) -> None:
        """Begin a program of these columns, with rows for classes and for memory in these spans."""
        self.program, self.rows = LinearProgram(), []
        self.row_duals, self.idle = np.zeros(0), np.zeros(0, np.int64)
        self.place = np.full(len(self.columns.cost), -1)
        count = self.columns.multiplicity.astype(float)
        none = np.zeros(self.classes + 1, np.int64)
        self.program.add_rows(count, count, none, none[:0], np.zeros(0))
        self.add_rows([Row(0, begin, end) for begin, end in pairwise(edges)])
        entries = np.cumsum(self.entries[chosen + 1] - self.entries[chosen])
        parts = np.flatnonzero(np.diff(entries // AT_ONCE)) + 1
        for part in np.split(chosen, parts):
            self._enter(part)

    def _enter(self, chosen: IntArray) -> None:
        """Append columns, with their coefficients in all rows."""
        from scipy.sparse import coo_array, csc_array, vstack

        group = self.columns.group[chosen]
        self.place[chosen] = self.place.max() + 1 + np.arange(len(chosen))
        shape = (self.classes, len(chosen))
        classes = coo_array((np.ones(len(chosen)), (group, np.arange(len(chosen)))), shape)
        matrix = csc_array(vstack([classes, self._coefficients(self.rows, chosen)]))
        self.program.add_columns(
            self.columns.cost[chosen].astype(float),
            self.columns.multiplicity[group].astype(float),
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data,
        )

    def _coefficients(self, rows: list[Row], chosen: IntArray) -> "coo_array":
        """Return the coefficients of rows in these columns, sparse, shape (rows, chosen)."""
        from scipy.sparse import coo_array

        table, begin, end = np.array(rows, np.int64).reshape(-1, 3).T
        number = np.zeros(len(self.place), np.int64)
        number[chosen] = np.arange(len(chosen))
        entries, column = self._entries_of(chosen)
        entries_by_time = np.argsort(self.columns.time[entries], kind="stable")
        entries, place = entries[entries_by_time], number[column[entries_by_time]]
        time, item = self.columns.time[entries], self.item[entries]
        low, high = np.searchsorted(time, begin), np.searchsorted(time, end)
        data, indices = [np.zeros(0)], [np.zeros(0, np.int64)]
        for k in range(len(rows)):
            part = slice(low[k], high[k])
            total = np.bincount(place[part], self.weights[table[k], item[part]], len(chosen))
            indices.append(np.flatnonzero(total))
            data.append(total[indices[-1]] / (end[k] - begin[k]))
        row = np.repeat(np.arange(len(rows)), [len(found) for found in indices[1:]])
        places = row, np.concatenate(indices)
        return coo_array((np.concatenate(data), places), (len(rows), len(chosen)))

    def _entries_of(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the entries of these columns, and the column of each."""
        first = self.entries[chosen]
        count = self.entries[chosen + 1] - first
        entries = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
        return entries, np.repeat(chosen, count)

    def _prove(self) -> IntArray:
        """Price all columns with the duals, rounded; those near the least of their class."""
        duals = self._rounded()
        reduced = reduced_costs(self.columns, duals, self.dense)
        proven = scaled_bound(self.columns, duals, reduced, self.allowed)
        if proven > self.value:
            self.value, self.duals = proven, duals
        self.open = self.solution.value - proven / DENOMINATOR
        least = np.rint(self.solution.duals[: self.classes] * DENOMINATOR).astype(np.int64)
        return np.flatnonzero(reduced < least[self.columns.group] + NEAR * DENOMINATOR)

    def _rounded(self) -> Duals:
        """Round the duals down; a row of the program is a table's row divided by its cap."""
        memory = np.zeros(self.horizon + 1, np.int64)
        cuts = []
        for (table, begin, end), dual in zip(self.rows, self.row_duals.tolist(), strict=True):
            scaled = int(dual * DENOMINATOR / (self._cap(table) * (end - begin)))
            if table == 0:
                memory[begin:end] += scaled
            elif scaled:
                cuts.append((table, begin, end, scaled))
        return Duals(DENOMINATOR, tuple(memory[1:].tolist()), tuple(self.tables), tuple(cuts))

    def _drop(self) -> None:
        """Drop rows that are slack or idle, and forget tables."""
        self.idle = np.where(self.row_duals > 0, 0, self.idle + 1)
        used = self.solution.rows[self.classes :] / self.replicas
        drop = (used < 1 - SLACK) | (self.idle >= IDLE)
        if drop.any():
            self.program.delete_rows(self.classes + np.flatnonzero(drop))
            self.rows = [row for row, out in zip(self.rows, drop, strict=True) if not out]
            self.row_duals, self.idle = self.row_duals[~drop], self.idle[~drop]
        named = {0, *(row.table for row in self.rows)}
        unused = [table for table in range(len(self.tables)) if table not in named]
        forgotten = set(unused[: max(0, len(self.tables) - MOST_TABLES)])
        kept = [table for table in range(len(self.tables)) if table not in forgotten]
        self.tables = [self.tables[table] for table in kept]
        self.dense = [self.dense[table] for table in kept]
        self.allowed = [self.allowed[table] for table in kept]
        self.weights = self.weights[kept]
        number = {table: new for new, table in enumerate(kept)}
        self.rows = [Row(number[table], begin, end) for table, begin, end in self.rows]
