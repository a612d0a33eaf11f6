"""Reduced costs of starts under priced rows, for the checker of certificates by cells.

`ratiolab.hindsight.certificates.certify_cells` says what they are.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ratiolab.hindsight.certificates.certificate import CellCertificate
from ratiolab.hindsight.certificates.tables import table_weights
from ratiolab.model.footprint import IntArray, Tokens, held
from ratiolab.model.instance import Instance

UNIT_BITS = 24
"""A round of waiting costs 2^24 units."""

UNIT: int = 2**UNIT_BITS
"""Units of cost of a round."""

NEVER = 2**60
"""Cost of a cell in which a request cannot start."""


Rows: TypeAlias = Sequence[tuple[int, int, int]]
"""Time, table and price of each row."""


def row_capacities(certificate: CellCertificate, rows: Rows, memory: int) -> list[int]:
    """Return the priced capacity of each row, units."""
    caps = {0: memory}
    for _, number, _ in rows:
        if number not in caps:
            caps[number] = certificate.table_of(number)[1].cap
    return [price * caps[number] for _, number, price in rows]


def checked_tables(certificate: CellCertificate, requests: int) -> dict[int, IntArray]:
    """Return the weights of the tables of all rows, after a check of their caps."""
    numbers = {number for _, number, _ in (*certificate.rows, *certificate.ahead)} - {0}
    return {
        number: table_weights(number, table, grid, requests)
        for number in sorted(numbers)
        for grid, table in (certificate.table_of(number),)
    }


class RowCosts:
    """Costs of starts under rows in order of time.

    Parameters
    ----------
    weights : of the tables, see `checked_tables`.
    capacities : priced capacity of each row, units.
    width : rounds of the widest cells that are asked for.
    """

    def __init__(
        self,
        instance: Instance,
        weights: Mapping[int, IntArray],
        rows: Rows,
        capacities: Sequence[int],
        width: int,
    ) -> None:
        self.instance, self.rows, self.weights = instance, rows, weights
        self.times = np.array([row[0] for row in self.rows], np.int64)
        own = np.array(capacities, np.int64)
        self.after = np.append(np.cumsum(own[::-1])[::-1], 0)  # of the rows from each one on
        self.capacity = int(self.after[0])
        self.start = self._starts(rounds_of(instance, rows, width))
        """Reduced cost of each start, units, shape (n, rounds); `NEVER` before the arrival."""

    def _weight(self, number: int, tokens: Tokens, left: Tokens) -> Tokens:
        """Return the weight in a row of tokens held with rounds to go; shape of both."""
        if not number:
            return tokens
        weights, memory = self.weights[number], self.instance.memory
        size = len(weights)
        found: Tokens = weights[size * tokens // (memory + 1), size * left // (memory + 1)]
        return found

    def _starts(self, rounds: int) -> IntArray:
        instance = self.instance
        costs = np.empty((len(instance), rounds), np.int64)
        for i, (arrival, prompt, output) in enumerate(instance.requests):
            costs[i] = (np.arange(rounds) - arrival) * UNIT
            tokens = held(np.full(output, prompt), np.arange(output, 0, -1))
            known: dict[int, IntArray] = {}
            for t, number, price in self.rows:
                if number not in known:
                    known[number] = self._weight(number, tokens, np.arange(output))
                begin = max(0, t - output)
                costs[i, begin:t] += price * known[number][begin - (t - output) :]
            costs[i, :arrival] = NEVER
        return costs

    @property
    def bound(self) -> int:
        """Return the least units of waiting of any schedule, as the prices alone prove it."""
        return int(self.start.min(axis=1).sum()) - self.capacity

    def cells(self, width: int) -> IntArray:
        """Return the least reduced cost of a start within each cell, shape (n, cells).

        In later cells no row is left, and a start costs what the request has waited.
        """
        least: IntArray = self.start.reshape(len(self.start), -1, width).min(axis=2)
        return least

    def certain(self, width: int) -> IntArray:
        """Return what a request certainly pays after each boundary when it starts in a cell.

        Returns
        -------
        units, shape (n, cells, boundaries); boundary j is the end of the j-th cell after its own,
        the first one is its own end. Later cells, and later boundaries, have no row to pay.
        """
        instance, cells = self.instance, self.start.shape[1] // width
        table = np.zeros((len(instance), cells, span(instance, width)), np.int64)
        for i, (arrival, prompt, output) in enumerate(instance.requests):
            for cell in range(max(0, arrival // width), cells):
                last = (cell + 1) * width - 1
                end = max(arrival, cell * width) + output
                begin, stop = np.searchsorted(self.times, (last, end), side="right").tolist()
                paid = [
                    price * self._weight(number, held(prompt, t - last), end - t)
                    for t, number, price in self.rows[begin:stop]
                ]
                sums = np.append(np.cumsum(paid[::-1], dtype=np.int64)[::-1], 0)
                ends = last + 1 + width * np.arange(table.shape[2])
                places = np.searchsorted(self.times[begin:stop], ends, side="right")
                table[i, cell] = sums[places]
        return table


def rounds_of(instance: Instance, rows: Rows, width: int) -> int:
    """Return rounds after which no row is left and every request has arrived, in whole cells."""
    last = max(int(instance.arrival.max()), rows[-1][0] if rows else 0)
    return (last // width + 1) * width


def span(instance: Instance, width: int) -> int:
    """Return the boundaries after which a request that has started may still hold memory."""
    return int(instance.output.max()) // width + 1
