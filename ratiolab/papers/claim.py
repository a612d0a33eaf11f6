"""A numbered statement of a paper, and what computation says about it."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Outcomes of a check."""

    HOLDS = "holds"  # with scope: proved, or so many cases checked
    TIGHTENED = "tightened"  # true but loose; with the better value
    CONSISTENT = "consistent"  # the paper's own figures agree; nothing was measured again
    FALSE = "false"  # with a witness that anyone can recheck without a solver
    NOT_REPRODUCED = "not reproduced"  # a measured or drawn figure that a repetition rejects
    NOT_IMPLIED = "not implied"  # the model alone does not give it; it may hold elsewhere
    UNDECIDED = "undecided"  # a limit was reached, intervals overlap, or too little is known


HOLDS, TIGHTENED, CONSISTENT, FALSE, NOT_REPRODUCED, NOT_IMPLIED, UNDECIDED = Verdict

AGAINST = (FALSE, NOT_REPRODUCED, NOT_IMPLIED)
"""Verdicts that a statement does not stand as it is made."""

PROVED = "proved"
"""Scope of a verdict with a proof; only a claim that points to its proof may say so."""

WITNESSED = "by a witness"
"""Scope of a verdict that one exact example decides."""

EXACT = "computed exactly"
"""Scope of a statement about finitely many cases, all of them computed without rounding."""

ARITHMETIC = "arithmetic on the paper's own figures"
"""Scope of a verdict that takes printed figures as they are: at best they are consistent."""


@dataclass(frozen=True)
class ClaimResult:
    """Findings of a check.

    Parameters
    ----------
    verdict : the outcome, one of `Verdict`.
    scope : how far the verdict reaches: `PROVED`, `WITNESSED`, `EXACT`, `ARITHMETIC`, or what
        exactly was checked, as in ``400 cases``.
    computed : what was found, in a few words.
    evidence : what a referee should know beside the statement and its proof: how figures were
        reached, what the paper overlooks, what is missing.
    witness : what makes a false claim false: a file in instances/witnesses or exact numbers.
    """

    verdict: Verdict
    scope: str
    computed: str
    evidence: str = field(default="", kw_only=True)
    witness: str | None = field(default=None, kw_only=True)


def decided(
    holds: bool,
    scope: str,
    computed: str,
    *,
    evidence: str = "",
    witness: str | None = None,
    otherwise: Verdict = FALSE,
) -> ClaimResult:
    """Return the result `holds`, or else another one, by default `false`, with its witness.

    A statement that rests on the paper's own figures alone is `consistent` and not true.
    """
    agrees = CONSISTENT if scope == ARITHMETIC else HOLDS
    verdict, against = (agrees, None) if holds else (otherwise, witness)
    return ClaimResult(verdict, scope, computed, evidence=evidence, witness=against)


def possible(computed: str, impossible: Sequence[object] = (), words: str = "{}") -> ClaimResult:
    """Return `undecided` for printed figures, or `false` when some are impossible.

    `words` has a slot for the first of the impossible figures, which is the witness.
    """
    if impossible:
        first = str(impossible[0])
        return ClaimResult(FALSE, ARITHMETIC, words.format(first), witness=first)
    return ClaimResult(UNDECIDED, ARITHMETIC, computed)


def verdict_on_bound(broken: bool, proved: bool, best: bool) -> Verdict:
    """Return the verdict on a bound that follows from a proved one, the best that is known."""
    if broken:
        return FALSE
    if not proved:
        return UNDECIDED
    return HOLDS if best else TIGHTENED


FIELD = re.compile(r"^ *(Source|Verdict|Assumes|Proof|Evidence): ", re.MULTILINE)
"""Beginning of a field in the docstring of a check."""


def read(docstring: str) -> tuple[str, dict[str, list[str]]]:
    r"""Return the statement of a docstring, and its fields by name.

    >>> read("MC-SF is optimal.\n\nSource: Theorem 1, p. 3\nAssumes: equal requests")
    ('MC-SF is optimal.', {'Source': ['Theorem 1, p. 3'], 'Assumes': ['equal requests']})
    """
    statement, *rest = (" ".join(part.split()) for part in FIELD.split(docstring))
    fields: dict[str, list[str]] = {}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        fields.setdefault(name, []).append(text)
    return statement, fields


@dataclass(frozen=True)
class Claim:
    """A statement, the check that decides it, and a control that shows the check can differ.

    A claim is declared with `Paper.claim` on its check, whose docstring is `read` as the statement
    with its fields.

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
    proof : where the proof stands: the name of a text in the folder ``proofs`` of the paper, or,
        with dots, a module whose docstring it is; see `ratiolab.papers.proof`.
    evidence : evidence of results that state none; see `ClaimResult`.
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
    evidence: str = ""

    def __post_init__(self) -> None:
        if not self.statement:
            raise ValueError(f"{self.id}: the docstring of the check must state the claim")
        if self.control_verdict == self.expected:
            raise ValueError(f"{self.id}: a control with the expected verdict shows nothing")
        if self.expected in (FALSE, NOT_IMPLIED) and self.recheck is None:
            raise ValueError(
                f"{self.id}: a claim that is {self.expected} needs a witness that can be rechecked"
            )

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
        result = self.decide(variant, slow=slow) if self.searches else self.decide(variant)
        if result.scope.startswith(PROVED) and self.proof is None:
            raise ValueError(f"{self.id}: the result says {PROVED}, the claim points to no proof")
        return result if result.evidence else replace(result, evidence=self.evidence)

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
            "computed": result.computed,
            "witness": result.witness,
            "evidence": result.evidence,
            "seconds": round(self.seconds, 3),
        }
