"""Entries of a baseline: how a value is computed again, and when it has drifted."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, RootModel
from pydantic_core import PydanticCustomError

from ratiolab.model import Instance, read_instance, shown
from ratiolab.model.formats import Line, one_line
from ratiolab.model.validation import Strict, absent

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult

TOLERANCE = 1e-9
"""Relative tolerance of floats whose entry names none."""

LARGEST_TOLERANCE = 0.1
"""Largest tolerance of an entry: beyond it, a pinned value would pin nothing."""


@dataclass(frozen=True)
class Drift:
    """A pinned value that has changed."""

    entry: str
    old: Any
    new: Any
    tolerance: float
    is_bound: bool = False

    def __str__(self) -> str:
        if self.is_bound:
            return f"{self.entry}: must be at most {self.old}, is {self.new}"
        allowed = f"within {self.tolerance:g}" if self.tolerance else "exact"
        return f"{self.entry}: was {self.old}, is {self.new} ({allowed})"


class PinnedValue(Strict):
    """One entry of a baseline: what is computed, and the value that it had."""

    kind: str
    value: Annotated[Any, AfterValidator(one_line)] = absent()
    """The computed value when it was pinned."""
    tolerance: Annotated[float, Field(ge=0, le=LARGEST_TOLERANCE)] = TOLERANCE
    """Relative tolerance, when the value is a float."""

    @abstractmethod
    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> Any:
        """Return the value now; a policy of a file runs only with `allow_policy_files`."""

    def arguments(self) -> dict[str, Any]:
        """Return what was given beside kind, value and tolerance."""
        return {k: v for k, v in self.given().items() if k not in PinnedValue.model_fields}

    def __str__(self) -> str:
        """Return the entry in a few words."""
        return " ".join([self.kind, *(f"{k}={v}" for k, v in self.arguments().items())])

    @property
    def rule(self) -> str:
        """When the entry fails, in words."""
        return f"the value is equal; floats within {self.tolerance:g} of it"

    @property
    def is_fixed(self) -> bool:
        """Whether a drift stays one: the bound is the user's, and no update changes it."""
        return False

    def is_better(self, new: Any) -> bool:
        """Return whether a new value, which has not drifted, is to replace the pinned one."""
        return False

    def drift(self, new: Any) -> Drift | None:
        """Return the difference between the pinned value and a new one, if there is any."""
        old, tolerance = self.value, self.tolerance if isinstance(new, float) else 0.0
        if isinstance(old, int | float) and isinstance(new, float):
            same = abs(new - old) <= tolerance * abs(old)
        else:
            same = old == new
        return None if same else Drift(str(self), old, new, tolerance)


class PinnedRatio(PinnedValue):
    """A policy on an instance: its exact cost, and bounds on the optimum."""

    kind: Literal["ratio"]
    instance: Line
    policy: Line
    params: dict[str, Any] | None = None
    runs: Annotated[int, Field(ge=1, le=10**4)] = 5
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    node_limit: Annotated[int, Field(ge=0)] | None = 1000

    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> dict[str, Any]:
        """Return exact figures: limits are nodes and runs have seeds, so machines agree."""
        from ratiolab.online import make
        from ratiolab.ratio import compare

        policy = make(_policy_key(self.policy, folder, allowed=allow_policy_files), self.params)
        loaded = read_instance(folder / self.instance)
        optimum = _optimum(loaded, self.node_limit)
        result = compare(loaded, [policy], runs=self.runs, seed=self.seed, optimum=optimum)
        cost = result.uninterrupted().rows[0].mean_cost
        bounds = {"opt_lower": result.optimum.lower, "opt_upper": result.optimum.upper}
        return {"cost": "stalled" if cost is None else str(cost)} | bounds


def _ratio_text(value: Any) -> Any:
    """Return the text of a bound on a ratio; refuse what is no fraction from 1 on."""
    try:
        bound = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        bound = Fraction(0)
    if isinstance(value, bool) or bound < 1:
        rule = "must be a number or fraction of at least 1, as in 3, 1.5 or 7/3"
        raise PydanticCustomError("fraction", "{rule}", {"rule": rule})
    return str(value)


