"""Shortest predicted remaining length first, with preemption early in a request's life only.

Source: Shahout et al. (2025), Sections 3.1 and 3.3, arXiv 2410.01035.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappush
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.policies.prefix import keep_and_start
from ratiolab.online.policy import KEEPING, Decide, Interval, Limit, Policy, Setting, Unit
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.online.rules import Containers, OnLists, Rule
from ratiolab.online.view import NEVER, Decision, Information, View
from ratiolab.theory.laws.bin_filter import middles, transition, transition_as_printed

Rank: TypeAlias = tuple[int, float, int, int, int]
"""Whether it is preemptable, remaining length, whether it waits, arrival, and request: the least
goes first."""


@dataclass(frozen=True)
class SPRPT(Policy):
    """Shortest predicted remaining output first; a request past its first C r tokens goes on.

    In every round the requests, running and waiting, are ranked by r - a, predicted length minus
    tokens so far. A request that has had at least floor(C r) tokens, and at least one, ranks before
    all others, so that it is evicted only when memory asks for it. In this order the running
    requests go on and the waiting ones start as long as the next round fits and the batch has room;
    the first waiting request that does not fit ends the starts, the first running request that does
    not fit is evicted with all running requests after it. At equal rank the running requests go
    first, then the order is by arrival and by the file. Under ``pause`` an evicted request keeps
    its memory until the others need it; the last in the order gives it up first.

    Parameters
    ----------
    c : C in [0, 1], read as a decimal. 1 is SPRPT; 0 never evicts but for memory.
    batch : most requests that run at once; 0 (default) leaves it to the memory. vLLM takes 256.
    """

    c: Unit = 1.0
    batch: Limit = 0

    name: ClassVar[str] = "sprpt"
    source: ClassVar[str] = "Shahout et al. (2025), Section 3.3, arXiv 2410.01035"
    information: ClassVar[Information] = Information.PREDICTION
    preemption: ClassVar[Preemption] = "recompute"
    semantics: ClassVar[tuple[Preemption, ...]] = KEEPING

    lengths: ClassVar[str] = "predicted"
    """Column of the believed lengths."""

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        """Return the rule of remaining lengths."""
        length = getattr(known, self.lengths)
        return Rule(least_remaining_first, self.remember, [*map(self.kept_from, length)], length)

    def remember(self, make: Containers) -> "Ranks":
        """Return the state of a run before its first round."""
        return Ranks.of(self.batch or NEVER, make)

    def kept_from(self, length: int) -> int:
        """Return the tokens from which on a request of this length ranks before all others."""
        return max(1, length * self._share.numerator // self._share.denominator)

    @cached_property
    def _share(self) -> Fraction:
        return Fraction(str(self.c))


@dataclass(frozen=True)
class SRPT(SPRPT):
    """Shortest remaining output first, output lengths known; otherwise as ``sprpt``."""

    name: ClassVar[str] = "srpt"
    source: ClassVar[str] = "as in Shahout et al. (2025), arXiv 2410.01035"
    information: ClassVar[Information] = Information.TRUE_LENGTH
    lengths: ClassVar[str] = "output"


@dataclass(frozen=True)
class TRAIL(SPRPT):
    """Form of ``sprpt`` whose predictions a classifier inside the model refines with every token.

    A request that has not run ranks by its initial prediction r, as `predictions.classified`
    makes it. From its first token on, the request ranks by the mean of the filtered distribution of
    its remaining length. The classifier is calibrated on bins of equal frequency. When it names bin
    j, its output is the probability of each true bin, with a uniform prior. Limited preemption
    counts r, not the refinement.

    Parameters
    ----------
    c, batch : as for ``sprpt``; the paper finds C = 0.8 (default) to be best.
    propagation : ``corrected`` (default) propagates the posterior, downwards, as Bayes' rule does;
        ``printed`` takes the steps and the matrix of the paper: the prior alone, upwards.
    bins, longest : the classifier's bins of equal width up to ``longest`` tokens.
    spread : its confusion: it errs by j bins with weight spread**j. 0 is never wrong.
    correlation, changes : how long its errors last; see `Classifier`. The filter does not know of
        it: like the paper's, it takes every answer for independent news.
    """

    c: Unit = 0.8
    propagation: Literal["corrected", "printed"] = "corrected"
    bins: Annotated[int, Interval("[1, 1000]")] = 10
    longest: int = 512
    spread: float = 0.2
    correlation: float = 0.0
    changes: float = 1.0

    name: ClassVar[str] = "trail"
    source: ClassVar[str] = "Shahout et al. (2025), Section 3, arXiv 2410.01035"
    information: ClassVar[Information] = Information.REFINED
    randomized: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            _ = self.classifier
        except ValueError as error:
            raise ValueError(f"policy trail: {error}") from None

    @cached_property
    def classifier(self) -> Classifier:
        """Classifier whose answers the simulator draws."""
        lasting = self.correlation, self.changes
        return Classifier.spreading(self.bins, self.spread, self.longest, *lasting)

    def start(self, setting: Setting, rng: Generator) -> Decide:
        corrected = self.propagation == "corrected"
        refined = Refined(self.classifier, corrected=corrected)
        return _Run(self, refined)

    def rule(self, setting: Setting, known: Any, rng: Generator) -> Rule | None:
        return None


class Refined:
    """Predicted remaining lengths, refined by every answer of a classifier.

    Parameters
    ----------
    classifier : whose answers a view shows.
    corrected : as in `TRAIL`.
    """

    def __init__(self, classifier: Classifier, *, corrected: bool) -> None:
        bins, width = classifier.bins, Fraction(classifier.longest, classifier.bins)
        matrix = transition(bins, width) if corrected else transition_as_printed(bins, width)
        self._transition = np.array(matrix, dtype=np.float64)
        self._middles = np.array(middles(bins, width), dtype=np.float64)
        named = classifier.confusion.T
        totals = named.sum(axis=1, keepdims=True)
        # an answer that is never given may be anything
        self._outputs = np.divide(
            named, totals, out=np.full_like(named, 1 / bins), where=totals > 0
        )
        self._corrected = corrected
        self._state = np.empty((0, bins))
        self._seen = np.empty(0, np.int64)
        self._expected = np.empty(0)

    def update(self, view: View) -> None:
        """Take every answer of the running requests into account that is new."""
        from ratiolab.online.refinement.filter_kernels import advance

        requests: list[int] = []
        answers: list[int] = []
        for i in view.running:
            if i >= len(self._seen):
                self._grow(i)
            new = view.signals[i][self._seen[i] :]
            requests += [i] * len(new)
            answers += new
        if requests:
            advance(
                self._transition,
                self._outputs,
                self._middles,
                self._corrected,
                self._state,
                self._seen,
                self._expected,
                np.array(requests),
                np.array(answers),
            )

    def remaining(self, request: int) -> float:
        """Return the expected remaining length of a request that has run."""
        return float(self._expected[request])

    def _grow(self, request: int) -> None:
        more = 2 * request + 64 - len(self._seen)
        self._state = np.concatenate([self._state, np.zeros((more, self._state.shape[1]))])
        self._seen = np.concatenate([self._seen, np.zeros(more, np.int64)])
        self._expected = np.concatenate([self._expected, np.zeros(more)])


class Ranks(NamedTuple):
    """State of a policy that ranks by remaining length.

    Parameters
    ----------
    most : requests that run at once.
    key : tokens from which on each request ranks before the others.
    length : believed length of each request.
    arrival : round in which each request arrived.
    running : the running requests.
    queue : heap of the ranks of waiting requests.
    admit, evict : the last decision.
    """

    most: int
    key: Any
    length: Any
    arrival: Any
    running: Any
    queue: Any
    admit: Any
    evict: Any

    @classmethod
    def of(cls, most: int, make: Containers) -> "Ranks":
        """Return the state of a run before its first round."""
        columns = make.column(), make.column(), make.column()
        return cls(most, *columns, *map(make.heap, (1, 5, 1, 1)))


def least_remaining_first(view: Any, own: Ranks) -> int:
    """Serve requests in the order of their ranks; return when to be asked again."""
    enter(view, own)
    ranked = [rank(view, own, i, own.length[i] - age_of(view, i)) for i in own.running]
    serve_ranked(view, own, sorted(ranked))
    # without news the ranks of the running only improve, and memory only gets fuller
    return NEVER


def enter(view: Any, own: Ranks) -> None:
    """Take out who has completed, and let wait who has arrived."""
    own.admit.clear()
    own.evict.clear()
    for i in view.completed:
        own.running.remove(i)
    for i in view.arrived:
        own.arrival[i] = view.now
        heappush(own.queue, (1, own.length[i], 1, view.now, i))


def age_of(view: Any, i: int) -> int:
    """Return the tokens that a running request has made."""
    return view.generated[i] + view.now - view.running[i]  # type: ignore[no-any-return]


def rank(view: Any, own: Ranks, i: int, remaining: Any) -> Rank:
    """Return the rank of a running request."""
    preemptable = 1 if age_of(view, i) < own.key[i] else 0
    return preemptable, remaining, 0, own.arrival[i], i


def serve_ranked(view: Any, own: Ranks, ranked: Any) -> None:
    """Let the first in the order run, whether they run already or wait.

    Parameters
    ----------
    ranked : ranks of the running requests, sorted.
    """
    kept = keep_and_start(view, ranked, own.queue, own.most, own.admit)
    for preemptable, remaining, _, arrival, i in ranked[kept:]:
        heappush(own.queue, (preemptable, remaining, 1, arrival, i))
        own.running.remove(i)
        own.evict.append(i)
    own.running.extend(own.admit)


class _Run:
    """One run in Python, which also tells who gives up memory under ``pause``.

    Parameters
    ----------
    refined : remaining lengths that become better.
    """

    def __init__(self, policy: SPRPT, refined: Refined | None = None) -> None:
        self._policy, self._refined = policy, refined
        self._own = policy.remember(OnLists())

    def __call__(self, view: View) -> Decision:
        own, refined, wake = self._own, self._refined, NEVER
        for i in view.arrived:
            own.length[i] = getattr(view, self._policy.lengths)[i]
            own.key[i] = self._policy.kept_from(own.length[i])
        if refined is None:
            least_remaining_first(view, own)
        else:
            refined.update(view)
            enter(view, own)
            ranked = [rank(view, own, i, self._remaining(i, age_of(view, i))) for i in own.running]
            serve_ranked(view, own, sorted(ranked))
            wake = view.now + 1 if own.queue else NEVER
        drop = sorted((*own.evict, *view.paused), key=lambda i: self._last(view, i), reverse=True)
        return Decision(list(own.admit), list(own.evict), wake, drop)

    def _remaining(self, i: int, age: int) -> float:
        if self._refined is not None and age:
            return self._refined.remaining(i)
        return self._own.length[i] - age  # type: ignore[no-any-return]

    def _last(self, view: View, i: int) -> Rank:
        """Return the rank of a request that waits from this round on, or is paused."""
        own, age = self._own, age_of(view, i) if i in view.running else view.generated[i]
        return age < own.key[i], self._remaining(i, age), 1, own.arrival[i], i
