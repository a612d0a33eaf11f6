"""The checker of bounds by a dynamic program over cells of rounds.

Claim: no schedule has a latency below ``bound``. Let request i arrive at a, start at p, hold s + t
- p tokens at times p < t <= p + o. Latency is the waiting, the sum of p - a, and the sum of all o.
Suppose a schedule S that waits at most L = bound - 1 - sum of o. The checker derives a
contradiction.

*Rows.* A row has a time t, a table and a price mu >= 0. Table 0 weighs tokens, its cap is M. Any
other has a grid G: a request that holds h tokens at t, with r rounds to go after t, weighs what the
table says of floor((G + 1) h / (M + 1)) tokens and floor((G + 1) r / (M + 1)) rounds. S obeys the
caps: what it holds at t fits M tokens until it ends, so its image fits G tokens
(`ratiolab.hindsight.relaxation.configurations` proves it), and the cap is checked for all that fits
G tokens, of at most n items. The reduced cost of a start is p - a and mu times its weight, summed
over all rows. The reduced costs of S sum to at most its waiting plus C, the sum of mu cap. Hence S
waits at least the sum of all least reduced costs less C; width 0 claims no more. A second
set of rows and prices, valid for the same reasons, may bound what lies ahead of a label.

*Labels.* A level cuts time into cells of w rounds. A label stands for schedules at a boundary: the
set that has started, the cell of each request that may hold memory later, and of each such request
a round ``left`` before which no schedule with this label starts it. If its cell ends with round r,
the request certainly holds s + t - r tokens at r < t <= left + o, and has at least left + o - t
rounds to go, as p <= r and left <= p; weights rise in both. After its left + o nothing is certain
and the label forgets it.

*Starts.* A start p of i fits if its tokens and the certain ones of others are at most M while i
runs. S fits, so its start is at least the earliest that fits in the cell, and a cell without one is
impossible. Certain tokens grow between ends of requests, so tests at ends are enough. The sum of
(earliest start - a) is at most what S waits. Labels that merge keep the least cost and the least of
each left, transitions that merge the least cost: for S all these remain valid bounds.

*Delays.* Let ``left`` be the earliest starts of the entries of a label at boundary b. Each request
starts by a delay of at most r - left rounds after its ``left``. At b < t <= left + o it holds s + t
- p tokens, so that one round of delay frees one token. The delays of the requests that certainly
run at t therefore sum to at least their s + t - left in sum, less M. Hence S has waited at least
what the requests without an entry have, the sum of left - a over the entries, and the largest such
excess at an end. A label keeps a bound of the first, ``ended``: it rises by left - a of requests
that leave the entries, and is at least what S has waited less the sum of r - a over the entries.
Labels that merge keep the least. Transitions add left - a only, as S may have paid for a delay
before. Where all have started the label forgets its entries, but only when this is done.

*Rest.* What S has yet to wait is at least the sum of boundary - a over arrived requests that
remain, and at least the Lagrangian bound over later rows under the prices of what lies ahead: the
least reduced costs of later starts, and the prices of the certain tokens, less the sum of mu cap of
these rows. Labels whose cost and rest exceed L are dropped, and those whose least reduced costs, in
cells so far and then from the boundary on, exceed L + C. Neither concerns S.

*Finer levels.* Backward, the rest of a label rises to the least, over its transitions, of their
cost and the rest of their target. A transition by which every path exceeds L, or every path L + C,
does not count and is dropped, as a label without any other. The transitions of S stay. A
level of cells of half the width only splits what one of these starts in its cell over the two
halves, and its labels inherit rests; no two labels merge that have not the same coarser one, except
between halves, from where nothing is extended. The facts about the two halves may bound a start in
either.

Equal requests start in order of their index, which only renames S. The claim is proven when at some
level no path from the empty set to the full one is left, as that of S would be. In cells of one
round paths are schedules: then a remaining path refutes the claim.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.cell_costs import (
    UNIT,
    RowCosts,
    Rows,
    checked_tables,
    rounds_of,
    row_capacities,
    span,
)
from ratiolab.hindsight.certificates.cell_levels import (
    Layer,
    Level,
    Transitions,
    require_room,
)
from ratiolab.hindsight.certificates.cell_starts import (
    Guide,
    Labels,
    Requests,
    delay,
    split_sets,
    start_sets,
)
from ratiolab.hindsight.certificates.certificate import CellCertificate
from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.certificates.effort import CertificateError, Effort, TooCostlyError
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance, shown

MOST_REQUESTS = 62
"""Most requests: a set of them is a word with a sign."""

MOST_ROUNDS = 2**24
"""Most rounds of the labels of a level: a cell and a request are one word of 32 bits."""

MOST_PIECES = 100
"""Most pieces of a row without a grid."""

LAYER_STEPS = 100
"""Steps of a layer beside those of its labels, microseconds."""

ROWS = 2**10, 2**19
"""Rows of the buffers at first, and to which they grow unless one label needs more."""


def bound_by_cells(certificate: CellCertificate, instance: Instance) -> int:
    """Return the bound that a certificate proves."""
    _require_numbers(certificate, instance)
    served = int(instance.output.sum())
    width = max(1, certificate.width)
    weights = checked_tables(certificate, len(instance))

    def costs_of(rows: Rows) -> RowCosts:
        capacities = row_capacities(certificate, rows, instance.memory)
        return RowCosts(instance, weights, rows, capacities, width)

    costs = costs_of(certificate.rows)
    if not certificate.width:
        return served - (-costs.bound // UNIT)
    limit = certificate.bound - 1 - served
    if limit >= 0:
        rest = costs_of(certificate.ahead) if certificate.ahead else costs
        waiting = _Search(instance, costs, rest, limit).run(certificate.width)
        if waiting is not None:
            raise CertificateError(
                f"bound {certificate.bound} is claimed, a schedule has {served + waiting}"
            )
    return certificate.bound


def _require_numbers(certificate: CellCertificate, instance: Instance) -> None:
    """Raise `CertificateError` unless all numbers are what they should be and small enough."""
    rows, width, bound, n = certificate.rows, certificate.width, certificate.bound, len(instance)
    if n > MOST_REQUESTS:
        raise CertificateError(f"{n} requests: cells are checked up to {MOST_REQUESTS}")
    if width < 0 or width & (width - 1):
        raise CertificateError(f"width {shown(width)} must be 0 or a power of two")
    if certificate.grid < 0 or (certificate.tables and not certificate.grid):
        grid = shown(certificate.grid)
        raise CertificateError(f"grid {grid} must be positive where there are tables")
    both = rows, certificate.ahead
    for each, name in zip(both, ("row", "row ahead"), strict=True):
        _require_rows(certificate, each, name)
    last = max([int(instance.arrival.max()), *(each[-1][0] for each in both if each)])
    if last + width > MOST_ROUNDS:
        raise TooCostlyError(f"rows or arrivals up to {shown(last)} are too late to check: refused")
    numbers = {row[1] for each in both for row in each} - {0}
    _tables_effort((certificate.table_of(number) for number in numbers), n).require_affordable()
    capacity = max(sum(row_capacities(certificate, each, instance.memory)) for each in both)
    largest = UNIT * (abs(bound) + last + width) + capacity
    scaled = instance.memory * (max(certificate.grid, MOST_PIECES) + 1)
    if n * max(largest, scaled) > effort.LARGEST_SUM:
        raise CertificateError("numbers are too large for cells")
    taken = Effort(0, 0)
    for each in both if certificate.ahead else both[:1]:
        taken = taken.plus(_rows_effort(each, width, instance))
    taken.require_affordable()


def _require_rows(certificate: CellCertificate, rows: Rows, name: str) -> None:
    """Raise `CertificateError` unless rows are of tables and ascend."""
    tables = len(certificate.tables) if certificate.grid else MOST_PIECES
    for number, (time, table, price) in enumerate(rows):
        if time < 1 or table < 0 or price < 0:
            raise CertificateError(
                f"{name} {number}: time {shown(time)} must be at least 1, table {shown(table)} "
                f"and price {shown(price)} at least 0"
            )
        if table > tables:
            raise CertificateError(f"{name} {number}: there is no table {shown(table)}")
        if number and (time, table) <= rows[number - 1][:2]:
            raise CertificateError(f"{name} {number}: rows must ascend in time, then in tables")


def _rows_effort(rows: Rows, width: int, instance: Instance) -> Effort:
    """Return what costs of starts under rows take."""
    n, longest = len(instance), int(instance.output.max())
    rounds = rounds_of(instance, rows, max(1, width))
    cells = rounds // width if width else 0
    certain = n * cells * (span(instance, width) if width else 0)
    return Effort(
        8 * (2 * n * rounds + certain) + 16 * longest * len({row[1] for row in rows}),
        n * (rounds + len(rows) * (3 + longest)) // 100
        + n * cells * (20 + len(rows) * min(longest, rounds) // rounds)
        + certain // 100,
    )


def _tables_effort(tables: Iterable[tuple[int, Table]], n: int) -> Effort:
    """Return what checking tables takes: a few array operations for an item and a prefix length."""
    size = steps = 0
    for grid, table in tables:
        most = min(n, grid // max(1, min((m for m, _, _ in table.items), default=1)))
        size += 8 * (grid + 1) * (grid + 1)
        steps += (3 + grid // 200) * most * len(table.items) + (grid + 1) ** 2 // 100
    return Effort(size, steps)


def added_costs(labels: Labels, source: IntArray, found: Labels) -> tuple[IntArray, IntArray]:
    """Return what rows add to the cost and the reduced cost of the labels that they extend."""
    rows = len(source)
    return (
        found.cost[:rows] - labels.cost[source],
        found.reduced[:rows] - labels.reduced[source],
    )


def kept(source: IntArray, target: IntArray, cost: IntArray, reduced: IntArray) -> Transitions:
    """Return the transitions between labels that both exist."""
    on = (source >= 0) & (target >= 0)
    return Transitions.of(source[on], target[on], cost[on], reduced[on])


class _Search:
    """The levels, from the coarsest to single rounds.

    Parameters
    ----------
    rest : costs under the prices of what lies ahead of a label.
    limit : most rounds of waiting of a schedule below the bound.
    """

    def __init__(self, instance: Instance, costs: RowCosts, rest: RowCosts, limit: int) -> None:
        self.instance, self.costs, self.rest, self.limit = instance, costs, rest, limit
        known: dict[tuple[int, int, int], int] = {}
        twin = []
        for i, request in enumerate(instance.requests):
            twin.append(known.get(request, -1))
            known[request] = i
        arrival, prompt, output = map(
            np.array, (instance.arrival, instance.prompt, instance.output)
        )
        self.requests = Requests(arrival, prompt, output, np.array(twin), instance.memory)
        self.full = 2 ** len(instance) - 1
        # as many as may hold a token beside their prompts at one time
        least = np.cumsum(np.sort(self.requests.prompt + 1))
        self.most = max(1, int((least <= instance.memory).sum()))
        self.left = effort.steps_left()
        self.buffers = self._buffers(ROWS[0])

    def _buffers(self, rows: int) -> tuple[Labels, Labels]:
        require_room(2 * rows, self.most)
        return Labels.room(rows, self.most), Labels.room(rows, self.most)

    def run(self, width: int) -> int | None:
        """Return the least waiting of a path of single rounds within the limit, if there is one."""
        guide: Guide | None = None
        while True:
            level, layer, cell = Level(self.limit, self.costs.capacity), Layer(self.most).root(), 0
            reduced = self.costs.cells(width)
            first: tuple[IntArray, ...] = ()
            if guide is None:
                first = self.rest.cells(width), self.rest.certain(width)
            while layer.used:
                if (cell + 2) * 2 * width > MOST_ROUNDS:
                    raise TooCostlyError("cells reach too far in time: refused")
                self._spend(LAYER_STEPS)
                if guide is None:
                    layer = self._start(level, layer, cell, width, reduced, *first)
                else:
                    layer = self._split(level, layer, cell, width, reduced, guide)
                cell += 1
            guide = level.settle(self.full)
            if not len(guide.started):
                return None
            if width == 1:
                return int(guide.rest[0])
            width //= 2

    def _start(
        self,
        level: Level,
        layer: Layer,
        cell: int,
        width: int,
        reduced: IntArray,
        rest: IntArray,
        certain: IntArray,
    ) -> Layer:
        """Extend a layer of the first level by a cell, and return the next one."""
        arrival, boundary = self.requests.arrival, (cell + 1) * width
        own = (np.maximum(cell * width, arrival) - arrival) * UNIT
        if cell < reduced.shape[1]:
            own = reduced[:, cell].copy()
        later, outside = (self._later(costs, cell + 1, width) for costs in (reduced, rest))
        row = np.searchsorted(self.rest.times, boundary, side="right")
        following, transitions = Layer(self.most), []

        def loop(at: int) -> tuple[int, int, int]:
            status: tuple[int, int, int] = start_sets(
                *(self.requests, layer.labels, layer.used, at, self.buffers[0], own, later),
                *(outside, certain, cell, width, self.rest.after[row], self.costs.capacity),
                *(self.limit, self.left),
            )
            return status

        for rows in self._found(layer.used, loop):
            found = self.buffers[0]
            source = found.source[:rows].copy()
            added = added_costs(layer.labels, source, found)
            number = self._absorbed(layer.labels, source, found, following, width)
            transitions.append(kept(source, number, *added))
        level.add(layer, transitions)
        return following

    def _later(self, costs: IntArray, cell: int, width: int) -> IntArray:
        """Return the least reduced cost of a start in a cell or later, units, shape (n,)."""
        arrival = self.requests.arrival
        later: IntArray
        if cell >= costs.shape[1]:
            later = (np.maximum(cell * width, arrival) - arrival) * UNIT
            return later
        beyond = (costs.shape[1] * width - arrival) * UNIT
        later = np.minimum(costs[:, cell:].min(axis=1), beyond)
        return later

    def _split(
        self, level: Level, layer: Layer, cell: int, width: int, reduced: IntArray, guide: Guide
    ) -> Layer:
        """Extend a layer of a finer level by the halves of a cell, and return the next one."""
        between, following = Layer(self.most), Layer(self.most)
        first, second = [], []

        def loop(at: int) -> tuple[int, int, int]:
            status: tuple[int, int, int] = split_sets(
                *(self.requests, layer.labels, layer.used, at, *self.buffers, guide, reduced),
                *(cell, width, self.costs.capacity, self.limit, self.left),
            )
            return status

        for rows in self._found(layer.used, loop):
            half, found = self.buffers
            source, own = half.source[:rows].copy(), np.arange(rows)
            added = added_costs(layer.labels, source, half)
            added_last = added_costs(half, own, found)
            half_cost = half.cost[:rows].copy()
            number = self._absorbed(layer.labels, source, half, between, width)
            found.cost[:rows] += half.cost[:rows] - half_cost
            last = self._absorbed(half, own, found, following, width)
            first.append(kept(source, number, *added))
            second.append(kept(number, last, *added_last))
        level.add(layer, first)
        level.add(between, second)
        return following

    def _absorbed(
        self, labels: Labels, source: IntArray, found: Labels, layer: Layer, width: int
    ) -> IntArray:
        """Enter rows that extend labels in a layer, with their delays; return their labels."""
        rows = len(source)
        delay(self.requests, labels, source, found, rows, width, self.limit)
        return layer.absorb(found, rows)

    def _spend(self, steps: int) -> None:
        """Count steps; raise `TooCostlyError` when they are too many."""
        self.left -= steps
        if self.left < 0:
            raise TooCostlyError("the labels of cells take too long to check: refused")

    def _found(self, used: int, loop: Callable[[int], tuple[int, int, int]]) -> Iterator[int]:
        """Yield the rows of the buffers, until a loop from a label on is through all labels."""
        at = 0
        while at < used:
            before = at
            at, rows, nodes = loop(at)
            self._spend(nodes)
            if rows:
                yield rows
            size = len(self.buffers[0].key)
            if at < used and (size < ROWS[1] or at == before):
                self.buffers = self._buffers(2 * size)
