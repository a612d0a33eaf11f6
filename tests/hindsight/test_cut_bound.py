"""The cut bound lies between the plain linear program and the optimum."""

import numpy as np
import pytest

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.cut_bound import cut_bound
from ratiolab.model import Instance


def tiny(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(2, 7)), int(rng.integers(4, 11))
    prompt = rng.integers(0, memory // 2 + 1, n) if seed % 2 else np.full(n, seed % 3)
    output = [int(rng.integers(1, min(memory - s, 5) + 1)) for s in prompt]
    arrival = rng.integers(0, 6, n) if seed % 3 else np.zeros(n, np.int64)
    return Instance(f"tiny {seed}", memory, arrival, prompt, output)


def drawn(n: int = 14) -> Instance:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 30 - s + 1)) for s in prompt]
    return Instance("drawn", 30, [0] * n, prompt, output)


@pytest.mark.parametrize("block", range(4))
def test_the_cut_bound_lies_between_the_plain_one_and_the_optimum(block: int) -> None:
    exact = 0
    for seed in range(60 * block, 60 * (block + 1)):
        instance = tiny(seed)
        optimum = brute_force(instance).total_latency
        found = cut_bound(instance, rounds=10)
        assert found.plain <= found.lower <= optimum, seed
        exact += found.lower == optimum
    assert exact > 40  # of 60: cuts and rounding up close most tiny instances
