"""Functions over arrays that are compiled once they have taken as long as loading them takes."""

from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from time import perf_counter
from types import FunctionType
from typing import Any

LOADING = 0.1
"""Seconds that it takes to load a compiled function from disk."""


class Often:
    """A function that is compiled when it has taken a while in Python, with the same results.

    It takes arrays and numbers alone. Compiled code calls the compiled function.

    Parameters
    ----------
    function : what is called.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.function, self._seconds = function, 0.0

    @cached_property
    def compiled(self) -> Any:
        """The function, compiled."""
        from numba import njit

        _tell(self.function)
        return njit(cache=True)(self.function)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self._seconds > LOADING:
            return self.compiled(*arguments)
        began = perf_counter()
        result = self.function(*arguments)
        self._seconds += perf_counter() - began
        return result


@cache
def jittable(function: FunctionType) -> None:
    """Let compiled code call a function.

    It is written wherever it is called: else every call counts the references to all columns of its
    arguments. Where a module has loops of the kind `Often`, which take most of the time, calls are
    left as they are, and less is to be compiled.
    """
    from numba.extending import register_jitable

    loops = any(isinstance(value, Often) for value in function.__globals__.values())
    register_jitable(forceinline=not loops)(function)


@cache
def told() -> None:
    """Tell the compiler what an `Often` is."""
    from numba import types
    from numba.extending import typeof_impl

    typeof_impl.register(Often)(lambda often, _: types.Dispatcher(often.compiled))


def _tell(function: Any) -> None:
    """Tell the compiler of the functions of this package that a function calls."""
    told()
    for name in function.__code__.co_names:
        known = function.__globals__.get(name)
        if isinstance(known, FunctionType) and known.__module__.startswith("ratiolab."):
            jittable(known)
            _tell(known)
