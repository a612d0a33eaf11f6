"""The integer program of Jaillet et al. as sparse arrays, the seam between model and solver.

Column (c, k) says how many requests of class c start at round k. A class holds the requests of
equal arrival, prompt, output and window, which are interchangeable: for classes of one request it
is the paper's binary program, and merging takes away the symmetry between equal requests. One row
a class makes all its members start, one row a time keeps memory.

Tail relaxation. For any *horizon* T, let D_i = max(T, a_i). Keep the starts of i before D_i, and
let one column, the *deferral*, stand for all starts at D_i or later: it costs as much as
starting at D_i and holds no memory.

- This is a relaxation: a schedule maps to a solution (later starts to the deferral) that costs no
  more and holds, at each time, no more. Hence any lower bound of it is one of the full program,
  whatever T is.
- If a solution, deferrals read as starts at D_i, is feasible in full, then it costs the same there.
  So an optimal solution of the relaxation that passes the check is an optimal schedule.
- When last_i <= D_i the last column is an ordinary start; with T at the largest last start nothing
  is deferred and the program is the full one.

Other objectives (`ratiolab.hindsight.objective`) change costs. Where requests may be late, each
class has one more column that stands for being late: it costs the weight and holds no memory.

Source: Jaillet et al. (2025), (1)-(4), arXiv 2502.07115v5.

Fleets. Column (c, k, r) says how many requests of class c start at round k on replica r. Classes,
deferrals and the tail relaxation are the same, and each replica has its own rows of memory and of
cuts. A deferral holds no memory, so it has one column for all replicas.

Replicas of equal memory can be renamed. In the order in which they get their first request, of all
requests by class, request i is on one of the first i of them: classes whose last request is the
m-th have columns for the first m replicas of a memory alone, and none where they are too large.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.objective import Objective
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.instance import Column, Instance


@dataclass(frozen=True, eq=False)
class Program:
    """A program: minimise cost @ x, x integer in 0..upper, row_lower <= A x <= row_upper.

    Rows are first the classes, then the times that some column reaches. The objective is the cost
    itself.

    Parameters
    ----------
    member : class of each request, shape (n,).
    group, start, deferred : class and start of each column and whether it stands for all later
        starts, or for being late, shape (columns,).
    cost, upper : shape (columns,).
    indptr, indices, values : compressed columns of A.
    row_lower, row_upper : shape (rows,).
    """

    instance: Instance
    member: IntArray = field(repr=False)
    group: IntArray = field(repr=False)
    start: IntArray = field(repr=False)
    deferred: NDArray[np.bool_] = field(repr=False)
    cost: IntArray = field(repr=False)
    upper: IntArray = field(repr=False)
    indptr: IntArray = field(repr=False)
    indices: IntArray = field(repr=False)
    values: IntArray = field(repr=False)
    row_lower: IntArray = field(repr=False)
    row_upper: IntArray = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns."""
        return len(self.row_upper), len(self.cost)

    def starts(self, counts: IntArray) -> IntArray:
        """Return a start for each request, shape (n,), from a start count for each column."""
        chosen = np.repeat(np.arange(len(counts)), counts)  # columns ascend by class, then start
        starts = np.empty(len(self.instance), np.int64)
        starts[np.argsort(self.member, kind="stable")] = self.start[chosen]
        return starts

    def counts(self, starts: IntArray) -> IntArray:
        """Return the start counts of a schedule, shape (columns,), as far as the columns reach."""
        first = np.searchsorted(self.group, self.member)
        end = np.searchsorted(self.group, self.member, side="right")
        chosen = np.minimum(first + starts - self.instance.arrival, end - 1)
        return np.bincount(chosen, minlength=len(self.cost))


