"""The view of a policy and its possible answers.

The barrier is built, not promised: a `View` holds only copies of what has been revealed, so nothing
reachable from it leads to the output length of an unfinished request or to anything about a request
that has not arrived, and nothing written to it changes a run. The one exception has to be chosen by
name: tie-breaks ``worst`` and ``best`` order equal requests as an adversary or a friend that knows
the lengths would; their keys reveal the lengths of all requests, including requests that have not
arrived. The barrier stops accidents, not malice: Python code that inspects the frames of its
callers, the garbage collector or the arguments of the process finds everything. The generator of
random numbers that a policy gets leads to the seed of the run; an instance that was generated with
that seed, and all lengths in it, can be drawn again. Read a foreign policy before you believe its
figures.
"""

from collections.abc import Mapping, Sequence, Set
from enum import Enum
from typing import Any, NamedTuple

from ratiolab.model.instance import LAW_COLUMNS, PROMISES

NEVER = 2**62
"""A round that never comes."""


class Information(Enum):
    """Level of information about the output length of an arrived, unfinished request."""

    NOTHING = "nothing"
    LOWER_BOUND = "lower bound"
    INTERVAL = "interval"
    PREDICTION = "prediction"
    DISTRIBUTION = "distribution"
    REFINED = "refined prediction"
    TRUE_LENGTH = "true length"


class InformationError(LookupError):
    """Question of a policy for what it did not declare or what is not known yet."""


class Decision(NamedTuple):
    """The answer to a view.

    Parameters
    ----------
    admit : waiting requests that start now; each holds prompt + 1 tokens in the next round, and
        its kept ones.
    evict : running requests that stop now, before `admit` is carried out; under ``restart`` they
        lose their tokens, under ``pause`` they keep their memory until others need it.
    wake : ask again at this round at the latest, even if nothing happens before. None asks again
        in the next round; `NEVER` leaves it to the events (an arrival, a completion, memory that
        would overflow in the next round). Without a request to serve, that is the next arrival.
    drop : under ``pause``, who gives up memory first when the next round asks for more than there
        is. Requests that hold none are passed over; paused requests without a place here come
        after the others, the one paused last first.
    """

    admit: Sequence[int] = ()
    evict: Sequence[int] = ()
    wake: int | None = None
    drop: Sequence[int] = ()


LEVELS: dict[Information, tuple[str, ...]] = {
    Information.NOTHING: (),
    Information.LOWER_BOUND: ("lower",),
    Information.INTERVAL: ("lower", "upper"),
    Information.PREDICTION: ("predicted",),
    Information.DISTRIBUTION: LAW_COLUMNS,
    Information.REFINED: ("predicted", "signals"),
    Information.TRUE_LENGTH: ("lower", "upper", "predicted"),
}
"""Fields of a view at each level, beside the fields of all views."""


_write = object.__setattr__  # past the barrier of a view


class View:
    """The present, as far as a policy may see it: read-only, and one object for a whole run.

    Attributes
    ----------
    now : the round.
    memory : KV cache size M, tokens.
    arrived, completed : requests that did so since the last question, ascending.
    tokens : that the running requests hold in the next round if none starts or leaves.
    waiting : arrived requests that do not run (a live set).
    paused : the ones among them whose tokens are in memory all the same, under ``pause`` (live).
    running : start round of every request in memory (a live mapping); once one has prefilled in
        chunks, the round of its first token.
    filling : the tokens that are still to be prefilled of the running requests that have not made
        a token, when the policy has a budget (live).
    prompt, arrival : of arrived requests.
    lower, upper, predicted : of arrived requests; `InformationError` unless declared. A request
        without prediction interval is known to lie in [1, M - s].
    location, scale, freedom : of the predicted distributions of arrived requests, in thousandths;
        see `Instance`. `InformationError` unless declared.
    signals : at level ``refined prediction``, the bins that a classifier named for the remaining
        length of a request that has run, one after the prompt and one after each token so far.
    weight, deadline, first_by : of arrived requests, as the file states them: 1, or a date that
        never comes, without the column. Dates are in the unit of the arrivals: under a clock ticks,
        which are not batches.
    output : output of completed requests, of all arrived ones at level ``true length``.
    generated : tokens that an arrived request kept from its earlier runs, 0 under ``restart``; it
        starts with prompt + generated tokens in memory. A running one has ``now - running[i]``
        more by now.
    """

    now: int
    memory: int
    arrived: Sequence[int]
    completed: Sequence[int]
    tokens: int
    waiting: Set[int]
    paused: Set[int]
    running: Mapping[int, int]
    generated: Mapping[int, int]
    filling: Mapping[int, int]
    prompt: Mapping[int, int]
    arrival: Mapping[int, int]
    weight: Mapping[int, int]
    deadline: Mapping[int, int]
    first_by: Mapping[int, int]
    output: Mapping[int, int]
    lower: Mapping[int, int]
    upper: Mapping[int, int]
    predicted: Mapping[int, int]
    location: Mapping[int, int]
    scale: Mapping[int, int]
    freedom: Mapping[int, int]
    signals: Mapping[int, Sequence[int]]

    __slots__ = (
        *("now", "memory", "arrived", "completed", "tokens", "waiting", "paused"),
        *("running", "generated", "filling"),
        *("prompt", "arrival", *PROMISES, "output", "lower", "upper", "predicted"),
        *(*LAW_COLUMNS, "signals", "_refusal"),
    )

    def __init__(self, refusal: str, shown: Mapping[str, object]) -> None:
        _write(self, "_refusal", refusal)
        for name, value in shown.items():
            _write(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a view is read-only: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a view is read-only: {name!r} cannot be deleted")

    def __getattr__(self, name: str) -> Any:
        """Name the reason why an attribute is missing."""
        if any(name in columns for columns in LEVELS.values()):
            raise InformationError(f"{self._refusal}: it may not read {name!r}")
        raise AttributeError(f"a view has no attribute {name!r}")


def show(
    view: View, now: int, arrived: Sequence[int], completed: Sequence[int], tokens: int
) -> None:
    """Show the present in a view (for the simulator, which never reads it back)."""
    _write(view, "now", now)
    _write(view, "arrived", arrived)
    _write(view, "completed", completed)
    _write(view, "tokens", tokens)
