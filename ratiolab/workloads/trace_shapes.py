"""Workloads with the shape of public traces: lengths drawn from a few quantiles of each.

They stand for the traces where those cannot be shipped. Between two quantiles the logarithm of a
length is uniform; prompts and outputs have the rank correlation of the trace. Not kept are the
many equal prompts of the conversations, and what a request has to do with the one before.

Sources: the Azure LLM inference traces of 2023 (Patel et al., Splitwise, ISCA 2024) and the arXiv
summarisation trace published with Vidur (Agrawal et al., MLSys 2024); quantiles of all requests
with prompts up to 8,246 tokens, rounded to two digits.
"""

from collections.abc import Sequence
from math import pi
from statistics import NormalDist
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ratiolab.model import Instance, IntArray, volume
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.kinds import Domain, Kind, Memory, Requests, kind_of

LEVELS = (0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1)
"""Parts of the requests that are no longer than each quantile."""

Load = Annotated[float, Domain(0, 100, "memory that requests take on average; 0: all at round 0")]
Scale = Annotated[int, Domain(1, 1000, "by which lengths and memory are divided")]


class Shape(NamedTuple):
    """Quantiles of prompts and outputs at `LEVELS`, tokens, and their rank correlation."""

    prompt: Sequence[int]
    output: Sequence[int]
    correlation: float


CONVERSATIONS = Shape(
    (2, 29, 180, 210, 390, 400, 700, 1000, 1100, 1150, 1300, 2700, 4100, 4150, 6100, 7900),
    (7, 16, 41, 54, 77, 91, 100, 130, 180, 380, 400, 420, 450, 600, 950, 1000),
    0.07,
)
CODE = Shape(
    (3, 17, 75, 150, 390, 770, 1100, 1500, 1900, 2400, 3200, 5200, 7300, 7400, 7450, 7450),
    (6, 6, 6, 7, 8, 9, 11, 13, 16, 20, 29, 55, 90, 250, 830, 1900),
    -0.02,
)
SUMMARIES = Shape(
    (1, 73, 750, 1200, 1800, 2150, 2450, 2700, 3000, 3250, 3500, 3700, 3800, 3900, 4000, 4050),
    (5, 36, 60, 78, 100, 125, 145, 165, 190, 220, 270, 370, 740, 3300, 3800, 4050),
    -0.11,
)


def conversations(
    rng: Generator, *, n: Requests = 200, memory: Memory = 16492, load: Load = 1.1, scale: Scale = 1
) -> Instance:
    """Draw lengths as of chats, with two humps, and Poisson arrivals."""
    return _drawn(rng, CONVERSATIONS, n, memory, load, scale)


def code(
    rng: Generator, *, n: Requests = 200, memory: Memory = 16492, load: Load = 1.2, scale: Scale = 1
) -> Instance:
    """Draw lengths as of code completion, long prompts and short outputs, and Poisson arrivals."""
    return _drawn(rng, CODE, n, memory, load, scale)


def summaries(
    rng: Generator, *, n: Requests = 200, memory: Memory = 16492, load: Load = 1.2, scale: Scale = 1
) -> Instance:
    """Draw lengths as of summaries of papers, a few of them very long, and Poisson arrivals."""
    return _drawn(rng, SUMMARIES, n, memory, load, scale)


def _drawn(rng: Generator, shape: Shape, n: int, memory: int, load: float, scale: int) -> Instance:
    """Draw requests of a shape, of those with prompts up to half of memory.

    ``memory`` and all lengths are divided by ``scale``, so that few requests crowd little memory as
    many do much. The rate of arrivals is that at which the requests drawn take ``load`` memories.
    """
    room = memory // scale
    if room < 4:
        raise ValueError(f"memory {memory} over scale {scale} must be at least 4 tokens")
    both = rng.standard_normal((2, n))
    angle = 2 * np.sin(shape.correlation * pi / 6)  # of normal numbers with that rank correlation
    both[1] = angle * both[0] + np.sqrt(1 - angle**2) * both[1]
    level = np.vectorize(NormalDist().cdf)(both)
    # the distribution of those that are kept when prompts of more than half of memory are left out
    level[0] *= np.interp(np.log(scale * (room // 2)), np.log(shape.prompt), LEVELS)
    prompt = np.minimum(_lengths(shape.prompt, level[0], scale), room // 2)
    output = np.minimum(_lengths(shape.output, level[1], scale), room - prompt)
    rate = load * room * n / float(volume(prompt, output).sum())
    return Instance("trace shape", room, poisson_arrivals(rng, n, rate), prompt, output)


def _lengths(quantiles: Sequence[int], level: NDArray[np.float64], scale: int) -> IntArray:
    """Return the lengths at these levels, over a scale, at least 1."""
    drawn = np.exp(np.interp(level, LEVELS, np.log(quantiles)))
    whole: IntArray = np.maximum(1, np.rint(drawn / scale)).astype(np.int64)
    return whole


KINDS: tuple[Kind, ...] = tuple(
    kind_of(f"trace-{build.__name__}", "ratiolab, after public traces", build)
    for build in (conversations, code, summaries)
)
