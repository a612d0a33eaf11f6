"""The hindsight benchmark: the optimum of a scheduler that knows everything, or proven bounds.

The solver is loaded when it is first used, so that the checker of certificates loads none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ratiolab.hindsight.result import OptResult, Progress

if TYPE_CHECKING:
    from ratiolab.hindsight.promises import solve_promises
    from ratiolab.hindsight.solver import bracket, certified, solve

__all__ = ["OptResult", "Progress", "bracket", "certified", "solve", "solve_promises"]


def __getattr__(name: str) -> Any:
    """Load the solver when one of its names is first used."""
    if name == "certified":
        return import_module("ratiolab.hindsight.solver").certified
    if name == "solve_promises":
        return import_module("ratiolab.hindsight.promises").solve_promises
    if name in ("bracket", "solve"):
        return getattr(import_module("ratiolab.hindsight.solver"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
