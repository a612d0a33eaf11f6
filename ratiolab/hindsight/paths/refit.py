"""Potentials for given multipliers: the weights that leave paths the least slack.

Given v, the weights of rows, y >= 0, that make all starts cost at least v and use the least in all:

    min  sum over rows of y cap (times)      s.t.   c_i(p) >= v_i  for each request i and start p.

Rows are tables over spans of times, those of the duals that are given, and the memory between the
ends of all these spans and changes of its dual. The program keeps its basis from one v to the next:
only right sides move.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate, dual_certificate
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.hindsight.programs.highs_lp import FloatArray, LinearProgram
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Instance


class Refit:
    """The program for one instance, with the tables and spans of some duals."""

    def __init__(self, instance: Instance, duals: Duals) -> None:
        from scipy.sparse import csc_array

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
        edges = np.cumsum([0, *number])
        self.start = np.arange(len(self.owner)) - edges[self.owner] + arrival[self.owner]
        self.latency = self.start + (output - arrival)[self.owner]
        matrix = np.zeros((len(self.owner), len(self.rows)))
        memory = np.repeat(np.arange(instance.memory + 1)[:, None], instance.memory + 1, axis=1)
        for column, (table, begin, end) in enumerate(self.rows):
            weight = (memory if table < 0 else self.dense[table]) / self._cap(table)
            for i, (_, s, o) in enumerate(instance.requests):
                ages: Any = np.arange(1, o + 1)
                paid = np.concatenate([[0.0], np.cumsum(weight[held(s, ages), o - ages])])
                own = slice(edges[i], edges[i + 1])
                first, last = (np.clip(t - self.start[own], 1, o + 1) - 1 for t in (begin, end))
                matrix[own, column] = paid[last] - paid[first]
        sparse = csc_array(matrix)
        self.program = LinearProgram()
        free, none = np.full(len(self.owner), np.inf), np.zeros(len(self.owner) + 1, np.int64)
        self.program.add_rows(-free, free, none, none[:0], np.zeros(0))
        self.program.add_columns(
            np.array([float(end - begin) for _, begin, end in self.rows]),
            np.full(len(self.rows), np.inf),
            *(sparse.indptr.astype(np.int64), sparse.indices.astype(np.int64), sparse.data),
        )

    def __call__(self, multipliers: FloatArray) -> tuple[Potentials, IntArray, DualCertificate]:
        """Return potentials, multipliers no larger than these that fit them, and what they prove.

        Parameters
        ----------
        multipliers : of each request, rounds.
        """
        need = multipliers[self.owner] - self.latency
        self.program.set_rows(np.where(need > 0, need, -np.inf), np.full(len(need), np.inf))
        weight = self.program.solve().columns
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
        potentials = Potentials.of(self.instance, duals)
        rounded = np.floor(multipliers * potentials.unit).astype(np.int64)
        proven = dual_certificate(self.instance, duals, value)
        return potentials, np.minimum(potentials.least, rounded), proven

    def _cap(self, table: int) -> int:
        return self.instance.memory if table < 0 else self.duals.tables[table].cap
