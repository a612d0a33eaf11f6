"""Small random instances that provoke: tight memory, equals, intervals, wrong predictions."""

from functools import cache

import numpy as np
import pytest

from ratiolab.model import Instance

MANY = 12
"""Instances that show what others of their kind would show."""


def in_two(first: int, last: int) -> pytest.MarkDecorator:
    """Parametrize `seeds`: every run of the tests takes the first, other groups the others.

    The others are long tests where the first are few, and slow ones where they repeat the law.
    """
    mark = pytest.mark.long if first < MANY else pytest.mark.slow
    others = pytest.param(range(first, last), id="others", marks=mark)
    return pytest.mark.parametrize("seeds", [pytest.param(range(first), id="first"), others])


def word(case):
    """The name of a policy with its parameters."""
    return "-".join([case[0], *map(str, case[1].values())])


def ended(simulation):
    """Request, start and stop of every run."""
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


@cache
def drawn(seed: int, most_requests: int = 9, longest: int = 9) -> Instance:
    """The instance of a seed; every feature is drawn independently of the others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most_requests + 1))
    output = rng.integers(1, longest + 1, n)
    if rng.random() < 0.3:
        output = rng.choice([2, longest], n)  # two lengths, many equals
    prompt = {
        "none": np.zeros(n, np.int64),
        "equal": np.full(n, rng.integers(1, 5)),
        "unequal": rng.integers(0, 6, n),
    }[str(rng.choice(["none", "equal", "unequal"]))]
    arrival = {
        "together": np.zeros(n, np.int64),
        "spread": rng.integers(0, 16, n),
        "bursts": 7 * rng.integers(0, 4, n) + 2,
    }[str(rng.choice(["together", "spread", "bursts"]))]
    slack = rng.choice([0, 1, 2, longest, 3 * longest])
    memory = int((prompt + output).max() + slack)
    lower, upper = {
        "none": (None, None),
        "common": (np.full(n, output.min()), np.full(n, output.max() + rng.integers(0, 4))),
        "own": (np.maximum(1, output - rng.integers(0, 4, n)), output + rng.integers(0, 4, n)),
        "lower": (np.maximum(1, output - rng.integers(0, 6, n)), None),
        "exact": (output, output),
    }[str(rng.choice(["none", "common", "own", "lower", "exact"]))]
    predicted = {
        "exact": output,
        "near": np.maximum(1, output + rng.integers(-2, 3, n)),
        "wrong": rng.integers(1, longest + 9, n),
        "constant": np.full(n, rng.integers(1, longest + 1)),
    }[str(rng.choice(["exact", "near", "wrong", "constant"]))]
    freedom = {"heavy": 1500, "fixed": 3500, "normal": 10**9}[
        str(rng.choice(["heavy", "fixed", "normal"]))
    ]
    law = {
        "location": np.rint(1000 * np.log(predicted)).astype(np.int64),
        "scale": rng.choice([200, 600, 1200], n),
        "freedom": np.full(n, freedom),
    }
    return Instance(
        f"drawn {seed}", memory, arrival, prompt, output, lower, upper, predicted, **law
    )
