"""A run of a request."""

from typing import NamedTuple

RUN_COLUMNS = ("request", "start", "stop", "release", "lead", "unfilled")
"""Columns of a run; `ratiolab.model.schedule.Schedule` defines them."""

LARGEST_ROUND = 10**12
"""Latest round of a schedule: a million latencies of this size still fit a 64-bit integer."""


class Run(NamedTuple):
    """One uninterrupted stay of a request in memory, rounds ``start`` to ``stop`` (half open).

    In ``stop - start`` rounds the request produces as many tokens, but for the ``lead`` of its run,
    see `Schedule`; it is then complete or was evicted.
    """

    request: int
    start: int
    stop: int
    completed: bool
