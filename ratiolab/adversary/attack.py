"""The search for the worst instance of a policy: climbing from many starts, with an archive."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import Candidate, Evaluator, UnfinishedError
from ratiolab.adversary.moves import draw, families, neighbour
from ratiolab.hindsight import OptResult, solve
from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online import Policy, simulate
from ratiolab.theory.estimate import Estimate

SEARCH_SEEDS = 12
"""Runs of a policy that uses randomness in each evaluation of the search."""

CONFIRM = range(10**6, 10**6 + 96)
"""Seeds that a new best instance of such a policy must convince, too."""

FRESH = 2 * 10**6
"""First of the seeds of the final mean, which no evaluation of the search has used."""

STATES = 20_000
"""States that the search for one optimum may keep."""

PATIENCE = 300
"""Changes without gain after which a climb ends."""

SLACK = Fraction(1, 50)
"""Largest loss of ratio that a climb accepts, now and then."""

Tell = Callable[["Moment"], None]


@dataclass(frozen=True)
class Moment:
    """The state of a search when its best ratio rose: evaluations, seconds, ratio."""

    evaluations: int
    seconds: float
    ratio: float


@dataclass(frozen=True)
class Attack:
    """The worst instance that a search found, and what proves its ratio.

    Parameters
    ----------
    best : the worst case; of a policy that uses randomness, with the mean over `CONFIRM`.
    instance : the same as an instance.
    optimum : bounds on its optimum by `ratiolab.hindsight.solve`, which shares nothing with the
        search.
    costs : total latencies of the policy, one for each fresh seed; one for a policy without
        randomness.
    archive : the worst case of each niche (`Case.niche`).
    history : when the best ratio rose.
    stalled : cases left out because a run did not end within its patience.
    endless : whether the policy comes back to a state that leads to itself: it never completes.
    """

    policy: Policy
    limits: Limits
    seed: int
    best: Candidate
    instance: Instance
    optimum: OptResult
    costs: tuple[int, ...]
    archive: dict[tuple[int, int, int], Candidate] = field(repr=False)
    history: tuple[Moment, ...] = field(repr=False)
    evaluations: int
    stalled: int
    seconds: float
    interrupted: bool = False
    endless: bool = False

    @property
    def ratio(self) -> Fraction:
        """Mean cost over the largest value that the optimum can have."""
        return Fraction(sum(self.costs), len(self.costs)) / self.optimum.upper

    @property
    def error(self) -> float:
        """Half width of Student's 95 % interval of the ratio over the fresh seeds, or 0."""
        if len(self.costs) < 2:
            return 0.0
        return Estimate.of(self.costs, confidence=0.95).half_width / self.optimum.upper

    def to_dict(self) -> dict[str, Any]:
        """Return the instance, its figures, the archive and the course of the search."""
        return {
            "instance": self.instance.to_dict(),
            "digest": self.instance.digest,
            "ratio": None if self.endless else float(self.ratio),
            "endless": self.endless,
            "error_95": self.error,
            "mean_tel": sum(self.costs) / len(self.costs) if self.costs else None,
            "runs": len(self.costs),
            "optimum": [self.optimum.lower, self.optimum.upper],
            "optimum_of_search": self.best.optimum,
            "seed": self.seed,
            "evaluations": self.evaluations,
            "stalled": self.stalled,
            "seconds": round(self.seconds, 1),
            "interrupted": self.interrupted,
            "history": [[m.evaluations, round(m.seconds, 2), m.ratio] for m in self.history],
            "archive": [
                {"requests": n, "memory_over_largest": k, "longest": u, **candidate.to_dict()}
                for (n, k, u), candidate in sorted(self.archive.items())
            ],
        }


