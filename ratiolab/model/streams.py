"""Random streams: every purpose draws from a stream of its own, all of them from one seed.

A workload, its predictions and the run of a policy share one seed. If they drew from the
same numbers, errors of predictions would follow the lengths that they predict.
"""

from hashlib import sha256
from typing import Literal, TypeAlias, get_args

import numpy as np

Purpose: TypeAlias = Literal[
    "instance",  # arrivals, prompts, outputs and sampled rows of a trace, one after the other
    "lengths",  # lengths that are the same in several instances, whose arrivals differ
    "arrivals",  # drawn apart from the lengths, at a share of what an engine serves
    "predictions",
    "answers",  # of a classifier that is asked again after every token
    "ties",
    "policy",
    "router",
    "replica",  # seeds of the policies of a fleet's replicas
    "search",  # orders and schedules that a solver tries
    "hashes",  # of partial schedules
    "separation",  # which cuts a solver looks for first
    "queue",  # simulations of queues
    "cases",  # on which a claim is tried
    "bootstrap",
]
"""Purposes of random numbers; a new purpose is a word here."""


def stream(seed: int, purpose: Purpose, *which: int) -> np.random.Generator:
    """Return the random numbers of a seed for one purpose, as a generator of numpy.

    SHA-256 of its word distinguishes a purpose from all others, in the spawn key of numpy's
    `SeedSequence`: streams of different purposes are independent, and a new purpose changes none of
    them. The key of ``instance`` is empty: a seed gives the instance that numpy's default generator
    of this seed has always given, so instances that are stored can be drawn again. `which`
    distinguishes streams of one purpose, as the number of a request does. Raise ValueError when the
    purpose is unknown or a number is negative.

    >>> draws = [stream(7, purpose).integers(1000) for purpose in ("instance", "predictions")]
    >>> [int(drawn) for drawn in draws]
    [944, 342]
    """
    if purpose not in get_args(Purpose):
        known = ", ".join(get_args(Purpose))
        raise ValueError(f"purpose {purpose!r} of random numbers is unknown; known are {known}")
    if min((seed, *which)) < 0:
        raise ValueError(f"seed {seed} and numbers {which} must be at least 0")
    digest = b"" if purpose == "instance" else sha256(purpose.encode()).digest()[:16]
    name = [int.from_bytes(digest[k : k + 4], "little") for k in range(0, len(digest), 4)]
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*name, *which)))
