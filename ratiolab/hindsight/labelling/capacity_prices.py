"""Weights for given multipliers: the weights that leave paths the least slack.

Given v, the weights of rows, y >= 0, that make all starts cost at least v and use the least in all:

    min  sum over rows of y cap (times)      s.t.   c_i(p) >= v_i  for each request i and start p.

Rows are tables over spans of times, those of the duals that are given, and the memory between the
ends of all these spans and changes of its dual. The program keeps its basis from one v to the next:
only right sides move. A few hundred of tens of thousands of starts bind, so that the program has
only the starts that some v has needed.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, dual_certificate
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.labelling.weights import Weights
from ratiolab.hindsight.programs.highs import FloatArray, LinearProgram
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance

LACKING = 1e-6
"""Rounds that a start may lack: multipliers that it has are then less by as much."""

TOGETHER = 16
"""Size of the groups of consecutive starts of a request; the start that lacks most joins the
program."""

MOST_STARTS = 2
"""The half with most slack leaves above this multiple of their number after the first refit."""


class CapacityPrices:
    """The program for one instance, with the tables and spans of some duals."""

    def __init__(self, instance: Instance, duals: Duals) -> None:
        self.instance, self.duals, self.horizon = instance, duals, len(duals.memory)
        self.columns = columns(instance, self.horizon)
        self.dense = [table.dense(instance.memory) for table in duals.tables]
        spans = sorted({(table, begin, end) for table, begin, end, _ in duals.cuts})
        changes = (np.flatnonzero(np.diff(duals.memory)) + 2).tolist()
        ends = sorted({1, self.horizon + 1, *changes, *(t for span in spans for t in span[1:])})
        self.rows = spans + [(-1, begin, end) for begin, end in pairwise(ends)]
        arrival, output = instance.arrival, instance.output
        number = np.maximum(0, self.horizon - arrival)
        self.owner = np.repeat(np.arange(len(instance)), number)
        self.start = np.arange(number.sum()) - (np.cumsum(number) - number - arrival)[self.owner]
        self.latency = self.start + (output - arrival)[self.owner]
        self.matrix = self._matrix()
        self.program, size = LinearProgram(), len(self.rows)
        none = np.zeros(size + 1, np.int64)
        cost = np.array([float(end - begin) for _, begin, end in self.rows])
        self.program.add_columns(cost, np.full(size, np.inf), none, none[:0], np.zeros(0))
        self.inside, self.most = np.zeros(0, np.int64), 0

    def __call__(self, multipliers: FloatArray) -> tuple[Weights, IntArray, DualCertificate]:
        """Return potentials, multipliers no larger than these that fit them, and what they prove.

        Parameters
        ----------
        multipliers : multipliers of each request, rounds.
        """
        weight = self._weights(multipliers[self.owner] - self.latency)
        denominator = self.duals.denominator
        memory, cuts = np.zeros(self.horizon + 1, np.int64), []
        for (table, begin, end), amount in zip(self.rows, weight.tolist(), strict=True):
            scaled = int(max(0.0, amount) * denominator / self._cap(table))
            if table < 0:
                memory[begin:end] += scaled
            elif scaled:
                cuts.append((table, begin, end, scaled))
        duals = Duals(denominator, tuple(memory[1:].tolist()), self.duals.tables, tuple(cuts))
        value = scaled_bound(self.columns, duals, reduced_costs(self.columns, duals, self.dense))
        potentials = Weights.of(self.instance, duals, self.dense)
        rounded = np.floor(multipliers * potentials.unit).astype(np.int64)
        proven = dual_certificate(self.instance, duals, value)
        return potentials, np.minimum(potentials.least, rounded), proven

    def _weights(self, need: FloatArray) -> FloatArray:
        """Return the cheapest weights that give each start what it needs, within a tolerance."""
        inside, program = self.inside, self.program
        program.set_rows(need[inside], np.full(len(inside), np.inf))
        while True:
            weight = program.solve().columns
            lacks: FloatArray = need - self.matrix @ weight
            lacking = np.flatnonzero(lacks > LACKING)
            lacking = lacking[~np.isin(lacking, inside)]
            if not len(lacking):
                break
            new = self._worst(lacking, lacks[lacking])
            part = self.matrix[new]
            rows = part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data
            program.add_rows(need[new], np.full(len(new), np.inf), *rows)
            self.inside = inside = np.append(inside, new)
        self.most = self.most or MOST_STARTS * len(inside)
        if len(inside) > self.most:
            idle = np.argsort(lacks[inside], kind="stable")[: len(inside) // 2]
            program.delete_rows(np.sort(idle))
            self.inside = np.delete(inside, idle)
        return weight

    def _worst(self, lacking: IntArray, amount: FloatArray) -> IntArray:
        """Return, of the starts that lack something, those of each few in a row that lack most."""
        group = self.owner[lacking] * (self.horizon + 1) + self.start[lacking] // TOGETHER
        order = np.lexsort((-amount, group))
        first = np.diff(group[order], prepend=-1) != 0
        worst: IntArray = lacking[order[first]]
        return worst

    def _matrix(self) -> Any:
        """Return what one unit of each weight pays to each start, shape (starts, rows), sparse."""
        from scipy.sparse import csr_array, vstack

        memory = self.instance.memory
        tokens = np.repeat(np.arange(memory + 1)[:, None], memory + 1, axis=1)
        tables = [dense / self._cap(table) for table, dense in enumerate(self.dense)]
        weights = np.array([*tables, tokens / memory])  # the last, of number -1, is the memory's
        table, begin, end = np.array(self.rows, np.int64).T
        parts = []
        for i, (_, s, o) in enumerate(self.instance.requests):
            ages: Any = np.arange(1, o + 1)
            paid = np.zeros((len(weights), o + 1))
            np.cumsum(weights[:, held(s, ages), o - ages], axis=1, out=paid[:, 1:])
            start = self.start[self.owner == i][:, None]
            first, last = (np.clip(t - start, 1, o + 1) - 1 for t in (begin, end))
            parts.append(csr_array(paid[table, last] - paid[table, first]))
        return vstack(parts, format="csr")

    def _cap(self, table: int) -> int:
        return self.instance.memory if table < 0 else self.duals.tables[table].cap
