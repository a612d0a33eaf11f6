"""Configurations: the prefix test is the definition, and no table weighs one above its cap."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from ratiolab.hindsight.certificates.tables import heaviest as certified
from ratiolab.hindsight.relaxation.configurations import Separator, heaviest, real_items
from ratiolab.model import Instance

Item = tuple[int, int]


def fits(items: tuple[Item, ...], memory: int) -> bool:
    """The definition: at no k do the items still active exceed the memory."""
    last = max((r for _, r in items), default=0)
    return all(sum(m + k for m, r in items if r >= k) <= memory for k in range(last + 1))


@cache
def multisets(memory: int) -> tuple[tuple[Item, ...], ...]:
    """Every feasible multiset: those with one item more of each, as parts of what fits do fit."""
    alone = [(m, r) for m in range(1, memory + 1) for r in range(memory - m + 1)]

    def grown(items: tuple[Item, ...], first: int) -> Iterator[tuple[Item, ...]]:
        yield items
        for k in range(first, len(alone)):
            if fits((*items, alone[k]), memory):
                yield from grown((*items, alone[k]), k)

    return tuple(grown((), 0))


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


@pytest.mark.parametrize("memory", [3, 4, 5, 6])
def test_the_heaviest_configuration_is_that_of_enumeration(memory: int) -> None:
    rng = np.random.default_rng(memory)
    everything = multisets(memory)
    alone = [(m, r) for m in range(1, memory + 1) for r in range(memory - m + 1)]
    for _ in range(15):
        weight = {item: int(rng.integers(0, 9)) for item in alone}
        value, counts = heaviest(alone, list(weight.values()), memory)
        assert value == max(sum(weight[item] for item in items) for items in everything)
        chosen = tuple(i for i, c in zip(alone, counts, strict=True) for _ in range(c))
        assert fits(chosen, memory)
        assert sum(weight[item] for item in chosen) == value


@pytest.mark.parametrize("memory", [4, 5, 6])
def test_what_fits_the_memory_fits_its_grid(memory: int) -> None:
    for grid in range(1, memory + 3):
        for items in multisets(memory):
            scaled = [tuple((grid + 1) * x // (memory + 1) for x in item) for item in items]
            assert fits(tuple((m, r) for m, r in scaled if m), grid), (grid, items)


def test_no_configuration_weighs_more_than_the_cap_of_a_separated_table() -> None:
    found = raised = 0
    for seed in range(150):
        instance, m, r, amount = drawn(seed)
        most = (None, 3, 2)[seed % 3]
        table = Separator(instance.memory, real_items(instance), most)(m, r, amount)
        if table is None:
            continue
        found += 1
        weights = table.dense(instance.memory)
        heaviest_weight = max(
            sum(int(weights[item]) for item in items)
            for items in multisets(instance.memory)
            if most is None or len(items) <= most
        )
        assert heaviest_weight <= table.cap
        assert heaviest_weight == certified(table.items, instance.memory, most)
        assert weights[m, r] @ amount > 1.015 * table.cap
        raised += bool((weights[m[amount == 0], r[amount == 0]] > 0).any())
    assert found > 50
    assert raised > 20
