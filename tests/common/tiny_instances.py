"""Instances small enough to try every schedule, and of every kind that a proof may get wrong."""

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.streams import stream


def tiny(seed: int, most: int = 5, longest: int = 5) -> Instance:
    """Arrivals or none, equal or unequal prompts, memory barely enough or not, duplicates.

    The last four bits of the seed choose, so that sixteen seeds in a row see every combination.

    Parameters
    ----------
    most : requests at most.
    longest : tokens of the longest output at most.
    """
    rng = stream(seed, "instance")
    n, memory = int(rng.integers(1, most + 1)), int(rng.integers(3, 13))
    widest = max(1, memory // 2)
    prompt = rng.integers(0, widest, n) if seed & 1 else np.full(n, rng.integers(0, widest))
    output = rng.integers(1, np.minimum(memory - prompt, longest) + 1)
    arrival = rng.integers(0, 6, n) if seed & 2 else np.zeros(n, np.int64)
    if seed & 4:
        copied = rng.integers(0, n, n)
        prompt, output, arrival = prompt[copied], output[copied], arrival[copied]
    if seed & 8:
        memory = int((prompt + output).max())
    return Instance(f"tiny {seed}", memory, arrival, prompt, output)
