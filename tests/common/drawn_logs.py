"""Request logs that are drawn."""

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.workloads.traces import Trace


def drawn(n: int = 150, rate: float = 4.0) -> Trace:
    rng = stream(11, "instance")
    prompt = rng.integers(5, 200, n)
    output = np.where(rng.random(n) < 0.2, rng.integers(200, 500, n), rng.integers(2, 40, n))
    return Trace("drawn", np.cumsum(rng.exponential(1 / rate, n)), prompt, output)
