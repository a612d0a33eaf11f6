"""The integer program of a fleet: that of one replica, with a column for each replica.

Column (c, k, r) says how many requests of class c start at round k on replica r. Classes, deferrals
and the tail relaxation are those of `ratiolab.hindsight.programs.timeindexed`, and each replica
has its own rows of memory and of cuts. A deferral holds no memory, so it has one
column for all replicas.

Replicas of equal memory can be renamed. In the order in which they get their first request, of all
requests by class, request i is on one of the first i of them: classes whose last request is the
m-th have columns for the first m replicas of a memory alone, and none where they are too large.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ratiolab.hindsight.programs.timeindexed import Program
from ratiolab.model.footprint import IntArray


@dataclass(frozen=True, eq=False)
class FleetProgram:
    """A program whose columns name replicas.

    Parameters
    ----------
    program : the program.
    memories : memories of the replicas, tokens.
    column, replica : column of the program of one replica, and the replica, of each column.
    """

    program: Program
    memories: tuple[int, ...]
    column: IntArray = field(repr=False)
    replica: IntArray = field(repr=False)

    def counts(self, one: Program, starts: IntArray, places: IntArray) -> IntArray:
        """Return the counts of a schedule, shape (columns,), as far as the columns reach.

        ``one`` is the program of one replica.
        """
        first = np.searchsorted(one.group, one.member)
        end = np.searchsorted(one.group, one.member, side="right")
        chosen = np.minimum(first + starts - one.instance.arrival, end - 1)
        names: dict[int, int] = {}
        unused: dict[int, list[int]] = {}
        for r, memory in enumerate(self.memories):
            unused.setdefault(memory, []).append(r)
        for i in np.argsort(one.member, kind="stable").tolist():
            place = int(places[i])
            if not one.deferred[chosen[i]] and place not in names:
                names[place] = unused[self.memories[place]].pop(0)
        of = {(c, r): j for j, (c, r) in enumerate(self._pairs())}
        counts = np.zeros(len(self.column), np.int64)
        for i, column in enumerate(chosen.tolist()):
            place = 0 if one.deferred[column] else names[int(places[i])]
            counts[of[column, place]] += 1
        return counts

    def read(self, one: Program, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the start and the replica of each request."""
        chosen = np.repeat(np.arange(len(counts)), counts)
        chosen = chosen[np.argsort(one.group[self.column[chosen]], kind="stable")]
        order = np.argsort(one.member, kind="stable")
        starts, places = np.empty((2, len(order)), np.int64)
        starts[order] = one.start[self.column[chosen]]
        places[order] = self.replica[chosen]
        return starts, places

    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.column.tolist(), self.replica.tolist(), strict=True))


def with_replicas(one: Program, memories: Sequence[int], known: int | None = None) -> FleetProgram:
    """Return the program of several replicas from that of one with the largest memory.

    Parameters
    ----------
    known : rows of classes and memory, which stand before those of cuts; all by default. A cut
        holds for smaller memories, too.

    Cost O(replicas times non-zeros).

    >>> from ratiolab.hindsight.programs.timeindexed import build
    >>> from ratiolab.model import Instance
    >>> pair = build(Instance("pair", 4, [0, 0], [1, 1], [2, 3]), last=[2, 2])
    >>> pair.shape, with_replicas(pair, [4, 4]).program.shape
    ((7, 6), (12, 9))
    """
    from scipy.sparse import csc_array, hstack, vstack

    classes = int(one.group[-1]) + 1
    matrix = csc_array((one.values, one.indices, one.indptr), shape=one.shape)
    upto = np.cumsum(one.row_upper[:classes])  # requests up to each class
    columns: list[IntArray] = []
    blocks = []
    replicas = len(memories)
    peaks = np.zeros(classes, np.int64)
    peaks[one.member] = one.instance.prompt + one.instance.output
    for replica, memory in enumerate(memories):
        usable = upto[one.group] > memories[:replica].count(memory)
        usable &= (peaks[one.group] <= memory) | one.deferred
        if replica:
            usable &= ~one.deferred
        own = np.flatnonzero(usable)
        part = matrix[:, own]
        rows = [part[:classes]]
        nothing = csc_array((one.shape[0] - classes, len(own)), dtype=np.int64)
        rows += [part[classes:] if r == replica else nothing for r in range(replicas)]
        columns.append(own)
        blocks.append(vstack(rows, format="csc"))
    joined = csc_array(hstack(blocks, format="csc"))
    column = np.concatenate(columns)
    number = np.repeat(np.arange(replicas), [len(own) for own in columns])

    def sides(values: IntArray) -> IntArray:
        return np.concatenate([values[:classes], np.tile(values[classes:], replicas)])

    row_upper = sides(one.row_upper)
    each = row_upper[classes:].reshape(replicas, -1)[:, : known and known - classes]  # a view
    each -= (max(memories) - np.array(memories))[:, None]

    program = replace(
        one,
        group=one.group[column],
        start=one.start[column],
        deferred=one.deferred[column],
        cost=one.cost[column],
        upper=one.upper[column],
        indptr=joined.indptr.astype(np.int64),
        indices=joined.indices.astype(np.int64),
        values=joined.data.astype(np.int64),
        row_lower=sides(one.row_lower),
        row_upper=row_upper,
    )
    return FleetProgram(program, tuple(memories), column, number)
