"""Result of a search for bad instances."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ratiolab.adversary.case import Limits
from ratiolab.adversary.evaluate import Candidate
from ratiolab.hindsight import OptResult
from ratiolab.model import Instance
from ratiolab.model.display import Tabular
from ratiolab.online import Policy
from ratiolab.theory.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Moment:
    """The state of a search when its best ratio rose: evaluations, seconds, ratio."""

    evaluations: int
    seconds: float
    ratio: float


@dataclass(frozen=True, kw_only=True)
class Course:
    """The course of a search: what it searched, its best, and how it went.

    Parameters
    ----------
    best : the worst case found.
    archive : the worst case of each niche (`Case.niche`).
    history : moments at which the best ratio rose.
    stalled : cases left out because a run did not end within its patience.
    interrupted : whether Ctrl-C ended it.
    """

    policy: Policy
    limits: Limits
    seed: int
    best: Candidate
    archive: dict[tuple[int, int, int], Candidate] = field(repr=False)
    history: tuple[Moment, ...] = field(repr=False)
    evaluations: int
    stalled: int
    seconds: float
    interrupted: bool = False

    def course_dict(self) -> dict[str, Any]:
        """Return the archive and the course of the search as plain data."""
        return {
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


@dataclass(frozen=True, kw_only=True)
class Attack(Course, Tabular):
    """The worst instance that a search found, and what proves its ratio.

    Parameters
    ----------
    best : the worst case; the cost of a policy with randomness is the mean over `CONFIRM`.
    instance : `best` as an instance.
    optimum : bounds on its optimum by `ratiolab.hindsight.solver`, which shares nothing with the
        search.
    costs : total latencies of the policy, one for each fresh seed; one for a policy without
        randomness.
    endless : whether the policy comes back to a state that leads to itself: it never completes.
    """

    instance: Instance
    optimum: OptResult
    costs: tuple[int, ...]
    endless: bool = False

    @property
    def ratio(self) -> Fraction:
        """Mean cost over the largest value that the optimum can have."""
        return Fraction(sum(self.costs), len(self.costs)) / self.optimum.upper

    @property
    def error(self) -> float:
        """Half width of Student's 95% interval of the ratio over the fresh seeds, or 0."""
        if len(self.costs) < 2:
            return 0.0
        return Estimate.of(self.costs, confidence=0.95).half_width / self.optimum.upper

    @property
    def headline(self) -> str:
        """The policy, the instance, and the ratio on it."""
        found = "never ends" if self.endless else f"ratio {float(self.ratio):.6f}"
        return f"{self.policy.name} on {self.instance.headline}: {found}"

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with the worst case of each niche that the search visited."""
        import pandas as pd

        return pd.DataFrame(self.course_dict()["archive"])

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
            "certified": self.optimum.certified,
            "optimum_of_search": self.best.optimum,
            **self.course_dict(),
        }
