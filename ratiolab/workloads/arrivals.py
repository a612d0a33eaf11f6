"""When requests arrive, in rounds."""

import numpy as np

from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import LARGEST


def poisson_arrivals(rng: np.random.Generator, requests: int, rate: float) -> IntArray:
    """Draw the arrival rounds of the first requests of a Poisson process, not decreasing.

    The number of arrivals in each round is Poisson with mean ``rate`` and independent of the other
    rounds; a rate of 0 stands for all requests at round 0. Raise ValueError when the rate is out of
    range, or so small that an arrival is beyond the largest round.
    """
    if not 0 <= rate < float("inf"):
        raise ValueError(f"rate {rate} must be at least 0 and finite")
    if rate == 0:
        return np.zeros(requests, dtype=np.int64)
    times = np.cumsum(rng.exponential(1 / rate, requests))
    if times[-1] > LARGEST:
        raise ValueError(f"rate {rate:g} spreads {requests} requests beyond round {LARGEST}")
    return np.floor(times).astype(np.int64)