class _Search:
    """A running search: its budget, its best case, and its archive."""

    def __init__(
        self,
        policy: Policy,
        limits: Limits,
        rng: Generator,
        evaluations: int | None,
        time_limit: float | None,
        tell: Tell | None,
    ) -> None:
        self.limits, self.rng, self.most, self.tell = limits, rng, evaluations, tell
        self.evaluator = Evaluator(policy, SEARCH_SEEDS, STATES)
        self.began = time.monotonic()
        self.until = None if time_limit is None else self.began + time_limit
        self.best: Candidate | None = None
        self.archive: dict[tuple[int, int, int], Candidate] = {}
        self.history: list[Moment] = []
        self.stalled = 0

    @property
    def over(self) -> bool:
        """Whether the budget is spent."""
        if self.most is not None and self.evaluator.evaluations >= self.most:
            return True
        return self.until is not None and time.monotonic() >= self.until

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
                seconds = time.monotonic() - self.began
                moment = Moment(self.evaluator.evaluations, seconds, float(confirmed.ratio))
                self.history.append(moment)
                if self.tell is not None:
                    self.tell(moment)
        return found

    def _confirmed(self, found: Candidate) -> Candidate | None:
        policy = self.evaluator.policy
        if not policy.uses_randomness:
            return found
        costs = _costs(found.case.instance(policy.information), policy, CONFIRM)
        if costs is None:
            return None
        return Candidate(found.case, Fraction(sum(costs), len(costs)), found.optimum)

    def climb(self, case: Case) -> None:
        """Change a case again and again, keeping what is not worse, until nothing gains."""
        current = self.look(case)
        idle = 0
        while current is not None and idle < PATIENCE and not self.over:
            lax = self.rng.random() < 0.1
            above = current.ratio - (SLACK * Fraction(self.rng.random()) if lax else 0)
            found = self.look(neighbour(current.case, self.limits, self.rng), above)
            idle = 0 if found is not None and found.ratio > current.ratio else idle + 1
            current = found or current

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


def attack(
    policy: Policy,
    limits: Limits | None = None,
    *,
    seed: int = 0,
    evaluations: int | None = None,
    time_limit: float | None = None,
    runs: int = 400,
    starts: Iterable[Case] = (),
    proof_seconds: float | None = 60.0,
    tell: Tell | None = None,
) -> Attack:
    """Search for the instance on which a policy is farthest from the optimum.

    Parameters
    ----------
    policy : what is attacked; any policy, also one from a user's file.
    limits : what the adversary may do; by default equal prompts, all at round 0.
    seed : of the search. With `evaluations` and no `time_limit`, equal seeds give equal answers.
    evaluations : cases on which the policy is run, at most.
    time_limit : seconds at most; one of the two limits is needed.
    runs : fresh seeds of the final mean of a policy that uses randomness.
    starts : cases to begin with, besides the closed families.
    proof_seconds : time limit of the final, independent solve.
    tell : called when the best ratio has risen.

    Ctrl-C ends the search and keeps the worst instance found so far.
    """
    limits = limits or Limits()
    if evaluations is None and time_limit is None:
        raise ValueError("evaluations or time_limit is needed: a search has no end of its own")
    if runs < 1:
        raise ValueError(f"runs {runs} must be at least 1")
    search = _Search(policy, limits, stream(seed, "search"), evaluations, time_limit, tell)
    given = [case for case in starts if limits.allow(case)]
    interrupted, endless = False, None
    try:
        search.run([*given, *families(limits)])
    except KeyboardInterrupt:
        interrupted = True
    except UnfinishedError as ending:
        endless = ending.instance
    best = search.best
    if endless is not None:
        case = Case.of_instance(endless)
        best = Candidate(case, Fraction(0), _optimum_of(case, policy, search))
    if best is None:
        raise ValueError("no case was evaluated: the budget is too small")
    source = f"worst instance found for {policy.name} in {search.evaluator.evaluations} evaluations"
    instance = best.case.instance(policy.information, f"worst for {policy.name}")
    instance = instance.replace(source=source)
    costs = () if endless is not None else _costs(instance, policy, fresh_seeds(policy, runs))
    return Attack(
        policy,
        limits,
        seed,
        best,
        instance,
        solve(instance, time_limit=proof_seconds),
        costs or (),
        search.archive,
        tuple(search.history),
        search.evaluator.evaluations,
        search.stalled,
        time.monotonic() - search.began,
        interrupted,
        endless is not None,
    )


def fresh_seeds(policy: Policy, runs: int) -> range:
    """Return seeds that no search uses: as many as asked for, or one where nothing is random."""
    return range(FRESH, FRESH + (runs if policy.uses_randomness else 1))


def _costs(instance: Instance, policy: Policy, seeds: range) -> tuple[int, ...] | None:
    costs = [simulate(instance, policy, seed=seed).total_latency for seed in seeds]
    ended = tuple(cost for cost in costs if cost is not None)
    return ended if len(ended) == len(costs) else None


def _optimum_of(case: Case, policy: Policy, search: _Search) -> int:
    return solve(case.instance(policy.information)).upper
