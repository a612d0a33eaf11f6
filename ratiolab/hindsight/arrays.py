"""Columns of an instance as compiled code takes them, and parts of arrays that it overwrites."""

from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from typing import Any, NamedTuple

import numpy as np

from ratiolab.model import Instance, IntArray


class Compiled:
    """A function that is compiled at its first call, or at that of a compiled caller.

    Loading the compiler takes half a second; commands that call no compiled function do not load
    it. Division by zero is not checked, because the check makes compilation slow.
    """

    def __init__(self, function: Callable[..., Any], *, entry: bool = True) -> None:
        update_wrapper(self, function)
        self._entry = entry

    @cached_property
    def _dispatcher(self) -> Any:
        from numba import njit

        options: Any = {}
        if not self._entry:
            options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return njit(cache=True, nogil=True, error_model="numpy", **options)(self.__wrapped__)

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, which compiled callers need."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._dispatcher, name)


compiled: Any = Compiled
"""Compile a function on first call."""

inner: Any = partial(Compiled, entry=False)
"""Compile a function that only compiled code calls, without an entry from Python."""


class Requests(NamedTuple):
    """Columns of all requests, int64, and the memory that they share."""

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    memory: int

    @classmethod
    def of(cls, instance: Instance) -> "Requests":
        """Return the columns of an instance as writeable copies, of one type for the compiler."""
        arrival, prompt, output = map(
            np.array, (instance.arrival, instance.prompt, instance.output)
        )
        return cls(arrival, prompt, output, instance.memory)


@inner
def overwrite(target, at, source, begin, end):  # type: ignore[no-untyped-def]
    """Do ``target[at : …] = source[begin:end]``, whose error message takes seconds to compile."""
    for k in range(end - begin):
        target[at + k] = source[begin + k]
