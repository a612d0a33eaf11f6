"""Dynamic programming over rounds, guided by the duals that prove the lower bound.

States. Layer t holds what may have happened before round t: the set of requests started, the
requests still running with their ages, and the latency of all started ones. From a state at t,
every set of arrived requests that fits beside the running ones until they complete may start at
t. Requests with equal arrival, prompt and output start in order of index (exchanging them changes
nothing), and a layer passes without any running request only while some have not arrived (an
optimal schedule is never idle otherwise: `ratiolab.hindsight.horizon`, serial horizon).

Bound. Let c_i(p) be the Lagrangian cost of a start and R_t the duals times right sides of time t,
as in `ratiolab.hindsight.relaxation.lagrangian`. Every completion of a state at t has a latency of
at least

    sum over started i of c_i(p_i) + sum over others of min over p >= t of c_i(p)
    - sum of R_t' over all t' + sum over t' <= t of (R_t' - duals of what was held at t'),

since the last bracket is what the rows of times t' <= t leave, which the state knows, and those
of later times leave at least 0. All of it is in integers over the denominator of the duals. A state
whose bound exceeds upper - 1 cannot lead to a schedule better than one of latency ``upper``.

Dominance. Of two states of a layer with the same started set, one with no more latency, whose
running requests hold no more at any later time, is at least as good: whatever completes the other
one completes it, too.

So as long as nothing is left out, the search is exact: it finds an optimal schedule or shows that
none is better than the one known. A beam keeps the states of least bound.

What is left out. Let B be the least bound of all states that a search leaves out because a layer is
full. Every schedule better than the one known at the end leads through a state left out, or, by
dominance, one that is no worse does: latency is at least B. A search for a bound alone may as well
leave out every state of bound B or more from then on: that changes nothing in the bound, and leaves
later layers to the states below it. When a layer has no capacity for all that its states lead to,
the limit falls until it does.
"""

from collections.abc import Callable
from dataclasses import replace

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.dynamic_programming.beam_search import (
    MOST_REQUESTS,
    BeamResult,
    BeamSearch,
    Stop,
)
from ratiolab.model import Instance, Schedule

WIDTH = 2_000
"""States that a layer keeps by default."""

GROWTH = 4
"""Each of the widening searches keeps so many times as many states as the one before."""

WIDEST_FOR_SCHEDULES = 4 * WIDTH
"""Wider searches raise the bound; schedules get better by other means."""


def beam(
    instance: Instance,
    duals: Duals,
    known: Schedule,
    *,
    width: int = WIDTH,
    bounding: bool = False,
    stop: Stop | None = None,
    found: Callable[[Schedule], None] | None = None,
) -> BeamResult:
    """Search for a schedule better than a known one, exactly if the width suffices.

    Parameters
    ----------
    duals : any nonnegative duals; those of a good bound make states few.
    known : a feasible schedule.
    width : states that a layer keeps, at least 1.
    bounding : search for a bound alone, and leave out what cannot raise it.
    stop : asked once a layer; True ends the search.
    found : called with each better schedule, so that Ctrl-C does not lose it.

    Raises
    ------
    ValueError
        when the instance has more than `MOST_REQUESTS` requests.

    Cost: up to width states a layer, each with the sets of requests that may start; exponential
    in the worst case for the exact search.

    >>> from ratiolab.hindsight.cuts.cut_bound import cut_bound
    >>> from ratiolab.hindsight.schedules.heuristics import list_schedule
    >>> four = Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    >>> result = beam(four, cut_bound(four).certificate.duals, list_schedule(four, [3, 2, 1, 0]))
    >>> result.schedule.total_latency, result.exhausted
    (12, True)
    """
    if len(instance) > MOST_REQUESTS:
        raise ValueError(f"{len(instance)} requests: the search takes at most {MOST_REQUESTS}")
    search = BeamSearch(instance, duals, known, width, found or (lambda _: None), bounding)
    return search.run(stop or (lambda: False))


def widening_beam(
    instance: Instance,
    duals: Duals,
    known: Schedule,
    *,
    width: int = 100 * WIDTH,
    stop: Stop | None = None,
    found: Callable[[Schedule], None] | None = None,
    proved: Callable[[BeamResult], None] | None = None,
) -> BeamResult:
    """Search with growing width for bounds and schedules, until they meet.

    A narrow search costs little and often improves the schedule, which leaves the wider ones fewer
    states to keep. Parameters as in `beam`; ``width`` is the largest, and ``proved`` is called with
    what each search found.
    """
    lower, next_width = 0, min(width, WIDTH)
    while True:
        for bounding in (True, False):
            if not bounding and next_width > WIDEST_FOR_SCHEDULES:
                continue
            result = beam(
                *(instance, duals, known),
                width=next_width,
                bounding=bounding,
                stop=stop,
                found=found,
            )
            if proved is not None:
                proved(result)
            known, lower = result.schedule, max(lower, result.lower)
            result = replace(result, lower=lower, exhausted=lower == known.total_latency)
            if result.exhausted or (stop is not None and stop()):
                return result
        if next_width == width:
            return result
        next_width = min(width, GROWTH * next_width)
