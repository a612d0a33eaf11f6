"""References to borrowed variables: results are those of Python, and memory is given back once."""

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config
from numba.core.runtime import _nrt_python, rtsys

from ratiolab.machine_code import careful


class Pair(NamedTuple):
    left: Any
    right: Any


def argument(pair, n):
    return pair.left


def one_of_two(pair, n):
    chosen = pair.left
    if n % 2:
        chosen = pair.right
    return chosen


def own_or_borrowed(pair, n):
    chosen = pair.left
    if n % 2:
        chosen = np.arange(n)
    return chosen


def exchanged(pair, n):
    one, other = pair.left, pair.right
    for k in range(n):
        one[k] += other[k]
        one, other = other, one
    return one


def view(pair, n):
    part = pair.left[1:n]
    return part[1:]


def view_of_own(pair, n):
    own = np.arange(n + 2)
    for k in range(2):
        own = own[k:]
    return own


def row(pair, n):
    table = np.arange(4 * n).reshape(n, 4)
    kept = table[0]
    for k in range(n):
        kept = table[k]
    return kept


def picked(pair, n):
    places = np.array([0, n - 1])
    return pair.left[places]  # a copy


def packed(pair, n):
    both = pair.left, np.arange(n)
    swapped = Pair(both[1], both[0])
    return swapped.left + swapped.right[:n]


def in_a_list(pair, n):
    parts = [pair.left, pair.right]
    parts.append(pair.left[:n])
    parts[1] = pair.left[n:]
    return parts.pop(0)


def grown(pair, n):
    rows, own = [7], Pair([5], [6])
    for k in range(1000):
        rows.append(k)
        own.left.append(rows[k])
        right = own.right
        right.append(own.left[k])
    return np.array([rows[-1], len(own.left), own.right[-1]])


def left_early(pair, n):
    held = pair.right
    for k in range(n):
        again = pair.left
        if again[k] > 2:
            return again
    return held


FUNCTIONS = (own_or_borrowed, exchanged, picked, grown)
MORE = (argument, one_of_two, view, view_of_own, row, packed, in_a_list, left_early)


@pytest.fixture(autouse=True, scope="module")
def _counted():
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize(
    "function",
    [*FUNCTIONS, *(pytest.param(function, marks=pytest.mark.long) for function in MORE)],
    ids=lambda function: function.__name__,
)
def test_results_and_references_are_those_of_python(function, monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    called = careful(function)
    for n in (3, 4):
        given = [Pair(np.arange(6), 10 + np.arange(6)) for _ in range(2)]
        expected = function(given[0], n)
        called(Pair(np.arange(6), np.arange(6)), n)  # compiled by now
        before = rtsys.get_allocation_stats()
        for _ in range(20):
            given[1] = Pair(np.arange(6), 10 + np.arange(6))
            result = called(given[1], n)
        result_2 = result.copy()
        del given[1], result
        gc.collect()
        after = rtsys.get_allocation_stats()
        assert result_2.tolist() == expected.tolist()
        assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
        assert after.alloc - before.alloc == after.free - before.free
