"""The base class of all policies, and what a policy is given when a run begins."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.instance import shown
from ratiolab.model.numbers import require_integer
from ratiolab.online.clock import BatchTime
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.online.rules import Rule
from ratiolab.online.view import NEVER, Decision, Information, View

TieBreak: TypeAlias = Literal["random", "worst", "best", "index"]

Decide: TypeAlias = Callable[[View], Decision]
"""One run of a policy: a function, with state, from what is known now to a decision."""

RESTARTING = tuple(name for name, each in EVICTIONS.items() if not each.keeps_tokens)
"""Semantics of policies whose evicted requests lose their tokens."""

KEEPING = tuple(name for name, each in EVICTIONS.items() if each.keeps_tokens)
"""Semantics of policies whose evicted requests keep their tokens."""


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
    """Knowledge of a policy before the first request.

    Parameters
    ----------
    memory : KV cache size M, tokens.
    ties : keys that order equal requests.
    keeps : whether an evicted request keeps its tokens: all semantics but ``restart``.
    clock : how long a batch takes; None counts rounds.
    """

    memory: int
    ties: Ties
    keeps: bool = False
    clock: BatchTime | None = None


class Shared(NamedTuple):
    """Order and admission rule of one queue before several replicas.

    Parameters
    ----------
    key : returns the key of a waiting request; the least goes first, equal keys in the order of
        the file.
    length : returns the believed output, for policies that start a request only if it fits until
        its completion; None for policies that check the next round only.
    most : largest number of requests in the memory of a replica.
    """

    key: Callable[[View, int], Any]
    length: Callable[[View, int], int] | None = None
    most: int = NEVER


class Interval:
    """The values that a parameter may have, as in ``[0, 1)``, and how a message says it."""

    def __init__(self, text: str, words: str = "") -> None:
        low, high = map(float, text[1:-1].split(","))
        self.low, self.high, self.ends = low, high, text[0] + text[-1]
        at = "at least" if text[0] == "[" else "above"
        whole = f"{at} {low:g}" if high == inf else f"in {text}"
        self.words = words or (f"between {low:g} and {high:g}" if self.ends == "[]" else whole)

    def __contains__(self, value: float) -> bool:
        above = self.low <= value if self.ends[0] == "[" else self.low < value
        return above and (value <= self.high if self.ends[1] == "]" else value < self.high)


Unit: TypeAlias = Annotated[float, Interval("[0, 1]")]
Share: TypeAlias = Annotated[float, Interval("[0, 1)")]
Part: TypeAlias = Annotated[float, Interval("(0, 1]")]
Positive: TypeAlias = Annotated[float, Interval("(0, inf)")]
Growth: TypeAlias = Annotated[float, Interval("(1, 1e9]", "above 1 and at most 1e9")]
Count: TypeAlias = Annotated[int, Interval("[1, inf)")]
Limit: TypeAlias = Annotated[int, Interval("[0, inf)", "at least 1, or 0 for no limit")]
"""Types of parameters with the values that they may have."""


def require_parameters(title: str, chosen: object) -> None:
    """Raise ValueError naming the first parameter of an object that is outside its interval."""
    kind: Any = type(chosen)
    for name, allowed in _intervals(kind).items():
        if (value := getattr(chosen, name)) not in allowed:
            words = allowed.words + ", a finite number" * (not isfinite(value))
            raise ValueError(f"{title}: {name} {value} must be {words}")


@cache
def _intervals(policy: type) -> dict[str, Interval]:
    """Return what the parameters of a class may be, by name."""
    return {
        name: extra
        for name, kind in get_type_hints(policy, include_extras=True).items()
        if get_origin(kind) is Annotated
        for extra in get_args(kind)[1:]
        if isinstance(extra, Interval)
    }


@dataclass(frozen=True)
class Policy(ABC):
    """A scheduler: a frozen dataclass of its parameters.

    A subclass states ``name`` and defines ``start``; it states whatever else differs from the
    defaults below, as a class variable, as a property that depends on the parameters, or as a
    parameter (``ties``). A parameter whose type names an interval, as `Share` does, is refused
    outside it.

    Attributes
    ----------
    name : the key of the policy.
    source : where the policy comes from.
    preemption : semantics of an eviction that the policy is made for.
    semantics : all semantics of an eviction under which the policy makes sense.
    randomized : whether the policy draws random numbers of its own, besides the ones for ties.
    reads : columns of promises that the policy is made for; without any of them it decides as
        another policy does.
    many : requests from which on a run is compiled, if there is a rule for it: in Python it takes
        about as long as compiling does. Machine code that is kept is used for fewer, too.
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    preemption: ClassVar[Preemption] = "restart"
    semantics: ClassVar[tuple[Preemption, ...]] = get_args(Preemption)
    randomized: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ()
    many: ClassVar[int] = 100_000

    def __post_init__(self) -> None:
        require_parameters(f"policy {self.name}", self)

    @property
    def information(self) -> Information:
        """The level of information on the output length of an unfinished request."""
        return Information.NOTHING

    @property
    def ties(self) -> TieBreak | None:
        """How the policy orders equal requests by the keys of `Setting`; None if it does not."""
        return None

    @property
    def may_loop(self) -> bool:
        """Whether the policy may evict and start the same requests for ever.

        Only a policy whose decisions follow from which requests wait, and run since how many
        rounds, and from nothing else (as randomness, the clock or earlier evictions), may say so: a
        state that comes back then proves the loop.
        """
        return False

    @property
    def may_overflow(self) -> bool:
        """Whether the policy may let the running requests exceed the memory.

        No engine can carry that out, and no such run is a feasible schedule; some papers'
        simulators do it. The run then says how much memory it would have taken.
        """
        return False

    @property
    def budget(self) -> int:
        """Most tokens that a batch computes; 0 for no limit.

        Requests that decode take one each, and there must never be more of them; the rest goes to
        prefilling requests, in the order of their admission, in chunks.
        """
        return 0

    @property
    def classifier(self) -> Classifier | None:
        """The classifier whose answers a view shows as ``signals`` (`Information.REFINED`)."""
        return None

    @property
    def uses_randomness(self) -> bool:
        """Whether two seeds can differ: ties are broken at random, or the policy is randomized."""
        return self.randomized or self.ties == "random"

    @abstractmethod
    def start(self, setting: Setting, rng: Generator) -> Decide:
        """Return fresh state for one run."""

    def shared(self, memory: int, clock: BatchTime | None) -> Shared:
        """Return how a queue before several replicas does what the policy does on one.

        By default requests start in order of arrival, looking one round ahead.
        """
        return Shared(lambda view, i: view.arrival[i])

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return a rule that decides as `start` does and also runs compiled; None has none.

        Parameters
        ----------
        setting : what a policy knows before the first request.
        known : what the level of information reveals of all requests on arrival, in the columns
            of a view, and ``order``, the requests as they arrive.
        rng : random numbers of the policy, as `start` gets them.
        """
        return None


def require_policy(policy: object) -> None:
    """Raise ValueError unless an object is a policy whose attributes are of their kinds."""
    if not isinstance(policy, Policy):
        raise ValueError(
            f"policy {policy!r} must be a key, as in 'mc-sf' (`ratiolab policies` lists all), or "
            "an instance of a subclass of ratiolab.Policy, as make_policy('mc-sf') gives it"
        )
    title, ties = f"policy {policy.name}", policy.ties
    if not isinstance(policy.information, Information):
        level = shown(policy.information)
        raise ValueError(f"{title}: information {level} must be a member of Information")
    if ties not in (None, *get_args(TieBreak)):
        allowed = ", ".join(get_args(TieBreak))
        raise ValueError(f"{title}: ties {shown(ties)} must be one of {allowed}, or None")
    require_integer(f"{title}: budget", policy.budget, 0)
