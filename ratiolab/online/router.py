"""The base class of routers, what a router may know, and what it may answer.

A router is asked whenever something arrives, and whenever something completes while requests wait.
It hands out requests to replicas for good. A request that it does not hand out stays in the
*central queue*, so dispatch at once and late binding follow one protocol.

The barrier is that of `ratiolab.online.view`: a view holds copies of what is revealed. Lengths are
revealed as far as the router's level of information allows, and all replicas are seen from outside:
what each holds, runs and has in its queue.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from numpy.random import Generator

from ratiolab.online.clock import BatchTime
from ratiolab.online.policy import Policy, require_parameters
from ratiolab.online.view import NEVER, Information, View


@dataclass
class ReplicaView:
    """One replica, as routers see it; the simulator writes it before each question.

    Parameters
    ----------
    number : its place, 0 to R - 1.
    memory : its KV cache size, tokens.
    running : start round of its requests in memory (a live mapping).
    waiting : its requests that wait in its own queue (a live set).
    generated : tokens that its requests kept from earlier runs (a live mapping).
    requests : how many it has, those of this moment included.
    queued : prompt tokens, kept ones included, and one token more, of waiting requests.
    round : the round in which a request that is handed out now can start; rounds are the replica's
        own under a clock.
    time : when that round begins: now, or later where a batch is under way.
    tokens : that its running requests hold in the round after, if none starts or leaves.
    """

    number: int
    memory: int
    running: Mapping[int, int]
    waiting: Set[int]
    generated: Mapping[int, int]
    requests: int = 0
    queued: int = 0
    round: int = 0
    time: int = 0
    tokens: int = 0
    when: Callable[[int], int] = lambda round_: round_
    """Return when a later round begins, if the same requests run until then."""


class RouterView(NamedTuple):
    """The present, as far as a router may see it.

    Parameters
    ----------
    now : rounds; picoseconds under a clock.
    waiting : the central queue: requests that no replica has, in order of arrival (live).
    arrived : arrivals since the last question.
    completed : replicas and requests that have completed since the last question.
    replicas : what each has.
    known : prompts and arrivals (in the unit of `now`) of all that have arrived, and what the level
        of information reveals, as in `ratiolab.online.View`; ``memory`` is the largest of replicas.
    """

    now: int
    waiting: Mapping[int, None]
    arrived: Sequence[int]
    completed: Sequence[tuple[int, int]]
    replicas: Sequence[ReplicaView]
    known: View


class Routing(NamedTuple):
    """The answer of a router.

    Parameters
    ----------
    assign : requests of the central queue, each with its replica.
    wake : ask again at this time at the latest while requests wait; `NEVER` leaves it to arrivals
        and completions.
    """

    assign: Sequence[tuple[int, int]]
    wake: int = NEVER


Route: TypeAlias = Callable[[RouterView], Routing]
"""One run of a router: a function, with state, from what is known now to an answer."""


class FleetSetting(NamedTuple):
    """Knowledge of a router before the first request.

    Parameters
    ----------
    memories : KV cache size of each replica, tokens.
    policy : policy of each replica.
    clock : how long a batch takes; None counts rounds.
    """

    memories: tuple[int, ...]
    policy: Policy
    clock: BatchTime | None = None

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return len(self.memories)


@dataclass(frozen=True)
class Router(ABC):
    """A router: a frozen dataclass of its parameters.

    Attributes
    ----------
    name : the key of the router.
    source : where it comes from.
    randomized : whether it draws random numbers.
    late : whether requests may stay in the central queue: late binding.
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    randomized: ClassVar[bool] = False
    late: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_parameters(f"router {self.name}", self)

    def information(self, policy: Policy) -> Information:
        """Return what the router must be told of outputs, beside a policy on each replica."""
        return Information.NOTHING

    @abstractmethod
    def start(self, setting: FleetSetting, rng: Generator) -> Route:
        """Return fresh state for one run."""


def both(one: Information, other: Information) -> Information:
    """Return the level that reveals what two levels do; `ValueError` where none does.

    >>> both(Information.NOTHING, Information.PREDICTION)
    <Information.PREDICTION: 'prediction'>
    """
    if Information.NOTHING in (one, other):
        return one if other is Information.NOTHING else other
    if one is not other and Information.TRUE_LENGTH not in (one, other):
        raise ValueError(f"no level of information reveals both {one.value} and {other.value}")
    return one if one is other else Information.TRUE_LENGTH


class AtOnce(ABC):
    """One run of a router that hands out each request as it arrives, to the replica of least score.

    Parameters
    ----------
    rng : breaks ties; without it the first replica is taken.
    """

    def __init__(self, setting: FleetSetting, rng: Generator | None) -> None:
        self.setting, self._rng = setting, rng

    def __call__(self, view: RouterView) -> Routing:
        for number, i in view.completed:
            self.completed(number, i)
        given = []
        for i in tuple(view.waiting):
            scores = [(self.score(view, r, i), r.number) for r in self.choices(view.replicas)]
            least = min(score for score, _ in scores)
            best = [number for score, number in scores if score == least]
            place = best[0]
            if len(best) > 1 and self._rng is not None:
                place = best[int(self._rng.integers(len(best)))]
            replica = view.replicas[place]
            replica.requests += 1
            replica.queued += view.known.prompt[i] + 1
            self.handed(view, place, i)
            given.append((i, place))
        return Routing(given)

    def choices(self, replicas: Sequence[ReplicaView]) -> Sequence[ReplicaView]:
        """Return the replicas among which the next request is handed out."""
        return replicas

    @abstractmethod
    def score(self, view: RouterView, replica: ReplicaView, request: int) -> float:
        """Return the score of a replica for a request."""

    def handed(self, view: RouterView, replica: int, request: int) -> None:  # noqa: B027
        """Note that a replica gets a request."""

    def completed(self, replica: int, request: int) -> None:  # noqa: B027
        """Note that a request has completed."""
