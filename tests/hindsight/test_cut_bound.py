"""The cut bound lies between the plain linear program and the optimum."""

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.cuts import master as master_module
from ratiolab.hindsight.cuts.cut_bound import CutProgress, cut_bound
from ratiolab.hindsight.cuts.master import SPANS, Master, Row, first_spans, single, split
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance


def drawn(n: int = 14) -> Instance:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 30 - s + 1)) for s in prompt]
    return Instance("drawn", 30, [0] * n, prompt, output)


@pytest.mark.parametrize("block", range(4))
def test_the_cut_bound_lies_between_the_plain_one_and_the_optimum(block: int) -> None:
    exact = 0
    for seed in range(60 * block, 60 * (block + 1)):
        instance = tiny(seed, most=6)
        optimum = least_latency(instance)
        found = cut_bound(instance, rounds=10)
        assert found.plain <= found.lower <= optimum, seed
        exact += found.lower == optimum
    assert exact > 40  # of 60: cuts and rounding up close most tiny instances


def test_more_rounds_never_weaken_the_bound_and_repeat_exactly() -> None:
    instance = drawn()
    found = [cut_bound(instance, rounds=rounds) for rounds in (0, 2, 4, 4)]
    assert found[0].lower == found[0].plain
    assert found[0].lower < found[1].lower <= found[2].lower
    assert found[2].certificate == found[3].certificate
    assert found[2].stopped == "rounds"


def test_cuts_close_most_of_the_gap_of_a_drawn_instance() -> None:
    instance = drawn(9)
    first = list_schedule(instance, np.argsort(instance.output, kind="stable"))
    bound = cut_bound(instance, horizon=first.makespan, rounds=25)
    optimum = tiny_optimum(instance).latency
    assert optimum is not None
    assert bound.lower <= optimum
    assert optimum - bound.lower < (optimum - bound.plain) / 2


@pytest.mark.parametrize("horizon", [0, 1, 7, 300])
def test_any_horizon_gives_a_valid_bound(horizon: int) -> None:
    for seed in range(20):
        instance = tiny(seed, most=6)
        found = cut_bound(instance, horizon=horizon, rounds=4)
        assert instance.output.sum() <= found.lower <= least_latency(instance)


@pytest.mark.parametrize("horizon", [0, 1, 39, 40, 41, 487, 5000])
def test_spans_cover_every_time_once_and_grow(horizon: int) -> None:
    edges = first_spans(horizon)
    assert edges[0] == 1
    assert edges[-1] == horizon + 1
    widths = np.diff(edges)
    assert (widths > 0).all()
    assert len(widths) <= SPANS
    assert (np.diff(widths) >= -1).all()  # up to rounding


def test_splitting_ends_with_a_span_for_each_time_and_keeps_what_is_proven() -> None:
    edges = first_spans(200)
    master = Master(drawn(), edges)
    assert master.solve_plain(None)
    coarse, found = master.lower, 0
    while not single(edges):
        proven, before = master.lower, edges
        edges, rows = split(edges, master.loads(), master.rows, master.row_duals, master.weights)
        assert set(edges) > set(before)
        assert {row.table for row in rows} <= {0}
        master.add_rows(rows)
        assert master.solve(None)
        assert master.lower >= proven
        found += len(rows)
    assert edges == list(range(1, 202))
    assert found > 0
    assert master.lower > coarse  # the plain program with a row for each time is stronger


def test_a_row_is_the_mean_of_the_rows_of_its_times() -> None:
    master = Master(drawn(), [1, 41])
    assert master.solve_plain(None)
    master.add_rows([Row(0, 3, 7)])
    columns = np.flatnonzero(master.place >= 0)
    mean = master._coefficients([Row(0, 3, 7)], columns).toarray()[0]
    each = master._coefficients([Row(0, t, t + 1) for t in range(3, 7)], columns).toarray()
    assert mean == pytest.approx(each.mean(axis=0))
    inside = (master.columns.time >= 3) & (master.columns.time < 7)
    tokens = np.bincount(
        master.columns.column[inside], master.columns.m[inside], len(master.columns.cost)
    )
    assert mean == pytest.approx(tokens[columns] / (4 * 30))


def test_forgotten_tables_leave_rows_and_bounds_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = drawn()
    unlimited = cut_bound(instance, rounds=12)
    monkeypatch.setattr(master_module, "MOST_TABLES", 5)
    limited = cut_bound(instance, rounds=12)
    assert limited.lower > limited.plain
    for found in (unlimited, limited):
        assert certify(found.certificate, instance) == found.lower


def test_limits_stop_it_with_what_is_proven() -> None:
    instance = drawn()
    assert cut_bound(instance, time_limit=0).stopped == "time"
    assert cut_bound(instance, time_limit=0).lower >= instance.output.sum()
    target = cut_bound(instance, rounds=2).lower
    stopped = cut_bound(instance, target=target)
    assert stopped.stopped == "target"
    assert stopped.lower >= target
    seen: list[CutProgress] = []
    cut_bound(instance, rounds=3, progress=seen.append)
    assert [now.rounds for now in seen] == [0, 1, 2, 3]
    assert sorted(now.lower for now in seen) == [now.lower for now in seen]


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ValueError, match="memory 201 exceeds 200"):
        cut_bound(Instance("large", 201, [0], [1], [1]))
    with pytest.raises(ValueError, match="non-zeros exceed"):
        cut_bound(drawn(), horizon=10**6)
    with pytest.raises(ValueError, match="rounds -1"):
        cut_bound(drawn(), rounds=-1)
