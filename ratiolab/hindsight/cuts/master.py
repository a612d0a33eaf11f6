"""The linear program behind configuration cuts: it gains and loses rows, and gains columns.

It holds the columns whose reduced cost has once been near the least of their class. What it leaves
out cannot spoil a bound: after each solve the duals are rounded to integers and every column of the
instance is priced with them (`ratiolab.hindsight.relaxation.lagrangian`).
"""

from itertools import pairwise

import numpy as np

from ratiolab.hindsight.certificates.prices import Prices, Table
from ratiolab.hindsight.programs.highs_lp import FloatArray, LinearProgram, Solution
from ratiolab.hindsight.relaxation.lagrangian import (
    DENOMINATOR,
    columns,
    reduced_costs,
    scaled_bound,
)
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

PASSES = 4
"""Most solves a round; columns that the last one misses wait for the next round."""

NEAR = 3
"""With a column that improves the program, others enter that are so many rounds from it."""

NEAR_FIRST = 10
"""The same for the first program, after which all others start."""

CLOSED = 0.1
"""Columns are complete when they could improve the program by no more than so many rounds."""

SLACK = 0.05
"""A cut is dropped when it is slack by this part of its cap."""


class Master:
    """Rows: classes, then memory in each span of times, then cuts, each divided by its cap.

    A span of times has one row for the mean of their rows. That is a relaxation, and cuts hold for
    means as they do for each time: prices are equal within a span, and the program is smaller.

    Parameters
    ----------
    edges : first times of the spans, rising from 1, and T + 1, T that of
        `ratiolab.hindsight.relaxation.lagrangian`.
    """

    def __init__(self, instance: Instance, edges: list[int]) -> None:
        self.instance, self.edges, self.horizon = instance, edges, edges[-1] - 1
        self.columns = columns(instance, self.horizon)
        self.spans = len(edges) - 1
        times = np.searchsorted(edges, self.columns.time, side="right")
        self.span = times.astype(np.int64) - 1  # of each entry
        by_time = np.argsort(self.columns.time, kind="stable")
        places = np.searchsorted(self.columns.time[by_time], edges)
        self.active = [by_time[a:b] for a, b in pairwise(places.tolist())]
        self.width = np.diff(edges)
        self.classes = len(self.columns.first)
        self.tables: list[Table] = []
        self.dense: list[IntArray] = []
        self.cuts: list[tuple[int, int]] = []
        self.prices = Prices(DENOMINATOR, (0,) * self.horizon, (), ())
        reduced = self.columns.cost * DENOMINATOR
        self.value = scaled_bound(self.columns, self.prices, reduced)  # of the prices
        self.open = float("inf")  # value of the program above the bound proven from its duals
        self._last_value = 0.0
        self._start(np.arange(len(self.columns.cost)))
        self.amount = np.zeros(len(self.columns.cost))  # value of each column
        self.solution: Solution

    def solve_plain(self, time_limit: float | None) -> bool:
        """Solve without cuts over all columns, then keep the near ones; whether to optimality."""
        if not self._solve(time_limit):
            return False
        near = self._prove(NEAR_FIRST)
        # the last column of a class has no rows: with it the program stays feasible
        last = np.append(self.columns.first[1:], len(self.columns.cost)) - 1
        self._start(np.union1d(near, last))
        return True

    def solve(self, time_limit: float | None) -> bool:
        """Solve with cuts and prove a bound; whether the program was solved to its optimum."""
        for attempt in range(PASSES):
            if not self._solve(time_limit, primal=attempt > 0):
                return False
            near = self._prove(NEAR)
            missing = near[self.place[near] < 0]
            if not len(missing) or self.open < CLOSED:
                break
            self._enter(missing)
        if self.solution.value > self._last_value + 0.5:
            self._drop_slack()
            self._last_value = self.solution.value
        return True

    @property
    def lower(self) -> int:
        """The best bound proven."""
        return -(-self.value // self.prices.denominator)

    def _solve(self, time_limit: float | None, *, primal: bool = False) -> bool:
        self.solution = self.program.solve(time_limit, primal=primal)
        if self.solution.optimal:
            inside = self.place >= 0
            self.amount[inside] = self.solution.columns[self.place[inside]]
        return self.solution.optimal

    def halved(self) -> "Master":
        """The program with spans half as long, with the tables, cuts and columns now in use."""
        middles = [(begin + end) // 2 for begin, end in pairwise(self.edges)]
        finer = Master(self.instance, sorted({*self.edges, *middles}))
        finer.value, finer.prices = self.value, self.prices
        finer.tables, finer.dense = self.tables, self.dense
        finer._start(np.flatnonzero(self.place >= 0))
        begins = np.array(self.edges[:-1])
        inside = np.searchsorted(begins, finer.edges[:-1], side="right") - 1
        known = set(self.cuts)
        finer.cuts = []
        finer.add_cuts(
            [
                (table, span)
                for span, parent in enumerate(inside.tolist())
                for table in sorted(table for table, of in known if of == parent)
            ]
        )
        return finer

    def items(self, span: int) -> tuple[IntArray, IntArray, FloatArray]:
        """What the solution has in memory, on average: m, r and amount of each item."""
        entries = self.active[span]
        amount = self.amount[self.columns.column[entries]] / self.width[span]
        entries, amount = entries[amount > 1e-6], amount[amount > 1e-6]
        return self.columns.m[entries], self.columns.r[entries], amount

    def add_table(self, table: Table) -> None:
        self.tables.append(table)
        self.dense.append(table.dense(self.instance.memory))

    def add_cuts(self, cuts: list[tuple[int, int]]) -> None:
        """Append rows for (table, span) pairs."""
        if not cuts:
            return
        indptr, indices, values = [0], [], []
        for cut in cuts:
            column, weights = self._row(*cut)
            place = self.place[column]
            indices.append(place[place >= 0])
            values.append(weights[place >= 0])
            indptr.append(indptr[-1] + len(indices[-1]))
        ones = np.ones(len(cuts))
        rows = np.array(indptr), np.concatenate(indices), np.concatenate(values)
        self.program.add_rows(-np.inf * ones, ones, *rows)
        self.cuts += cuts

    def _row(self, table: int, span: int) -> tuple[IntArray, FloatArray]:
        """Columns and coefficients of a cut."""
        entries = self.active[span]
        weights = self.dense[table][self.columns.m[entries], self.columns.r[entries]]
        entries, weights = entries[weights > 0], weights[weights > 0]
        column, first = np.unique(self.columns.column[entries], return_inverse=True)
        total = np.bincount(first, weights)
        return column, total / (self.tables[table].cap * self.width[span])

    def _start(self, chosen: IntArray) -> None:
        """A program of these columns and no cuts."""
        self.cuts = []
        self.place = np.full(len(self.columns.cost), -1)
        self.program = LinearProgram()
        count = self.columns.multiplicity.astype(float)
        full = np.full(self.spans, float(self.instance.memory))
        lower = np.concatenate([count, -np.inf * full])
        none = np.zeros(0)
        indptr = np.zeros(len(lower) + 1, np.int64)
        self.program.add_rows(
            lower, np.concatenate([count, full]), indptr, none.astype(np.int64), none
        )
        self._enter(chosen)

    def _enter(self, chosen: IntArray) -> None:
        """Append columns, with their coefficients in all rows."""
        from scipy.sparse import csc_array

        group = self.columns.group[chosen]
        first = self.place.max() + 1
        self.place[chosen] = first + np.arange(len(chosen))
        new = np.zeros(len(self.place), np.bool_)
        new[chosen] = True
        entries = np.flatnonzero(new[self.columns.column])
        span = self.span[entries]
        rows = [group, self.classes + span]
        places = [self.place[chosen], self.place[self.columns.column[entries]]]
        values = [np.ones(len(chosen)), self.columns.m[entries] / self.width[span]]
        for number, cut in enumerate(self.cuts):
            column, weights = self._row(*cut)
            inside = new[column]
            rows.append(np.full(inside.sum(), self.classes + self.spans + number))
            places.append(self.place[column[inside]])
            values.append(weights[inside])
        shape = (self.classes + self.spans + len(self.cuts), len(chosen))
        matrix = csc_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(places) - first)), shape
        )
        matrix.sum_duplicates()
        self.program.add_columns(
            self.columns.cost[chosen].astype(float),
            self.columns.multiplicity[group].astype(float),
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data,
        )

    def _prove(self, near: int) -> IntArray:
        """Price all columns with the duals, rounded; those within so many rounds of their class."""
        prices = self._rounded(self.solution.duals)
        reduced = reduced_costs(self.columns, prices, self.dense)
        proven = scaled_bound(self.columns, prices, reduced)
        if proven > self.value:
            self.value, self.prices = proven, prices
        self.open = self.solution.value - proven / DENOMINATOR
        least = np.rint(self.solution.duals[: self.classes] * DENOMINATOR).astype(np.int64)
        return np.flatnonzero(reduced < least[self.columns.group] + near * DENOMINATOR)

    def _rounded(self, duals: FloatArray) -> Prices:
        """Duals rounded down; a cut of the program is a table's row divided by its cap."""
        scaled = np.maximum(0.0, -duals[self.classes :]) * DENOMINATOR
        memory = np.floor(scaled[: self.spans] / self.width).astype(np.int64)
        cuts = []
        for (table, span), price in zip(self.cuts, scaled[self.spans :].tolist(), strict=True):
            rounded = int(price / (self.tables[table].cap * self.width[span]))
            if rounded:
                cuts.append((table, self.edges[span], self.edges[span + 1], rounded))
        return Prices(
            DENOMINATOR,
            tuple(np.repeat(memory, self.width).tolist()),
            tuple(self.tables),
            tuple(cuts),
        )

    def _drop_slack(self) -> None:
        base = self.classes + self.spans
        slack = self.solution.rows[base:] < 1 - SLACK
        if slack.any():
            self.program.delete_rows(base + np.flatnonzero(slack))
            self.cuts = [cut for cut, drop in zip(self.cuts, slack, strict=True) if not drop]
