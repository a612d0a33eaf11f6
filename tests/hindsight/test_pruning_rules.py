"""No rule that leaves something out loses the optimum: thousands of tiny instances, all starts.

Each search begins with a schedule one round worse than the optimum, so that every rule prunes as
hard as it ever may, and under duals drawn at random, which make weak bounds but must never make
wrong ones.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracle import optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.duals import Duals, Table
from ratiolab.hindsight.cuts.configurations import heaviest, real_items
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.cuts.strengthen import strengthen
from ratiolab.hindsight.dynamic_programming import beam_search
from ratiolab.hindsight.dynamic_programming.beam import beam
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model import Instance, Schedule

MANY = 1_500
DENOMINATOR = 60


def one_worse(best: Schedule) -> Schedule:
    """The request that completes last starts a round later: it takes no more, and ends alone."""
    starts = np.array(best.starts)
    starts[np.argmax(starts + best.instance.output)] += 1
    return Schedule.from_starts(best.instance, starts)


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


def missed(duals: Any, many: int = MANY) -> int:
    """Instances whose optimum the dynamic program does not find although it leaves nothing out."""
    count = 0
    for seed in range(many):
        instance = tiny(seed, most=6, longest=6)
        best = optimal_schedule(instance)
        result = beam(instance, duals(instance, seed), one_worse(best))
        assert result.exhausted
        count += result.schedule.total_latency != best.total_latency
    return count


def random_duals(instance: Instance, seed: int) -> Duals:
    return drawn_duals(instance, np.random.default_rng(seed))


@pytest.mark.long
def test_bounds_twins_idleness_and_dominance_keep_the_optimum() -> None:
    assert missed(random_duals) == 0


@pytest.mark.long
def test_good_prices_keep_the_optimum() -> None:
    for seed in range(250):
        instance = tiny(seed, most=6, longest=6)
        best = optimal_schedule(instance)
        duals = cut_bound(instance, rounds=seed % 3).certificate.duals
        result = beam(instance, duals, one_worse(best))
        assert result.exhausted
        assert result.schedule.total_latency == best.total_latency, seed


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


@pytest.mark.long
@pytest.mark.parametrize("bounding", [False, True])
def test_what_is_left_out_never_proves_too_much(
    monkeypatch: pytest.MonkeyPatch, bounding: bool
) -> None:
    monkeypatch.setattr(beam_search, "CAPACITY", 2)
    monkeypatch.setattr(beam_search, "LEAST_CAPACITY", 3)
    short = raised = 0
    for seed in range(MANY):
        instance = tiny(seed, most=6, longest=6)
        best = optimal_schedule(instance)
        duals = random_duals(instance, seed)
        result = beam(instance, duals, one_worse(best), width=1 + seed % 3, bounding=bounding)
        assert result.lower <= best.total_latency <= result.schedule.total_latency, seed
        assert result.lower >= root_bound(instance, duals)
        short += result.lower < best.total_latency
        raised += result.lower > root_bound(instance, duals)
    assert short > 200
    assert raised > 500


def root_bound(instance: Instance, duals: Duals) -> int:
    """The bound of the duals alone."""
    grid = columns(instance, len(duals.memory))
    dense = [table.dense(instance.memory) for table in duals.tables]
    value = scaled_bound(grid, duals, reduced_costs(grid, duals, dense))
    return -(-value // duals.denominator)


def test_a_bound_that_forgets_what_it_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = beam_search.BeamSearch.leave_out
    monkeypatch.setattr(
        beam_search.BeamSearch,
        "leave_out",
        lambda self, bounds: genuine(self, bounds[1:]),
    )
    wrong = 0
    for seed in range(300):
        instance = tiny(seed, most=6, longest=6)
        best = optimal_schedule(instance)
        duals = random_duals(instance, seed)
        result = beam(instance, duals, one_worse(best), width=1, bounding=True)
        wrong += result.lower > best.total_latency
    assert wrong > 0
