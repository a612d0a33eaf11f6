"""A search for the best schedule in seconds and for a bound on it at once, a thread each."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.hindsight.certificates.effort import CertificateError
from ratiolab.model import Instance, Preemption
from ratiolab.online import Simulation
from ratiolab.online.clock import BatchTime
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.seconds.order_search import compile_search, search_order

TOLD = 0.1
"""Seconds between two reports."""


class BothEnds(NamedTuple):
    """A searched schedule, a certified bound, and whether Ctrl-C ended their search early.

    The bound is None if there is no time for it, or its numbers exceed 64 bits.
    """

    run: Simulation
    certificate: SecondsCertificate | None
    interrupted: bool


def both_ends(
    instance: Instance,
    clock: BatchTime,
    preemption: Preemption,
    *,
    search: float,
    bound: float,
    seed: int = 0,
    tell: Callable[[float], None] = lambda _: None,
) -> BothEnds:
    """Search for a schedule and for a bound at once, on two cores where there are two.

    Ctrl-C ends both with the best so far.

    Parameters
    ----------
    search, bound : seconds of each; there is no bound at 0.
    tell : called with the part of the time that is used.
    """
    compile_search(len(instance))
    began, over, interrupted = time.perf_counter(), np.zeros(1, np.bool_), False

    def schedule() -> Simulation:
        return search_order(instance, clock, search, preemption=preemption, seed=seed, over=over)

    def proof() -> SecondsCertificate | None:
        if not bound:
            return None
        try:
            return seconds_certificate(instance, clock, preemption, seconds=bound, over=over)
        except CertificateError:
            return None

    with ThreadPoolExecutor(2) as pool:
        found, proven = pool.submit(schedule), pool.submit(proof)
        ends: list[Future[Any]] = [found, proven]
        try:
            while wait(ends, TOLD).not_done:
                tell(min(1.0, (time.perf_counter() - began) / max(search, bound)))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            over[0] = True
    return BothEnds(found.result(), proven.result(), interrupted)
