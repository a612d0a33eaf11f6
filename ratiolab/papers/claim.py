"""A numbered statement of a paper, and what computation says about it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Outcomes of a check."""

    HOLDS = "holds"  # with scope: proved, or so many cases checked
    FALSE = "false"  # with a witness that anyone can recheck without a solver
    TIGHTENED = "tightened"  # true but loose; with the better value
    UNDECIDED = "undecided"  # a limit was reached, or intervals overlap


HOLDS, FALSE, TIGHTENED, UNDECIDED = Verdict


@dataclass(frozen=True)
class ClaimResult:
    """Findings of a check.

    Parameters
    ----------
    verdict : see `Verdict`.
    scope : ``proved``, or what exactly was checked, as in ``400 cases``.
    claimed, computed : the claimed and the computed value or relation, in a few words each.
    evidence : how the verdict was reached, a sentence or two for a referee.
    witness : what makes a false claim false: a file in instances/witnesses or exact numbers.
    """

    verdict: Verdict
    scope: str
    claimed: str
    computed: str
    evidence: str
    witness: str | None = None


def decided(
    holds: bool, scope: str, claimed: str, computed: str, evidence: str, witness: str | None = None
) -> ClaimResult:
    """Return the result `holds`, or else `false` with its witness."""
    verdict, against = (HOLDS, None) if holds else (FALSE, witness)
    return ClaimResult(verdict, scope, claimed, computed, evidence, against)


def verdict_on_bound(broken: bool, proved: bool, best: bool) -> Verdict:
    """Return the verdict on a bound that follows from a proved one, the best that is known."""
    if broken:
        return FALSE
    if not proved:
        return UNDECIDED
    return HOLDS if best else TIGHTENED


@dataclass(frozen=True)
class Claim:
    """A statement, the check that decides it, and a control that shows the check can differ.

    A claim is declared with `Paper.claim` on its check, whose docstring is the statement.

    Parameters
    ----------
    id : paper and statement, as in ``chen2025/theorem-2``.
    source : authors, number, page, arXiv id with version.
    statement : the claim in our words.
    assumptions : what the paper assumes, and which reading of an algorithm is meant.
    expected : the verdict that is pinned.
    decide : decides a variant of the statement; it may take `slow`, to search for minutes.
    claimed : the paper's variant: a formula, a number, whatever `decide` takes.
    control : a deliberately different variant, wrong where the claim holds and corrected where it
        is false.
    control_verdict : the verdict that the control must get; differs from `expected`.
    recheck : verifies the witness in a second without any solver; returns what was verified, raises
        AssertionError when the witness fails.
    proof : the module whose docstrings prove what the evidence names.
    """

    id: str
    source: str
    statement: str
    assumptions: tuple[str, ...]
    expected: Verdict
    decide: Callable[..., ClaimResult]
    claimed: Any
    control: Any
    control_verdict: Verdict
    recheck: Callable[[], str] | None = None
    proof: str | None = None

    def __post_init__(self) -> None:
        if not self.statement:
            raise ValueError(f"{self.id}: the docstring of the check must state the claim")
        if self.control_verdict == self.expected:
            raise ValueError(f"{self.id}: a control with the expected verdict shows nothing")
        if self.expected is FALSE and self.recheck is None:
            raise ValueError(f"{self.id}: a false claim needs a witness that can be rechecked")

    @property
    def paper(self) -> str:
        """The paper's key, as in ``chen2025``."""
        return self.id.split("/")[0]

    def to_dict(self) -> dict[str, Any]:
        """Return what the claim says, as plain data."""
        return {
            "id": self.id,
            "source": self.source,
            "statement": self.statement,
            "assumptions": list(self.assumptions),
            "expected": self.expected.value,
            "proof": self.proof,
        }

    def check(self, variant: Any, slow: bool = False) -> ClaimResult:
        """Decide a variant of the statement; `slow` spends minutes where the check can use them."""
        return self.decide(variant, slow=slow) if self.searches else self.decide(variant)

    @property
    def searches(self) -> bool:
        """Whether the check can use minutes for a longer search."""
        return "slow" in inspect.signature(self.decide).parameters


@dataclass(frozen=True)
class ClaimReport:
    """A claim, what its check found, and how long that took in seconds."""

    claim: Claim
    result: ClaimResult
    seconds: float

    @property
    def is_expected(self) -> bool:
        """Whether the verdict is the pinned one."""
        return self.result.verdict == self.claim.expected

    def to_dict(self) -> dict[str, Any]:
        """Return what the claim says and what was found, as plain data."""
        result = self.result
        return self.claim.to_dict() | {
            "verdict": result.verdict.value,
            "scope": result.scope,
            "claimed": result.claimed,
            "computed": result.computed,
            "witness": result.witness,
            "evidence": result.evidence,
            "seconds": round(self.seconds, 3),
        }