class PinnedAtMost(PinnedRatio):
    """A policy on an instance: the largest ratio that its cost has to the proven optimum.

    The value is exact, cost over the lower bound on the optimum. A smaller one never fails. With
    ``at_most``, the bound of a theorem, only a larger ratio than that fails.
    """

    kind: Literal["ratio-at-most"]  # type: ignore[assignment]
    at_most: Annotated[
        Any,
        BeforeValidator(_ratio_text, json_schema_input_type=str | int | float),
    ] = absent()
    """The bound of a theorem: a number or a fraction. Nothing but the user changes it."""

    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> Any:
        """Return the ratio as an exact fraction, or ``stalled``."""
        found = super().compute(folder, allow_policy_files=allow_policy_files)
        if found["cost"] == "stalled":
            return "stalled"
        return str(Fraction(found["cost"]) / found["opt_lower"])

    @property
    def rule(self) -> str:
        """When the entry fails, in words."""
        if self.at_most is not None:
            return f"at most {self.at_most}, which --update does not change"
        return "at most the value; a smaller ratio never fails, and --update tightens it"

    @property
    def is_fixed(self) -> bool:
        """Whether the bound is the user's."""
        return self.at_most is not None

    def is_better(self, new: Any) -> bool:
        """Return whether a new ratio is below the pinned one, or merely another under a bound."""
        if self.is_fixed:
            return bool(new != self.value)
        return new != "stalled" and self._pinned() is not None and Fraction(new) < self._pinned()

    def drift(self, new: Any) -> Drift | None:
        """Return the difference when the ratio has become worse, or no ratio is pinned."""
        pinned = self._pinned()
        if pinned is not None and new != "stalled" and Fraction(new) <= pinned:
            return None
        old = self.at_most if self.is_fixed else self.value
        return Drift(str(self), old, new, 0.0, self.is_fixed)

    def _pinned(self) -> Any:
        """Return the bound, or the pinned ratio; None when the value is none."""
        try:
            return Fraction(str(self.at_most if self.is_fixed else self.value))
        except (ValueError, ZeroDivisionError):
            return None


class PinnedBound(PinnedValue):
    """A formula of `ratiolab.theory.bounds`."""

    kind: Literal["bound"]
    name: Line
    lower: int | None = None
    upper: int | None = None
    prompt: int = 0

    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> str | float:
        """Return the exact value as text, or a float where there is none."""
        from ratiolab.theory.bounds import evaluate

        found = evaluate(self.name, self.lower, self.upper, self.prompt)
        return found.value if found.exact is None else found.exact


class PinnedRadius(PinnedValue):
    """The spectral radius of A_min's Rayleigh quotient."""

    kind: Literal["rayleigh"]
    upper: Annotated[int, Field(ge=1, le=10**8)]
    lower: Annotated[int, Field(ge=1, le=10**8)] = 1
    prompt: Annotated[int, Field(ge=0, le=10**9)] = 0

    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> float:
        """Return the radius."""
        from ratiolab.theory.rayleigh.spectrum import spectral_radius

        return spectral_radius(self.upper, self.lower, self.prompt).rho


class PinnedVerdict(PinnedValue):
    """The verdict on a claim."""

    kind: Literal["verdict"]
    claim: Line

    def compute(self, folder: Path, *, allow_policy_files: bool = False) -> str:
        """Return the verdict."""
        from ratiolab.papers import run_claims, select

        return run_claims(select(ids=[self.claim]))[0].result.verdict.value


Entry: TypeAlias = PinnedRatio | PinnedAtMost | PinnedBound | PinnedRadius | PinnedVerdict


class OneEntry(RootModel[Annotated[Entry, Field(discriminator="kind")]]):
    """One entry of a baseline."""


def _policy_key(key: str, folder: Path, *, allowed: bool) -> str:
    """Return the key of a policy; that of a file only below the folder, and when it is allowed."""
    from ratiolab.online.user_policy import is_user_policy

    if not is_user_policy(key):
        return key
    path, _, name = key.rpartition(":")
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"policy {shown(key)}: the file must be below the folder of the baseline")
    if not allowed:
        raise ValueError(
            f"policy {shown(key)}: the file would be run; allow it with --allow-policy-files "
            "(pytest: --ratiolab-allow-policy-files)"
        )
    return f"{folder / path}:{name}"


@lru_cache(maxsize=64)
def _optimum(instance: Instance, node_limit: int | None) -> "OptResult":
    """Solve an instance once for all policies of a baseline."""
    from ratiolab.hindsight import solve

    return solve(instance, node_limit=node_limit).uninterrupted()
