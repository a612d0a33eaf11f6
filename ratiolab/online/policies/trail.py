"""Shortest predicted remaining length first, with preemption early in a request's life only.

Source: Shahout et al. (2025), Sections 3.1 and 3.3, arXiv 2410.01035.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappush
from math import floor
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Preemption
from ratiolab.online.policies.prefix import keep_and_start
from ratiolab.online.policy import KEEPING, Decide, Interval, Limit, Policy, Setting, Unit
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.online.view import NEVER, Decision, Information, View
from ratiolab.theory.laws.bin_filter import middles, transition, transition_as_printed

Rank: TypeAlias = tuple[bool, float, bool, int, int]
"""Preemptable, remaining length, waiting, arrival, request: the smaller goes first."""


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

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, lambda view, i: view.predicted[i])


@dataclass(frozen=True)
class SRPT(SPRPT):
    """Shortest remaining output first, output lengths known; otherwise as ``sprpt``."""

    name: ClassVar[str] = "srpt"
    source: ClassVar[str] = "as in Shahout et al. (2025), arXiv 2410.01035"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Decide:
        return _Run(self, lambda view, i: view.output[i])


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
        return _Run(self, lambda view, i: view.predicted[i], refined)


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


class _Run:
    def __init__(
        self, policy: SPRPT, length: Callable[[View, int], int], refined: Refined | None = None
    ) -> None:
        self._share, self._most = Fraction(str(policy.c)), policy.batch or NEVER
        self._length, self._refined = length, refined
        self._last: dict[int, int] = {}  # tokens from which on a request ranks before the others
        self._queue: list[Rank] = []  # of the waiting requests

    def __call__(self, view: View) -> Decision:
        if self._refined is not None:
            self._refined.update(view)
        for i in view.arrived:
            self._last[i] = max(1, floor(self._share * self._length(view, i)))
            heappush(self._queue, self._rank(view, i, 0, waits=True))
        now = view.now
        ages = {i: view.generated[i] + now - start for i, start in view.running.items()}
        ranked = sorted(self._rank(view, i, age, waits=False) for i, age in ages.items())
        admitted: list[int] = []
        kept = keep_and_start(view, ranked, self._queue, self._most, admitted)
        evicted = [i for *_, i in ranked[kept:]]
        stopped = [self._rank(view, i, ages[i], waits=True) for i in evicted]
        for rank in stopped:
            heappush(self._queue, rank)
        if view.paused:
            stopped += [self._rank(view, i, view.generated[i], waits=True) for i in view.paused]
        drop = [i for *_, i in sorted(stopped, reverse=True)]
        # without news the ranks of the running only improve, and memory only gets fuller
        refining = self._refined is not None and self._queue
        return Decision(admitted, evicted, view.now + 1 if refining else NEVER, drop)

    def _rank(self, view: View, i: int, age: int, *, waits: bool) -> Rank:
        remaining: float = self._length(view, i) - age
        if self._refined is not None and age:
            remaining = self._refined.remaining(i)
        return age < self._last[i], remaining, waits, view.arrival[i], i
