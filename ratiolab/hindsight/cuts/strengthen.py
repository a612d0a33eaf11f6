"""The integer program made small and tight by a proven bound: fewer columns, and cuts as rows.

**Fixing.** Duals prove a lower bound L on every schedule, and the reduced cost of a column (request
i started at p) exceeds the least of its class by some e: forcing that column raises the bound to L
+ e, since every other request still costs at least its least. Hence no schedule of latency at most
U uses a column with L + e > U, and its variable may be fixed to 0. A deferral stands for all starts
from its own on, so its e is the least of theirs. All schedules of latency at most U remain, among
them the best one known.

**Rows.** A configuration table W with cap c gives, at each time t, the row: weights of the active
requests sum to at most c. It holds for every feasible schedule, as
`ratiolab.hindsight.relaxation.configurations` proves, and, in the tail relaxation, for what stands
for one: deferred requests weigh nothing there. Hence adding rows keeps the program a relaxation.

The reduced program has the same schedules of latency at most U and a far smaller linear relaxation:
on requests drawn as by Jaillet et al., Section 5.1, HiGHS then often needs no branching at n = 12.
"""

from dataclasses import replace

import numpy as np

from ratiolab.hindsight.certificates.certificate import DualCertificate
from ratiolab.hindsight.programs.timeindexed import Program
from ratiolab.hindsight.relaxation.lagrangian import Columns, columns, reduced_costs
from ratiolab.model.footprint import IntArray, held


def strengthen(program: Program, certificate: DualCertificate, upper: int) -> Program:
    """Add cuts, and remove columns that no schedule of latency at most `upper` uses.

    Columns that are removed have the upper bound 0. Cost: one pricing of all columns, and
    O(entries) for each time of a cut with a dual.
    """
    duals = certificate.duals
    all_columns = columns(program.instance, len(duals.memory))
    dense = [table.dense(program.instance.memory) for table in duals.tables]
    reduced = reduced_costs(all_columns, duals, dense)
    excess = _excess(program, all_columns, reduced, duals.denominator)
    slack = upper * duals.denominator - certificate.value
    fixed = np.where(excess > slack, 0, program.upper)
    return _with_rows(replace(program, upper=fixed), certificate, dense)


def _excess(
    program: Program, all_columns: Columns, reduced: IntArray, denominator: int
) -> IntArray:
    """Return how far the reduced cost of each column is above the least of its class, scaled."""
    instance = program.instance
    keys = np.column_stack([instance.arrival, instance.prompt, instance.output])
    of_request = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    groups, member = np.unique(program.member, return_index=True)
    assert len(groups) == program.group[-1] + 1
    kind = of_request[member][program.group]  # class of `all_columns` of each column
    arrival = instance.arrival[member][program.group]
    # beyond the horizon duals are zero: each round later costs one round more
    inside = np.minimum(program.start, np.maximum(all_columns.horizon, arrival))
    beyond = program.start - inside
    place = all_columns.first[kind] + inside - arrival
    least = np.minimum.reduceat(reduced, all_columns.first)
    cost = reduced[place]
    ends = np.append(all_columns.first[1:], len(reduced))
    for j in np.flatnonzero(program.deferred):
        cost[j] = reduced[place[j] : ends[kind[j]]].min()
    excess: IntArray = cost - least[kind] + beyond * denominator
    return excess


def _with_rows(program: Program, certificate: DualCertificate, dense: list[IntArray]) -> Program:
    """Add a row for each time at which a table has a dual in the certificate."""
    from scipy.sparse import csc_array, vstack

    column, time, m, r = _items(program)
    horizon = int(time.max(initial=0))
    order = np.argsort(time, kind="stable")
    edges = np.searchsorted(time[order], np.arange(horizon + 2))
    rows: list[IntArray] = []
    places: list[IntArray] = []
    weights: list[IntArray] = []
    caps: list[int] = []
    duals = certificate.duals
    pairs = sorted({(k, t) for k, begin, end, _ in duals.cuts for t in range(begin, end)})
    for table, t in pairs:
        if t > horizon:
            continue
        entries = order[edges[t] : edges[t + 1]]
        weight = dense[table][m[entries], r[entries]]
        active = weight > 0
        rows.append(np.full(int(active.sum()), len(caps)))
        places.append(column[entries[active]])
        weights.append(weight[active])
        caps.append(duals.tables[table].cap)
    if not caps:
        return program
    cuts = csc_array(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(places))),
        shape=(len(caps), len(program.cost)),
    )
    known = csc_array((program.values, program.indices, program.indptr), shape=program.shape)
    joined = csc_array(vstack([known, cuts], format="csc"))
    return replace(
        program,
        indptr=joined.indptr.astype(np.int64),
        indices=joined.indices.astype(np.int64),
        values=joined.data.astype(np.int64),
        row_lower=np.concatenate([program.row_lower, np.zeros(len(caps), np.int64)]),
        row_upper=np.concatenate([program.row_upper, np.array(caps, np.int64)]),
    )


def _items(program: Program) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return column, time, tokens and remaining rounds of everything that columns hold."""
    instance = program.instance
    _, member = np.unique(program.member, return_index=True)
    prompt, output = instance.prompt[member], instance.output[member]
    rounds = np.where(program.deferred, 0, output[program.group])
    column = np.repeat(np.arange(len(rounds)), rounds)
    age = np.arange(rounds.sum()) - np.repeat(np.cumsum(rounds) - rounds, rounds) + 1
    group = program.group[column]
    return column, program.start[column] + age, held(prompt[group], age), output[group] - age
