"""Baselines: pinned values in a versioned file, recomputed after every change.

The file is JSON of format ``ratiolab-baseline/1``, a list of entries one a line. An entry names
what is computed (its kind and arguments) and the value that it had. Integers, fractions,
expressions and verdicts are compared exactly, floats within the entry's own ``tolerance``
(relative), which is part of what is pinned.
"""

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field

from ratiolab.model import Instance, read_instance
from ratiolab.model.formats import Line, one_line
from ratiolab.model.io import PathLike, write_text
from ratiolab.model.validation import Strict, absent, read_file

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult

FORMAT = "ratiolab-baseline/1"
TOLERANCE = 1e-9
"""Relative tolerance of floats whose entry names none."""


@dataclass(frozen=True)
class Drift:
    """A pinned value that is not what it was."""

    entry: str
    old: Any
    new: Any
    tolerance: float

    def __str__(self) -> str:
        allowed = f"within {self.tolerance:g}" if self.tolerance else "exact"
        return f"{self.entry}: was {self.old}, is {self.new} ({allowed})"


class PinnedValue(Strict):
    """One entry of a baseline: what is computed, and the value that it had."""

    kind: str
    value: Annotated[Any, AfterValidator(one_line)] = absent()
    """What the computation gave when it was pinned."""
    tolerance: Annotated[float, Field(ge=0, lt=1)] = TOLERANCE
    """Relative tolerance, when the value is a float."""

    @abstractmethod
    def compute(self, folder: Path) -> Any:
        """Return the value now; paths of instances are relative to the folder."""

    def arguments(self) -> dict[str, Any]:
        """Return what was given beside kind, value and tolerance."""
        return {k: v for k, v in self.given().items() if k not in PinnedValue.model_fields}

    def __str__(self) -> str:
        """Return the entry in a few words."""
        return " ".join([self.kind, *(f"{k}={v}" for k, v in self.arguments().items())])

    def drift(self, new: Any) -> Drift | None:
        """Return the difference between the pinned value and a new one, if there is any."""
        old, tolerance = self.value, self.tolerance if isinstance(new, float) else 0.0
        if isinstance(old, int | float) and isinstance(new, float):
            same = abs(new - old) <= tolerance * max(1.0, abs(old))
        else:
            same = old == new
        return None if same else Drift(str(self), old, new, tolerance)


class PinnedRatio(PinnedValue):
    """A policy on an instance: its exact cost, and bounds on the optimum."""

    kind: Literal["ratio"]
    instance: Line
    policy: Line
    params: dict[str, Any] | None = None
    runs: int = 5
    seed: int = 0
    node_limit: int | None = 1000

    def compute(self, folder: Path) -> dict[str, Any]:
        """Return exact figures: limits are nodes and runs have seeds, so machines agree."""
        from ratiolab.online import make
        from ratiolab.ratio import compare

        loaded = read_instance(folder / self.instance)
        optimum = _optimum(loaded, self.node_limit)
        policy = make(self.policy, self.params)
        result = compare(loaded, [policy], runs=self.runs, seed=self.seed, optimum=optimum)
        cost = result.rows[0].mean_cost
        bounds = {"opt_lower": result.optimum.lower, "opt_upper": result.optimum.upper}
        return {"cost": "stalled" if cost is None else str(cost)} | bounds


class PinnedBound(PinnedValue):
    """A formula of `ratiolab.theory.bounds`."""

    kind: Literal["bound"]
    name: Line
    lower: int | None = None
    upper: int | None = None
    prompt: int = 0

    def compute(self, folder: Path) -> str | float:
        """Return the exact value as text, or a float where there is none."""
        from ratiolab.theory.bounds import evaluate

        found = evaluate(self.name, self.lower, self.upper, self.prompt)
        return found.value if found.exact is None else found.exact


class PinnedRadius(PinnedValue):
    """The spectral radius of A_min's Rayleigh quotient."""

    kind: Literal["rayleigh"]
    upper: int
    lower: int = 1
    prompt: int = 0

    def compute(self, folder: Path) -> float:
        """Return the radius."""
        from ratiolab.theory.rayleigh.spectrum import spectral_radius

        return spectral_radius(self.upper, self.lower, self.prompt).rho


class PinnedVerdict(PinnedValue):
    """The verdict on a claim."""

    kind: Literal["verdict"]
    claim: Line

    def compute(self, folder: Path) -> str:
        """Return the verdict."""
        from ratiolab.papers import run_claims, select

        return run_claims(select(ids=[self.claim]))[0].result.verdict.value


Entry: TypeAlias = PinnedRatio | PinnedBound | PinnedRadius | PinnedVerdict


class BaselineFile(Strict):
    """Values that are recomputed and compared."""

    nouns: ClassVar[dict[str, str]] = {"entries": "entry {}:"}

    format: Literal["ratiolab-baseline/1"]
    entries: list[Annotated[Entry, Field(discriminator="kind")]]


def read_baseline(path: PathLike) -> list[Entry]:
    """Return the entries of a baseline file; `FormatError` when it is malformed."""
    return read_file(path, FORMAT, BaselineFile).entries


def write_baseline(entries: Sequence[Entry], path: PathLike) -> None:
    """Write a baseline in one step, one entry a line."""
    lines = ",\n".join("    " + json.dumps(_data(entry)) for entry in entries)
    text = f'{{\n  "format": {json.dumps(FORMAT)},\n  "entries": [\n{lines}\n  ]\n}}\n'
    write_text(path, text)


def _data(entry: Entry) -> dict[str, Any]:
    """Return an entry as its line has it: kind and arguments before the value."""
    given = entry.given()
    return {"kind": entry.kind} | entry.arguments() | given


@lru_cache(maxsize=64)
def _optimum(instance: Instance, node_limit: int | None) -> "OptResult":
    """Solve an instance once for all policies of a baseline."""
    from ratiolab.hindsight import solve

    return solve(instance, node_limit=node_limit).uninterrupted()