def size(
    instance: Instance,
    last: IntArray,
    horizon: int,
    *,
    merge: bool = True,
    objective: Objective | None = None,
) -> int:
    """Count the non-zeros that `build` would make, but for columns of being late."""
    aim = objective or Objective.of(instance, "total")
    _, representative, _, _ = _classes(instance, last, aim, merge=merge)
    columns = np.minimum(last, np.maximum(horizon, instance.arrival)) - instance.arrival + 1
    per_class = columns[representative].tolist(), instance.output[representative].tolist()
    return sum(c * (o + 1) for c, o in zip(*per_class, strict=True))


def build(
    instance: Instance,
    last: Column,
    horizon: int | None = None,
    *,
    merge: bool = True,
    objective: Objective | None = None,
) -> Program:
    """Build the time-indexed program, or its tail relaxation.

    Parameters
    ----------
    last : last start of each request, at least its arrival, shape (n,); where requests may be late,
        one below the arrival says that no start is in time.
    horizon : T of the tail relaxation, rounds; the full program when absent.
    merge : one class for equal requests; otherwise one for each request, as in the paper.
    objective : total latency if absent; an objective that may drop requests has no horizon.

    Cost O(non-zeros), see `size`.

    >>> build(Instance("equal", 4, [0, 0], [1, 1], [2, 2]), last=[2, 2]).shape
    (5, 3)
    """
    last, aim = np.asarray(last, np.int64), objective or Objective.of(instance, "total")
    dropping = aim.dropping
    if len(last) != len(instance) or (not dropping and (last < instance.arrival).any()):
        raise ValueError("last must hold a start for each request, none before its arrival")
    if dropping:
        last = np.maximum(last, instance.arrival - 1) + 1  # the late column comes after all starts
    member, chosen, multiplicity, last = _classes(instance, last, aim, merge=merge)
    arrival, prompt, output = (
        column[chosen] for column in (instance.arrival, instance.prompt, instance.output)
    )
    end = last if horizon is None else np.minimum(last, np.maximum(horizon, arrival))
    width = end - arrival + 1
    group = np.repeat(np.arange(len(chosen)), width)
    start = _within(width) + arrival[group]
    deferred = (start == end[group]) & (last[group] > start)
    cost = aim.slope[chosen][group] * (start + output[group] - arrival[group])
    if dropping:
        deferred = start == end[group]
        cost = np.where(deferred, aim.late[chosen][group], cost)

    rounds = np.where(deferred, 0, output[group])
    column = np.repeat(np.arange(len(start)), rounds)
    age = _within(rounds) + 1
    times, row = np.unique(start[column] + age, return_inverse=True)
    # each column: first its class row, then its memory rows
    indptr = np.concatenate([[0], np.cumsum(rounds + 1)])
    is_class = np.zeros(indptr[-1], np.bool_)
    is_class[indptr[:-1]] = True
    indices, values = np.empty((2, indptr[-1]), np.int64)
    indices[is_class], values[is_class] = group, 1
    indices[~is_class] = len(chosen) + row
    values[~is_class] = held(prompt[group[column]], age)
    memory = np.full(len(times), instance.memory)
    return Program(
        instance=instance,
        member=member,
        group=group,
        start=start,
        deferred=deferred,
        cost=cost,
        upper=multiplicity[group],
        indptr=indptr,
        indices=indices,
        values=values,
        row_lower=np.concatenate([multiplicity, np.zeros_like(memory)]),
        row_upper=np.concatenate([multiplicity, memory]),
    )


def _classes(
    instance: Instance, last: IntArray, objective: Objective, *, merge: bool
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the class of each request; representative, size and last start of each class."""
    n = len(instance)
    if not merge:
        return np.arange(n), np.arange(n), np.ones(n, np.int64), last
    worth = objective.slope, objective.late
    keys = np.column_stack([instance.arrival, instance.prompt, instance.output, last, *worth])
    _, first, member, multiplicity = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return member.reshape(-1), first, multiplicity, last[first]


def _within(lengths: IntArray) -> IntArray:
    """Return 0, ..., length - 1 for each length, in one array."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


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
