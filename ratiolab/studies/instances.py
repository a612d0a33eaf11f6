"""Instances as studies name them: generated, cut out of a trace, or read from a file."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

from ratiolab.model import Instance, read_instance, shown
from ratiolab.model.files import require_no_pipe
from ratiolab.workloads.generators import find_kind, generate
from ratiolab.workloads.predictions import add_predictions
from ratiolab.workloads.traces import ROUNDS_PER_SECOND, Trace, instance_from_trace, read_trace

KEPT = 16
"""Instances and traces that a process keeps: neighbouring cells share them."""


@lru_cache(maxsize=KEPT)
def build(workload: str, settings: str, seed: int, folder: Path) -> Instance:
    """Return the instance of a workload."""
    given = json.loads(settings)
    predict, tick = given.pop("predict", None), given.pop("tick_seconds", None)
    given.pop("sha256", None)  # part of the name, so that a changed file is another instance
    if workload == "trace":
        instance = _from_trace(folder / given.pop("file"), seed, given)
    elif workload == "instance":
        instance = read_instance(folder / given.pop("file"), given.get("memory"))
    else:
        instance = generate(workload, seed, **given)
    if tick is not None and instance.tick_seconds is None:
        instance = instance.replace(tick_seconds=tick)
    return instance if predict is None else add_predictions(instance, predict, seed)


def checked(workload: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a workload, all checked; a kind's own defaults are stated."""
    from ratiolab.model.validation import validated
    from ratiolab.studies.settings import InstanceSettings, TraceSettings

    given = dict(settings)
    predict = given.pop("predict", None)
    if workload in ("trace", "instance"):
        known = TraceSettings if workload == "trace" else InstanceSettings
        valid = validated(known, given)
        complete = {name: getattr(valid, name) for name in given}
    else:
        complete = find_kind(workload).complete(given)
    if predict is not None:
        if not isinstance(predict, str):
            raise ValueError(f"predict {shown(predict)} must be a string, as in 'noisy:0.5'")
        add_predictions(Instance("any", 2, [0], [1], [1]), predict, 0)
        complete["predict"] = predict
    return complete


def file_digest(path: Path) -> str:
    """Return twelve hexadecimal digits of SHA-256 over the bytes of a file."""
    require_no_pipe(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@lru_cache(maxsize=KEPT)
def _trace(path: Path) -> Trace:
    return read_trace(path)


def _from_trace(path: Path, seed: int, given: dict[str, Any]) -> Instance:
    windowed = "start" in given or "stop" in given
    window = (given.pop("start", 0.0), given.pop("stop", inf)) if windowed else None
    given.setdefault("rounds_per_second", ROUNDS_PER_SECOND)
    return instance_from_trace(_trace(path), seed=seed, window=window, **given)
