"""A run of a request, and what its end before the last token costs."""

from typing import Literal, NamedTuple, TypeAlias, get_args

from ratiolab.model.instance import shown

RUN_COLUMNS = ("request", "start", "stop", "release", "lead", "unfilled")
"""Columns of a run; `ratiolab.model.schedule.Schedule` defines them."""

LARGEST_ROUND = 10**12
"""Latest round of a schedule: a million latencies of this size still fit a 64-bit integer."""

Preemption: TypeAlias = Literal["restart", "recompute", "swap", "pause"]
"""Cost of an eviction: every token (``restart``); none, but the cache is built again from
prompt and tokens when the request resumes (``recompute``); none, and the cache goes to the host
and back (``swap``); nothing while memory lasts (``pause``): the request only stops, its cache stays
until others need the memory, and from then on it is a request evicted under ``recompute``. The
last three allow the same runs; a clock tells them apart, and the memory that is in use."""


class Run(NamedTuple):
    """One uninterrupted stay of a request in memory, rounds ``start`` to ``stop`` (half open).

    In ``stop - start`` rounds the request produces as many tokens, but for the ``lead`` of its run,
    see `Schedule`; it is then complete or was evicted.
    """

    request: int
    start: int
    stop: int
    completed: bool


def require_preemption(preemption: object) -> None:
    """Raise ValueError unless these are semantics of preemption that the model knows."""
    if preemption not in get_args(Preemption):
        known = ", ".join(get_args(Preemption))
        raise ValueError(f"preemption {shown(preemption)} must be one of {known}")
