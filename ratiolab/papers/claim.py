"""A numbered statement of a paper, and what computation says about it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"  # with scope: proved, or so many cases checked
    FALSE = "false"  # with a witness that anyone can recheck without a solver
    TIGHTENED = "tightened"  # true but loose; with the better value
    UNDECIDED = "undecided"  # a limit was reached, or intervals overlap


class Direction(StrEnum):
    """What kind of statement it is."""

    UPPER = "upper"
    LOWER = "lower"
    EQUAL = "equal"
    ASYMPTOTIC = "asymptotic"


@dataclass(frozen=True)
class Budget:
    """How much a check may spend: the default is seconds, `slow` is minutes."""

    slow: bool = False


@dataclass(frozen=True)
class ClaimResult:
    """What a check found.

    Parameters
    ----------
    verdict : see `Verdict`.
    scope : ``proved``, or what exactly was checked, as in ``400 cases``.
    claimed, computed : the claimed and the computed value or relation, in a few words each.
    witness : what makes a false claim false: a file in instances/witnesses or exact numbers.
    evidence : how the verdict was reached, a sentence or two for a referee.
    """

    verdict: Verdict
    scope: str
    claimed: str
    computed: str
    evidence: str
    witness: str | None = None


@dataclass(frozen=True)
class Claim:
    """A statement with the check that decides it, and a control that shows the check can differ.

    Parameters
    ----------
    id : paper and statement, as in ``chen2025/theorem-2``.
    source : authors, number, page, arXiv id with version.
    statement : the claim in our words.
    direction : see `Direction`.
    assumptions : what the paper assumes, and which reading of an algorithm is meant.
    expected : the verdict that is pinned.
    check : decides a variant of the statement; called with `claimed` for the paper's own.
    claimed : the paper's variant: a formula, a number, whatever `check` takes.
    control : a deliberately different variant, wrong where the claim holds and corrected where it
        is false.
    control_verdict : the verdict that the control must get; differs from `expected`.
    recheck : verifies the witness in a second without any solver; returns what was verified, raises
        AssertionError when the witness fails.
    slow : whether the check needs minutes; it is then left out unless asked for.
    """

    id: str
    source: str
    statement: str
    direction: Direction
    assumptions: tuple[str, ...]
    expected: Verdict
    check: Callable[[Any, Budget], ClaimResult]
    claimed: Any
    control: Any
    control_verdict: Verdict
    recheck: Callable[[], str] | None = None
    slow: bool = False

    def __post_init__(self) -> None:
        if self.control_verdict == self.expected:
            raise ValueError(f"{self.id}: a control with the expected verdict shows nothing")
        if self.expected is Verdict.FALSE and self.recheck is None:
            raise ValueError(f"{self.id}: a false claim needs a witness that can be rechecked")

    @property
    def paper(self) -> str:
        """The paper's key, as in ``chen2025``."""
        return self.id.split("/")[0]


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
