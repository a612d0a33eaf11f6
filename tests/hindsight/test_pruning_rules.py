"""No rule that leaves columns out of a program loses the optimum, under duals drawn at random.

Such duals make weak bounds, but must never make wrong ones.
"""

from dataclasses import replace

import numpy as np
import pytest
from oracle import optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.cuts.configurations import heaviest, real_items
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.cuts.strengthen import strengthen
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model import Instance

MANY = 1_500
DENOMINATOR = 60


def drawn_duals(instance: Instance, rng: np.random.Generator) -> Duals:
    """Duals of memory and of one valid table, at random times up to a random horizon."""
    horizon = int(rng.integers(1, 16))
    scale = 2 * DENOMINATOR // instance.memory
    memory = rng.integers(0, scale + 1, horizon) * rng.integers(0, 2, horizon)
    items = real_items(instance)
    weights = rng.integers(1, 4, len(items))
    table = Table(1, tuple((int(m), int(r), int(w)) for (m, r), w in zip(items, weights)))  # noqa: B905
    dense = table.dense(instance.memory)
    closed = [int(dense[m, r]) for m, r in items]
    cap = heaviest([(int(m), int(r)) for m, r in items], closed, instance.memory)[0]
    begin = int(rng.integers(1, horizon + 1))
    price = int(rng.integers(0, 2 * DENOMINATOR // cap + 1))
    return Duals(
        DENOMINATOR,
        tuple(memory.tolist()),
        (replace(table, cap=cap),),
        ((0, begin, int(rng.integers(begin + 1, horizon + 2)), price),),
    )


@pytest.mark.long
def test_fixing_and_rows_keep_the_optimum() -> None:
    fixed = 0
    for seed in range(MANY // 2):
        instance = tiny(seed, most=6, longest=6)
        best = optimal_schedule(instance)
        rng = np.random.default_rng(seed)
        duals = drawn_duals(instance, rng)
        if seed % 4 == 3:
            duals = cut_bound(instance, rounds=1).certificate.duals
        grid = columns(instance, len(duals.memory))
        dense = [table.dense(instance.memory) for table in duals.tables]
        value = scaled_bound(grid, duals, reduced_costs(grid, duals, dense))
        proof = dual_certificate(instance, duals, value)
        assert proof.bound <= best.total_latency
        last = last_starts(instance, best.total_latency)
        program = build(instance, last, int(rng.integers(0, 16)))
        strong = strengthen(program, proof, best.total_latency)
        counts = strong.counts(best.starts)
        activity = np.zeros(strong.shape[0], np.int64)
        of_column = np.repeat(np.arange(len(counts)), np.diff(strong.indptr))
        np.add.at(activity, strong.indices, strong.values * counts[of_column])
        assert (counts <= strong.upper).all(), seed
        assert (activity <= strong.row_upper).all(), seed
        assert (activity >= strong.row_lower).all(), seed
        fixed += int((strong.upper < program.upper).sum())
    assert fixed > 100
