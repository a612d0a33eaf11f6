"""Tiny instances with weights and dates, some of which no schedule can keep."""

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.streams import stream


def promised(seed: int, most: int = 6) -> Instance:
    """Return a tiny instance; peaks are up to all, half or a third of the memory, in turn.

    Dates lie from one round before what a request needs alone to four rounds later. Some instances
    have one column of dates alone, some no weights.
    """
    rng = stream(seed, "instance", 1)
    n, memory = int(rng.integers(2, most + 1)), int(rng.integers(6, 13))
    top = max(2, memory // (1 + seed % 3))
    peak = rng.integers(max(2, top // 2), top + 1, n)
    output = np.array([rng.integers(1, min(5, k) + 1) for k in peak.tolist()])
    arrival = rng.integers(0, 5, n)
    columns = {
        "deadline": np.maximum(1, arrival + output + rng.integers(-1, 5, n)),
        "first_by": np.maximum(1, arrival + rng.integers(0, 5, n)),
        "weight": rng.integers(1, 6, n),
    }
    dropped = ((), ("first_by",), ("deadline",), ("weight",), ("first_by", "weight"))
    for name in dropped[int(rng.integers(len(dropped)))]:
        del columns[name]
    return Instance(f"promised {seed}", memory, arrival, peak - output, output, **columns)
