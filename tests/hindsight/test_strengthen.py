"""Fixing and cuts leave every schedule that is as good as the known one, under any duals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from oracle import least_latency, optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.cuts.strengthen import strengthen
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.params import ProgramParams, SolveParams
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.hindsight.relaxation.configurations import heaviest, real_items
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model import Instance, violations
from ratiolab.testing import instances

NOT_EASY = SolveParams(program=ProgramParams(easy_entries=0))
"""No program is tried before cuts."""


@settings(max_examples=80, deadline=None)
@given(instances(max_requests=5, max_memory=10, predictions=False))
def test_cuts_and_program_reach_the_optimum_of_optimum(instance: Instance) -> None:
    result = solve(instance, steps=0, params=NOT_EASY)
    assert result.status == "optimal"
    assert result.upper == least_latency(instance)
    assert violations(result.schedule) == []
    assert certify(result.certificate, instance) == result.certificate.bound <= result.lower


def test_cuts_alone_give_a_certified_interval() -> None:
    instance = Instance("twelve", 20, [0] * 8, [2] * 8, [3, 4, 6, 7, 9, 11, 13, 15])
    result = solve(instance, method="cuts")
    assert result.lower_source == "configuration cuts"
    assert result.lower == certify(result.certificate, instance) <= result.upper
    assert result.is_exact or result.note.startswith("cuts ended")
    plain = solve(instance, method="ip")
    assert plain.is_exact
    assert result.lower <= plain.upper <= result.upper


def test_methods_are_named() -> None:
    with pytest.raises(ValueError, match="'magic' must be one of auto, ip, cuts, dp, brute"):
        solve(Instance("one", 3, [0], [1], [1]), method="magic")


TWELVE = Instance("", 30, [0] * 12, [2] * 12, [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 20])


def test_ctrl_c_in_the_search_for_cuts_keeps_the_bound_and_its_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ratiolab.hindsight.cuts.master import Master

    genuine, calls = Master.solve, []

    def interrupted(self: Master, limit: float | None) -> bool:
        calls.append(self.lower)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return genuine(self, limit)

    monkeypatch.setattr(Master, "solve", interrupted)
    result = solve(TWELVE, steps=0, params=NOT_EASY)
    assert len(calls) == 3
    assert result.note == "Ctrl-C in stage cuts"
    assert result.lower == calls[-1] == certify(result.certificate, TWELVE) <= result.upper


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
