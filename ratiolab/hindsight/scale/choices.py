"""Settings of a beam in the units of an instance, and the changes that narrow beams try."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

LEAST_MEMORY = 0.6
"""Least part of memory whose prices guide a beam."""


@dataclass(frozen=True)
class Choice:
    """Settings of a beam that do not depend on the units of an instance.

    Parameters
    ----------
    memory : part of memory whose prices guide the beam.
    weight : of idle memory.
    delay : rounds by which a request is expected to start late, in mean outputs.
    size_delay : the same for a prompt of mean length, in mean latencies; others in proportion.
    horizon, bucket : in mean outputs.
    children : starts of a state that are kept. Few make a beam several times faster, and no worse:
        the states that it keeps then come from many parents.
    """

    memory: float = 0.97
    weight: float = 0.6
    delay: float = 0.15
    size_delay: float = 0.16
    horizon: float = 0.1
    bucket: float = 0.04
    children: int = 4


CHANGES: tuple[dict[str, Any], ...] = (
    {"memory": -0.01},
    {"size_delay": 0.06},
    {"children": 2},
    {"horizon": 0.05},
    {"memory": 0.01},
    {"delay": 0.6},
    {"size_delay": 0.3},
    {"weight": 0.45},
    {"memory": -0.02},
    {"delay": 0.03},
    {"weight": 0.75},
    {"horizon": 0.2},
    {"bucket": 0.08},
    {"children": 8},
    {"memory": 0.005},
    {"size_delay": 0.1},
    {"delay": 0.3},
    {"memory": -0.005},
    {"size_delay": 0.22},
)
"""What narrow beams try, each from the best choice so far; of memory, what is added."""


def changed(choice: Choice, change: dict[str, Any]) -> Choice:
    """Return a choice with one of the `CHANGES` made."""
    if "memory" not in change:
        return replace(choice, **change)
    memory = float(np.clip(choice.memory + change["memory"], LEAST_MEMORY, 1.0))
    return replace(choice, memory=round(memory, 4))
