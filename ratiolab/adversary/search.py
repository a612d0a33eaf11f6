"""A running search for bad instances: climbing from many starts, with an archive."""

import time
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import Candidate, Evaluator, UnfinishedError
from ratiolab.adversary.moves import draw, neighbour
from ratiolab.adversary.result import Course, Moment
from ratiolab.model import Instance, stream
from ratiolab.model.interrupts import heard

CONFIRM = range(10**6, 10**6 + 96)
"""Seeds that a new best instance of a policy with randomness must convince, too."""

PATIENCE = 1000
"""Changes after which a climb ends that has found nothing worse."""

LAX = 0.3
"""Share of changes that may lose: sums of outputs over squares of sizes, say, jump, and a climb
that hardly ever loses stays where it began."""

SLACK = Fraction(1, 20)
"""Largest loss of ratio that such a change may have."""

Tell: TypeAlias = Callable[[Moment], None]
Clock: TypeAlias = Callable[[], float]


class Search:
    """A running search: its budget, its best case, and its archive."""

    def __init__(
        self,
        evaluator: Evaluator,
        limits: Limits | None,
        seed: int,
        evaluations: int | None,
        time_limit: float | None,
        tell: Tell | None,
        clock: Clock = time.monotonic,
    ) -> None:
        if evaluations is None and time_limit is None:
            raise ValueError("evaluations or time_limit is needed: a search has no end of its own")
        self.evaluator, self.limits = evaluator, limits or Limits()
        self.seed, self.rng = seed, stream(seed, "search")
        self.most, self.tell, self.clock = evaluations, tell, clock
        self.began = clock()
        self.until = None if time_limit is None else self.began + time_limit
        self.best: Candidate | None = None
        self.archive: dict[tuple[int, int, int], Candidate] = {}
        self.history: list[Moment] = []
        self.stalled = 0
        self.interrupted = False

    @property
    def over(self) -> bool:
        """Whether the budget is spent; a limit of time leaves room for the first case."""
        if self.most is not None and self.evaluator.evaluations >= self.most:
            return True
        if self.until is None or self.clock() < self.until:
            return False
        return self.evaluator.evaluations > 0 or self.until <= self.began

    def look(self, case: Case, above: Fraction = Fraction(0)) -> Candidate | None:
        """Evaluate a case and keep it where it is the worst so far."""
        try:
            found = self.evaluator.candidate(case, above)
        except UnfinishedError as ending:
            if ending.outcome == "looping":
                raise
            self.stalled += 1
            return None
        if found is None:
            return None
        known = self.archive.get(case.niche)
        if known is None or found.ratio > known.ratio:
            self.archive[case.niche] = found
        if self.best is None or found.ratio > self.best.ratio:
            confirmed = self._confirmed(found)
            if confirmed is not None and (self.best is None or confirmed.ratio > self.best.ratio):
                self.best = confirmed
                evaluations = self.evaluator.evaluations
                moment = Moment(evaluations, self.seconds, float(confirmed.ratio))
                self.history.append(moment)
                if self.tell is not None:
                    self.tell(moment)
        return found

    def _confirmed(self, found: Candidate) -> Candidate | None:
        if not self.evaluator.policy.uses_randomness:
            return found
        return self.evaluator.again(found, CONFIRM)

    def climb(self, case: Case) -> None:
        """Change a case again and again, keeping what is not worse, until nothing gains."""
        current = self.look(case)
        most, idle = current.ratio if current else Fraction(0), 0
        while current is not None and idle < PATIENCE and not self.over:
            lax = self.rng.random() < LAX
            above = current.ratio - (SLACK * Fraction(self.rng.random()) if lax else 0)
            current = self.look(neighbour(current.case, self.limits, self.rng), above) or current
            idle = 0 if current.ratio > most else idle + 1
            most = max(most, current.ratio)

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return self.clock() - self.began

    def course(self) -> Course:
        """Return the result of a search that has ended."""
        if self.best is None:
            raise ValueError("no case was evaluated: the budget is too small")
        return Course(
            policy=self.evaluator.policy,
            limits=self.limits,
            seed=self.seed,
            best=self.best,
            archive=self.archive,
            history=tuple(self.history),
            evaluations=self.evaluator.evaluations,
            stalled=self.stalled,
            seconds=self.seconds,
            interrupted=self.interrupted,
        )

    def go(self, starts: Iterable[Case]) -> Instance | None:
        """Search until the budget is spent, or Ctrl-C ends it.

        An instance that makes the policy come back to a state that leads to itself ends the search
        and is returned.
        """
        try:
            with heard():
                self.run([case for case in starts if self.limits.allow(case)])
        except KeyboardInterrupt:
            self.interrupted = True
            if self.best is None:
                raise
        except UnfinishedError as ending:
            return ending.instance
        return None

    def run(self, starts: Iterable[Case]) -> None:
        """Climb from the worst of the given cases, from drawn ones, and from the archive."""
        known = []
        for case in starts:
            if self.over:
                return
            least = self.best.ratio * Fraction(3, 4) if self.best else Fraction(0)
            found = self.look(case, least)
            if found is not None:
                known.append(found)
        known.sort(key=lambda candidate: candidate.ratio)
        sources = self._sources(known)
        while not self.over:
            self.climb(next(sources))

    def _sources(self, known: list[Candidate]) -> Iterator[Case]:
        while True:
            if known:
                yield known.pop().case
            yield draw(self.limits, self.rng)
            if self.archive:
                # the better of two niches: some pressure, and no niche is shut out
                niches = sorted(self.archive)
                two = [self.archive[niches[int(self.rng.integers(len(niches)))]] for _ in range(2)]
                yield max(two, key=lambda candidate: candidate.ratio).case
