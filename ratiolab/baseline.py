"""Pinned results, recomputed and compared: what CI watches.

A baseline is JSON: ``{"format": "ratiolab-baseline/1", "entries": [...]}``. An entry names what is
computed (its kind and arguments) and the value that it had:

- ``ratio``: a policy on an instance, as exact cost and bounds on the optimum;
- ``bound``: a formula of `ratiolab.theory.bounds`;
- ``rayleigh``: a spectral radius;
- ``verdict``: the verdict of a claim.

Integers, fractions, expressions and verdicts are compared exactly, floats within the entry's own
``tolerance`` (relative), which is part of what is pinned.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from ratiolab.model import FormatError, Instance, read_instance
from ratiolab.model.instance import shown
from ratiolab.model.io import PathLike, read_text, write_text

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


def read_baseline(path: PathLike) -> list[dict[str, Any]]:
    """The entries of a baseline file; `FormatError` when it is malformed."""
    text = read_text(path)
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"format must be {FORMAT!r}")
        entries = data.get("entries")
        if set(data) != {"format", "entries"} or not isinstance(entries, list):
            raise ValueError("must hold format and a list of entries, nothing else")
        for number, entry in enumerate(entries):
            _check(number, entry)
        return entries
    except json.JSONDecodeError as error:
        raise FormatError(f"{path}: line {error.lineno}: is not JSON ({error.msg})") from None
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def write_baseline(entries: Sequence[Mapping[str, Any]], path: PathLike) -> None:
    """Write a baseline in one step, one entry a line."""
    lines = ",\n".join("    " + json.dumps(entry) for entry in entries)
    text = f'{{\n  "format": {json.dumps(FORMAT)},\n  "entries": [\n{lines}\n  ]\n}}\n'
    write_text(path, text)


def recompute(entry: Mapping[str, Any], folder: Path) -> Any:
    """The value of an entry now; paths of instances are relative to `folder`."""
    arguments = {key: value for key, value in entry.items() if key not in _ABOUT}
    return _KINDS[entry["kind"]](folder, **arguments)


def drift(entry: Mapping[str, Any], new: Any) -> Drift | None:
    """The difference between the pinned value of an entry and a new one, if there is any."""
    old = entry.get("value")
    tolerance = float(entry.get("tolerance", TOLERANCE)) if isinstance(new, float) else 0.0
    if isinstance(old, int | float) and isinstance(new, float):
        if abs(new - old) <= tolerance * max(1.0, abs(old)):
            return None
    elif old == new:
        return None
    return Drift(name_of(entry), old, new, tolerance)


def name_of(entry: Mapping[str, Any]) -> str:
    """An entry in a few words."""
    words = [f"{key}={value}" for key, value in entry.items() if key not in _ABOUT]
    return f"{entry['kind']} {' '.join(words)}"


def _ratio(
    folder: Path,
    instance: str,
    policy: str,
    params: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 0,
    node_limit: int | None = 1000,
) -> dict[str, Any]:
    """Exact: limits are nodes and every run has its seed, so every machine gets the same."""
    from ratiolab.online import make
    from ratiolab.ratio import compare

    loaded = read_instance(folder / instance)
    optimum = _optimum(loaded, node_limit)
    result = compare(loaded, [make(policy, params)], runs=runs, seed=seed, optimum=optimum)
    cost = result.rows[0].mean_cost
    bounds = {"opt_lower": result.optimum.lower, "opt_upper": result.optimum.upper}
    return {"cost": "stalled" if cost is None else str(cost)} | bounds


@lru_cache(maxsize=64)
def _optimum(instance: Instance, node_limit: int | None) -> "OptResult":
    """Solved once for all policies of a baseline."""
    from ratiolab.hindsight import solve

    return solve(instance, node_limit=node_limit)


def _bound(
    _: Path, name: str, lower: int | None = None, upper: int | None = None, prompt: int = 0
) -> str | float:
    from ratiolab.theory.bounds import evaluate

    found = evaluate(name, lower, upper, prompt)
    return found.value if found.exact is None else found.exact


def _rayleigh(_: Path, upper: int, lower: int = 1, prompt: int = 0) -> float:
    from ratiolab.theory.quotient.spectrum import spectral_radius

    return spectral_radius(upper, lower, prompt).rho


def _verdict(_: Path, claim: str) -> str:
    from ratiolab.papers import run_claims, select

    return run_claims(select(ids=[claim]))[0].result.verdict.value


_KINDS: dict[str, Callable[..., Any]] = {
    "ratio": _ratio,
    "bound": _bound,
    "rayleigh": _rayleigh,
    "verdict": _verdict,
}
_ABOUT = ("kind", "value", "tolerance")


def _check(number: int, entry: Any) -> None:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"entry {number}: kind must be one of {', '.join(_KINDS)}")
    allowed = get_type_hints(_KINDS[kind]) | {"tolerance": float | int, "kind": str, "value": Any}
    for key, value in entry.items():
        if key not in allowed or key in ("_", "return"):
            raise ValueError(f"entry {number}: key {shown(key)} is unknown for {kind}")
        if not _is_a(value, allowed[key]):
            wanted = getattr(allowed[key], "__name__", str(allowed[key]))
            raise ValueError(f"entry {number}: {key} {shown(value)} must be of type {wanted}")
    for parameter in list(inspect.signature(_KINDS[kind]).parameters.values())[1:]:
        if parameter.default is parameter.empty and parameter.name not in entry:
            raise ValueError(f"entry {number}: {parameter.name} is missing")


def _is_a(value: object, kind: Any) -> bool:
    """Whether a JSON value is of a declared type; a boolean is no number."""
    if kind is Any:
        return True
    if isinstance(value, bool):
        return False
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    return isinstance(value, tuple(get_origin(one) or one for one in kinds))
