"""What a policy may know, and what it may answer.

The barrier is built, not promised: a `View` holds only copies of what has been revealed, so nothing
reachable from it leads to the output length of an unfinished request or to anything about a request
that has not arrived. The one exception is asked for by name: tie-breaks ``worst`` and ``best``
order equal requests as an adversary or a friend who knows the lengths would.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

from numpy.random import Generator

from ratiolab.model.instance import LAW_COLUMNS

NEVER = 2**62
"""A round that never comes."""

TieBreak: TypeAlias = Literal["random", "worst", "best", "index"]


class Information(Enum):
    """What a policy is told about the output length of an arrived, unfinished request."""

    NOTHING = "nothing"
    LOWER_BOUND = "lower bound"
    INTERVAL = "interval"
    PREDICTION = "prediction"
    DISTRIBUTION = "distribution"
    REFINED = "refined prediction"
    TRUE_LENGTH = "true length"


class InformationError(LookupError):
    """A policy asked for something it did not declare or that is not known yet."""


class Decision(NamedTuple):
    """The answer to a view.

    Parameters
    ----------
    admit : waiting requests that start now; each holds prompt + 1 tokens in the next round, and
        those it kept.
    evict : running requests that stop now, before `admit` is carried out; under ``restart`` they
        lose their tokens.
    wake : ask again at this round at the latest, even if nothing happens before. None asks again
        in the next round; `NEVER` leaves it to the events (an arrival, a completion, memory that
        would overflow in the next round). With nobody to serve, the next arrival is the next.
    """

    admit: Sequence[int] = ()
    evict: Sequence[int] = ()
    wake: int | None = None


class Ties:
    """Keys that order equal requests: smaller goes first, into memory and out of it.

    ``random`` draws an independent key whenever a request enters the queue and another when it
    starts, ``index`` uses the position in the file, ``worst`` admits the longest of equals first
    and evicts the shortest first, ``best`` does the opposite.
    """

    def __init__(
        self, kind: TieBreak, rng: Generator, outputs: Sequence[int] | None = None
    ) -> None:
        self._draw = rng.random
        self._block: list[float] = []
        sign = {"worst": -1, "best": 1}.get(kind)
        if sign is not None:
            assert outputs is not None
            lengths = outputs
            self.queue: Callable[[int], float] = lambda i: sign * lengths[i]
            self.running: Callable[[int], float] = lambda i: -sign * lengths[i]
        else:
            self.queue = self.running = self._random if kind == "random" else float

    def _random(self, _: int) -> float:
        if not self._block:
            self._block = self._draw(1024).tolist()
        return self._block.pop()


@dataclass(frozen=True)
class Setting:
    """What a policy knows before the first request: memory in tokens, and how ties are broken."""

    memory: int
    ties: Ties


class _Known(dict[int, Any]):
    """Revealed values of one column; asking for another names policy and rule."""

    def __init__(self, column: str, owner: str) -> None:
        self.column, self.owner = column, owner

    def __missing__(self, request: int) -> int:
        raise InformationError(
            f"{self.owner}: the {self.column} of request {request} is not known now"
        )


class View:
    """The present, as far as a policy may see it. One object serves a whole run.

    Attributes
    ----------
    now : the round.
    memory : KV cache size M, tokens.
    arrived, completed : requests that did so since the last question, ascending.
    waiting : arrived requests that are not in memory (a live set).
    running : start round of every request in memory (a live mapping).
    prompt, arrival : of arrived requests.
    lower, upper, predicted : of arrived requests; `InformationError` unless declared. A request
        without prediction interval is known to lie in [1, M - s].
    location, scale, freedom : of the predicted laws of arrived requests, in thousandths; see
        `Instance`. `InformationError` unless declared.
    signals : at level ``refined prediction``, the bins that a classifier named for the remaining
        length of a request that has run, one after the prompt and one after each token so far.
    output : of completed requests, of all arrived ones at level ``true length``.
    generated : tokens that an arrived request kept from its earlier runs, 0 under ``restart``; it
        starts with prompt + generated tokens in memory. A running one has ``now - running[i]``
        more by now.
    """

    _LEVELS: ClassVar[dict[Information, tuple[str, ...]]] = {
        Information.NOTHING: (),
        Information.LOWER_BOUND: ("lower",),
        Information.INTERVAL: ("lower", "upper"),
        Information.PREDICTION: ("predicted",),
        Information.DISTRIBUTION: LAW_COLUMNS,
        Information.REFINED: ("predicted", "signals"),
        Information.TRUE_LENGTH: ("lower", "upper", "predicted"),
    }

    prompt: Mapping[int, int]
    arrival: Mapping[int, int]
    output: Mapping[int, int]
    lower: Mapping[int, int]
    upper: Mapping[int, int]
    predicted: Mapping[int, int]
    location: Mapping[int, int]
    scale: Mapping[int, int]
    freedom: Mapping[int, int]
    signals: Mapping[int, Sequence[int]]

    def __init__(self, memory: int, information: Information, owner: str) -> None:
        self.memory = memory
        self.now = 0
        self.arrived: Sequence[int] = ()
        self.completed: Sequence[int] = ()
        self._known = {
            name: _Known(name, owner)
            for name in ("prompt", "arrival", "output", *self._LEVELS[information])
        }
        for name, known in self._known.items():
            setattr(self, name, MappingProxyType(known))
        self._refusal = f"{owner} declares information {information.value!r}"
        self._generated = _Known("kept tokens", owner)
        self.generated: Mapping[int, int] = MappingProxyType(self._generated)
        self._waiting: dict[int, None] = {}
        self._running: dict[int, int] = {}
        self.running: Mapping[int, int] = MappingProxyType(self._running)

    @property
    def waiting(self) -> Set[int]:
        """Arrived requests that are not in memory."""
        return self._waiting.keys()

    def __getattr__(self, name: str) -> Any:
        """Only reached for what was not revealed."""
        if any(name in columns for columns in self._LEVELS.values()):
            raise InformationError(f"{self._refusal}: it may not read {name!r}")
        raise AttributeError(f"a view has no attribute {name!r}")


class Policy(Protocol):
    """A scheduler: a frozen dataclass of its parameters.

    ``start`` returns fresh state for one run, a function from `View` to `Decision`.

    A policy made for other semantics of preemption than ``restart`` says ``preemption =
    "recompute"`` or ``"swap"``; the simulator takes that by default. One that makes no sense under
    some lists those it allows in ``semantics``.

    At level ``refined prediction`` a policy has a ``classifier`` (`ratiolab.online.classifier`),
    whose answers the simulator draws and its views show as ``signals``.

    A policy that may evict and start the same requests for ever can say ``may_loop = True`` if its
    decisions follow from who waits and who runs since how many rounds, and from nothing else, as
    randomness, the clock or earlier evictions. A state that comes back then proves the loop.
    """

    name: ClassVar[str]
    source: ClassVar[str]

    @property
    def information(self) -> Information: ...

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]: ...


def reveal(view: View, request: int, values: Mapping[str, Any]) -> None:
    """Tell a view what its level allows of an arriving request (for the simulator)."""
    for name, known in view._known.items():
        if name in values:
            known[request] = values[name]
