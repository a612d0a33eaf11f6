"""Configurations: the prefix test is the definition, and no table weighs one above its cap."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import linprog

from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.cuts.configuration_kernels import separating_weights
from ratiolab.hindsight.cuts.configurations import Separator, heaviest, real_items
from ratiolab.model import Instance

Item = tuple[int, int]


def fits(items: tuple[Item, ...], memory: int) -> bool:
    """The definition: at no k do the items still active exceed the memory."""
    last = max((r for _, r in items), default=0)
    return all(sum(m + k for m, r in items if r >= k) <= memory for k in range(last + 1))


def multisets(memory: int) -> Iterator[tuple[Item, ...]]:
    """Every feasible multiset; an item holds at least one token, so none has more than M items."""
    alone = [(m, r) for m in range(1, memory + 1) for r in range(memory - m + 1)]
    for count in range(memory + 1):
        for items in combinations_with_replacement(alone, count):
            if fits(items, memory):
                yield items


def drawn(seed: int) -> tuple[Instance, np.ndarray, np.ndarray, np.ndarray]:
    """An instance and amounts of some of its items at one time, at the edge of the memory."""
    rng = np.random.default_rng(seed)
    memory, n = int(rng.integers(4, 7)), 4
    prompt = rng.integers(0, 3, n)
    output = [int(rng.integers(1, memory - s + 1)) for s in prompt]
    instance = Instance(f"drawn {seed}", memory, [0] * n, prompt, output)
    m, r = real_items(instance).T.copy()
    amount = rng.random(len(m)) * (rng.random(len(m)) < 0.6)
    return instance, m, r, amount * memory / max(1e-9, amount @ m)


def test_prefixes_in_falling_r_decide_feasibility() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(2000):
        memory = int(rng.integers(5, 25))
        count = int(rng.integers(1, 6))
        items = tuple((int(rng.integers(1, 8)), int(rng.integers(0, 6))) for _ in range(count))
        falling = sorted(items, key=lambda item: -item[1])
        tokens = np.cumsum([m for m, _ in falling])
        prefix = all(tokens[c] + (c + 1) * r <= memory for c, (_, r) in enumerate(falling))
        assert prefix == fits(items, memory)
        seen.add(prefix)
    assert seen == {True, False}


@pytest.mark.parametrize("memory", [3, 4, 5, 6])
def test_the_heaviest_configuration_is_that_of_enumeration(memory: int) -> None:
    rng = np.random.default_rng(memory)
    everything = list(multisets(memory))
    alone = [(m, r) for m in range(1, memory + 1) for r in range(memory - m + 1)]
    for _ in range(15):
        weight = {item: int(rng.integers(0, 9)) for item in alone}
        value, counts = heaviest(alone, list(weight.values()), memory)
        assert value == max(sum(weight[item] for item in items) for items in everything)
        chosen = tuple(i for i, c in zip(alone, counts, strict=True) for _ in range(c))
        assert fits(chosen, memory)
        assert sum(weight[item] for item in chosen) == value


def test_no_configuration_weighs_more_than_the_cap_of_a_separated_table() -> None:
    everything = {memory: list(multisets(memory)) for memory in (4, 5, 6)}
    found = raised = 0
    for seed in range(150):
        instance, m, r, amount = drawn(seed)
        table = Separator(instance)(m, r, amount)
        if table is None:
            continue
        found += 1
        weights = table.dense(instance.memory)
        heaviest_weight = max(
            sum(int(weights[item]) for item in items) for items in everything[instance.memory]
        )
        assert heaviest_weight <= table.cap
        assert weights[m, r] @ amount > 1.015 * table.cap
        raised += bool((weights[m[amount == 0], r[amount == 0]] > 0).any())
    assert found > 50
    assert raised > 20


def test_separating_weights_violate_as_much_as_any_can() -> None:
    everything = {memory: list(multisets(memory)) for memory in (4, 5, 6)}
    found = [0, 0]
    for seed in range(60):
        instance, m, r, amount = drawn(seed)
        order = np.argsort(-r, kind="stable")
        m, r, amount = m[order], r[order], amount[order] * (0.5 + 0.5 * (seed % 2)) + 1e-3
        place = {item: i for i, item in enumerate(zip(m.tolist(), r.tolist(), strict=True))}
        counts = {
            tuple(np.bincount([place[item] for item in items], minlength=len(m)).tolist())
            for items in everything[instance.memory]
            if items and set(items) <= set(place)
        }
        solved = linprog(-amount, np.array(sorted(counts)), np.ones(len(counts)))
        assert solved.fun is not None
        most = -solved.fun
        for part, violated in ((1.0, most - 1), (0.5, 0.5 * (most - 1))):
            weights = separating_weights(m, r, amount, instance.memory, 0.02, part, 1000)
            if most < 1.02:
                assert not weights.any()
                found[0] += 1
                continue
            found[1] += 1
            assert max(np.array(row) @ weights for row in counts) <= 1 + 1e-9
            assert violated - 1e-6 <= amount @ weights - 1 <= most - 1 + 1e-9
    assert min(found) > 10


def test_items_without_a_violated_row_give_none() -> None:
    one = Instance("one", 6, [0], [1], [3])
    assert Separator(one)(np.array([2]), np.array([2]), np.array([1.0])) is None


def test_items_above_lend_the_largest_weight_below() -> None:
    table = Table(5, ((2, 1, 3), (3, 0, 2), (3, 2, 4)))
    weights = table.dense(5)
    for m in range(6):
        for r in range(6):
            below = [w for m0, r0, w in table.items if m0 <= m and r0 <= r]
            assert weights[m, r] == max(below, default=0)
