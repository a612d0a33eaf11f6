"""Instances as studies name them: generated, cut out of a trace, or read from a file."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

from ratiolab.model import Instance, read_instance
from ratiolab.model.instance import shown
from ratiolab.workloads.generators import find_kind, generate
from ratiolab.workloads.predictions import add_predictions
from ratiolab.workloads.traces import ROUNDS_PER_SECOND, Trace, instance_from_trace, read_trace

KEPT = 16
"""Instances and traces that a process keeps: neighbouring cells share them."""

TRACE_SETTINGS: Mapping[str, type] = {
    "memory": int,
    "sample": int,
    "start": float,
    "stop": float,
    "block": int,
    "arrivals": str,
    "rate": float,
    "rounds_per_second": float,
    "max_prompt": int,
}


@lru_cache(maxsize=KEPT)
def build(workload: str, settings: str, seed: int, folder: Path) -> Instance:
    """The instance of a workload.

    Parameters
    ----------
    workload : a kind of `ratiolab.workloads.generators.KINDS`, ``trace`` or ``instance``.
    settings : a JSON object, as `checked` returns it.
    seed : of everything that is drawn.
    folder : where the file of a trace or an instance is.
    """
    given = json.loads(settings)
    predict = given.pop("predict", None)
    given.pop("sha256", None)  # part of the name, so that a changed file is another instance
    if workload == "trace":
        instance = _from_trace(folder / given.pop("file"), seed, given)
    elif workload == "instance":
        instance = read_instance(folder / given.pop("file"), given.get("memory"))
    else:
        instance = generate(workload, seed, **given)
    return instance if predict is None else add_predictions(instance, predict, seed)


def checked(workload: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a workload, every one of them checked; a kind's own defaults are stated.

    Raises
    ------
    ValueError
        names the setting, value and rule.
    """
    given = dict(settings)
    predict = given.pop("predict", None)
    if workload == "trace":
        complete = _checked_types(workload, given, TRACE_SETTINGS, required=("memory",))
    elif workload == "instance":
        complete = _checked_types(workload, given, {"memory": int}, required=())
    else:
        complete = find_kind(workload).complete(given)
    if predict is not None:
        if not isinstance(predict, str):
            raise ValueError(f"predict {shown(predict)} must be a string, as in 'noisy:0.5'")
        add_predictions(Instance("any", 2, [0], [1], [1]), predict, 0)
        complete["predict"] = predict
    return complete


def file_digest(path: Path) -> str:
    """Twelve hexadecimal digits of SHA-256 over the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _checked_types(
    workload: str, given: Mapping[str, Any], known: Mapping[str, type], required: tuple[str, ...]
) -> dict[str, Any]:
    for name in required:
        if name not in given:
            raise ValueError(f"{name} is missing: a {workload} needs it")
    complete: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(
                f"unknown setting {shown(name)} of a {workload}; known are {', '.join(known)}"
            )
        wanted = (int, float) if known[name] is float else known[name]
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise ValueError(f"{name} {shown(value)} must be of type {known[name].__name__}")
        complete[name] = known[name](value)
    return complete


@lru_cache(maxsize=KEPT)
def _trace(path: Path) -> Trace:
    return read_trace(path)


def _from_trace(path: Path, seed: int, given: dict[str, Any]) -> Instance:
    windowed = "start" in given or "stop" in given
    window = (given.pop("start", 0.0), given.pop("stop", inf)) if windowed else None
    given.setdefault("rounds_per_second", ROUNDS_PER_SECOND)
    return instance_from_trace(_trace(path), seed=seed, window=window, **given)
