"""The checker of paths finds the same by one thread and by two, and by short and full searches."""

import threading

import numpy as np
import pytest

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates import path_states
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.path_bounds import bounded, planted
from ratiolab.hindsight.certificates.path_states import (
    Layer,
    by_two,
    by_two_for_each,
    by_two_runs,
    kept,
)
from ratiolab.hindsight.certificates.path_walks import Walk
from ratiolab.model import stream
from ratiolab.workloads.generators import generate


def test_few_rows_stay_together_and_many_go_to_two_threads() -> None:
    few, many = np.arange(path_states.MANY - 1), np.arange(path_states.MANY + 1)
    assert [len(rows) for rows in by_two(lambda rows: rows, few)] == [len(few)]
    parts = by_two(lambda rows: (threading.get_ident(), rows), many)
    assert len({thread for thread, _ in parts}) == 2
    assert sorted(np.concatenate([rows for _, rows in parts])) == many.tolist()


@pytest.mark.parametrize("number", [7, path_states.MANY + 1])
def test_what_is_found_of_each_row_is_in_its_place(number: int) -> None:
    rows = np.arange(number)[::-1].copy()
    assert by_two_for_each(lambda part: part + 5, rows).tolist() == (rows + 5).tolist()


def test_runs_of_the_same_value_stay_together() -> None:
    value = np.repeat(np.arange(5), path_states.MANY // 2).astype(np.uint64)
    rows = np.arange(len(value))
    parts = by_two_runs(lambda part: part, rows, value)
    assert [len(part) for part in parts] == [3 * path_states.MANY // 2, path_states.MANY]
    assert np.concatenate(parts).tolist() == rows.tolist()
    assert len(by_two_runs(len, rows, np.zeros_like(value))) == 1


def test_what_goes_wrong_in_either_thread_is_told() -> None:
    def fails(rows: np.ndarray) -> None:
        if wrong in rows:
            raise OverflowError(wrong)

    for wrong in (6, 7):
        with pytest.raises(OverflowError, match=str(wrong)):
            by_two(fails, np.arange(path_states.MANY))


@pytest.mark.long
def test_two_threads_keep_and_try_the_same_states(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = generate("jaillet-model-1", 4, n_least=18, n_most=18)
    certificate = solve(instance).certificate
    assert isinstance(certificate, PathCertificate)
    assert len(certificate.passes) > 2
    leave, left = Walk.leave, list[int]()

    def noted(walk: Walk, states: int) -> None:
        left.append(states)
        leave(walk, states)

    monkeypatch.setattr(Walk, "leave", noted)
    seen = []
    for many in (64, 10**9):
        monkeypatch.setattr(path_states, "MANY", many)
        assert certify(certificate, instance) == certificate.bound
        seen.append(left[:])
        left.clear()
    assert seen[0] == seen[1]


@pytest.mark.parametrize("exact", [False, True])
def test_states_are_dropped_for_what_is_left_to_pay_by_definition(*, exact: bool) -> None:
    """Rests of states that hold no more, of the same requests started: the most of them counts."""
    rng, limit, known = stream(5, "cases"), 30, np.uint64(0b0101)
    dropped = without = 0
    for _ in range(40):
        held = rng.integers(0, 4, (60, 5)).astype(np.uint8)
        rest = rng.integers(0, 25, 60)
        started = np.sort(rng.choice(np.array([0, 1, 4], np.uint64), 60))
        layer = Layer.room(50, 1, 5)
        layer.tokens[:] = rng.integers(0, 5, (50, 5))
        layer.begun[:] = rng.integers(0, 16, 50).astype(np.uint64)
        layer.total[:] = rng.integers(-5, 25, 50)
        layer.safe[:] = np.maximum(layer.total, 0)
        bounded(layer, limit, known, planted(started, -rest, held), exact, np.arange(50))
        for s in range(50):
            fits = (started == layer.begun[s] & known) & (held <= layer.tokens[s]).all(axis=1)
            most = int(rest[fits].max()) if fits.any() else limit + 99
            over = layer.total[s] + most > limit
            dropped, without = dropped + (over and fits.any()), without + (not fits.any())
            assert (layer.safe[s] > limit) == over
            if exact and not over:
                assert layer.safe[s] == max(layer.total[s], 0, layer.total[s] + most)
    assert dropped > 100
    assert without > 100


@pytest.mark.parametrize("length", [1, 5, 16, 42])
def test_a_state_is_replaced_where_an_earlier_one_holds_no_more_by_definition(length: int) -> None:
    """As long as all of them are compared; tokens up to the largest that a byte has."""
    rng, replaced, number = stream(6, "cases"), 0, 120
    for most in (3, 256):
        layer = Layer.room(number, 1, length)
        base = rng.integers(0, most, (number, 1))
        near = base + rng.integers(-3, 4, (number, length))
        layer.tokens[:] = np.clip(near, 0, most - 1)
        layer.begun[:] = np.sort(rng.integers(0, 3, number)).astype(np.uint64)
        by = kept(layer, number, np.arange(number))
        for s in range(number):
            fits = (layer.tokens[:s] <= layer.tokens[s]).all(axis=1) & (by[:s] < 0)
            assert (by[s] >= 0) == (fits & (layer.begun[:s] == layer.begun[s])).any()
        replaced += int((by >= 0).sum())
    assert 20 < replaced < 2 * number
