"""Functions over arrays and numbers that numba compiles, at their first call or when it pays.

The machine code is kept on disk, and used as long as the source of every function that it calls is
the same, in whatever file; numba by itself looks at the file of the outermost function alone.
"""

import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial, update_wrapper
from time import thread_time
from types import CodeType, FunctionType, ModuleType
from typing import Any
from zlib import crc32

import numpy as np

LOADING = 0.1
"""Seconds that it takes to load a compiled function from disk."""

COMPILER = 0.5
"""Seconds that it takes to load the compiler, which that needs."""


class _Later:
    """A handler that keeps Ctrl-C for later, and lets another handler have the next."""

    def __init__(self, before: Callable[..., Any]) -> None:
        self.before, self.heard = before, False

    def __call__(self, *_: Any) -> None:
        self.heard = True
        signal.signal(signal.SIGINT, self.before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait until a block ends; a second Ctrl-C acts at once.

    The compiler is left broken where it is interrupted, and functions that it was given cannot be
    called any more. Python interrupts the main thread only.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before) or isinstance(before, _Later):
        yield
        return
    later = _Later(before)
    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if later.heard:
            before(signal.SIGINT, None)


def compiles() -> bool:
    """Return whether functions are compiled; where NUMBA_DISABLE_JIT is 1, all run in Python."""
    from numba import config

    return not config.DISABLE_JIT  # type: ignore[attr-defined]


class Compiled:
    """A function that is compiled at its first call, or at that of a compiled caller.

    Loading the compiler takes half a second; commands that call no compiled function do not load
    it. Compiled code may call such functions, and plain functions of this package.

    Parameters
    ----------
    function : what is called.
    entry : whether it is called from Python, too.
    error_model : ``python`` raises an error on division by zero; ``numpy`` does not check, because
        the check makes compilation slow.
    """

    def __init__(
        self, function: Callable[..., Any], *, entry: bool = True, error_model: str = "numpy"
    ) -> None:
        update_wrapper(self, function)
        self._options: dict[str, Any] = {"nogil": True, "error_model": error_model}
        if not entry:
            self._options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    @cached_property
    @interrupts_deferred()
    def _dispatcher(self) -> Any:
        from numba import njit

        from ratiolab.borrowing import BorrowingCompiler

        function: Any = vars(self)["__wrapped__"]
        if not compiles():
            return np.errstate(all="ignore")(function)  # compiled code does not warn either
        for each in _reached(function)[0][1:]:
            if isinstance(each, FunctionType):
                _tell(each)
        dispatcher: Any = njit(pipeline_class=BorrowingCompiler, **self._options)(function)
        dispatcher._cache = _kept()(function)
        dispatcher.compile = interrupts_deferred()(dispatcher.compile)
        return dispatcher

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def is_kept(self, kinds: tuple[Any, ...]) -> bool:
        """Return whether machine code is there for arguments of some types, loaded or on disk."""
        if not compiles():
            return False
        dispatcher = self._dispatcher
        loaded = kinds in dispatcher.overloads
        return loaded or dispatcher._cache.holds(kinds, dispatcher.targetctx.codegen())

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, which compiled callers need."""
        if name.startswith("__") or name == "_dispatcher":  # else errors in making it would recur
            raise AttributeError(name)
        return getattr(self._dispatcher, name)


compiled: Any = Compiled
"""Compile a function on first call."""

inner: Any = partial(Compiled, entry=False)
"""Compile a function that only compiled code calls, without an entry from Python."""

careful: Any = partial(Compiled, error_model="python")
"""Compile a function on first call; division by zero is an error, as it is in Python."""


class Often(Compiled):
    """A function that is compiled when it has taken a while in Python, with the same results."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, error_model="python")
        self._function, self._seconds = function, 0.0

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self._seconds > (LOADING if "numba" in sys.modules else COMPILER):
            return self._dispatcher(*arguments)
        began = thread_time()
        result = self._function(*arguments)
        self._seconds += thread_time() - began
        return result


@cache
def _tell(function: FunctionType) -> None:
    """Tell the compiler of a plain function that compiled code calls.

    It is written wherever it is called: else every call counts the references to all columns of its
    arguments. Where a module has loops of the kind `Often`, which take most of the time, calls are
    left as they are, and less is to be compiled.
    """
    from numba.extending import register_jitable

    from ratiolab.borrowing import BorrowingCompiler

    loops = any(isinstance(value, Often) for value in function.__globals__.values())
    register_jitable(forceinline=not loops, pipeline_class=BorrowingCompiler)(function)


@cache
def _kept() -> Any:
    """Return the compiler's class for what is kept on disk, with keys that hold what is called.

    Where no folder can be written to, what is kept beside the source is used, and no more is kept.
    """
    from numba.core import caching
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    # its name before numba 0.62
    kind: Any = getattr(caching, "_InTreeCacheLocator", None) or caching.InTreeCacheLocator

    class BesideSource(kind):  # type: ignore[misc]
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls(py_func, py_file)

    class Places(CompileResultCacheImpl):
        _locator_classes = [*CompileResultCacheImpl._locator_classes, BesideSource]  # noqa: RUF012

    class Kept(FunctionCache):
        _impl_class = Places

        def save_overload(self, signature: Any, data: Any) -> None:
            with suppress(OSError):
                super().save_overload(signature, data)  # type: ignore[no-untyped-call]

        def holds(self, signature: Any, codegen: Any) -> bool:
            kept = self._cache_file._load_index()  # type: ignore[no-untyped-call]
            return self._index_key(signature, codegen) in kept

        def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
            key = super()._index_key(signature, codegen)  # type: ignore[no-untyped-call]
            return *key, sources(self._py_func), _fields(signature)

    return Kept


def sources(function: Callable[..., Any]) -> int:
    """Return a checksum of the modules of all functions that a function calls, itself included.

    Constants of other modules count with their values, and named tuples with their fields; the
    compiler's own module counts, too.

    Parameters
    ----------
    function : a function that is compiled.
    """
    from ratiolab.borrowing import BorrowingCompiler

    found, words = _reached(function)
    checksum = crc32(" ".join(words).encode())
    for module in sorted({each.__module__ for each in found} | {BorrowingCompiler.__module__}):
        checksum = crc32(_source(module), checksum)
    return checksum


@cache
def _source(module: str) -> bytes:
    return inspect.getsource(sys.modules[module]).encode()


def _fields(kinds: Any) -> str:
    """Return in words the fields of named tuples among types, which know them by their class."""
    named = [kind for kind in kinds if hasattr(kind, "instance_class")]
    return " ".join(f"{kind.fields} {_fields(kind.types)}" for kind in named)


def _reached(function: Any) -> tuple[list[Any], list[str]]:
    """Return a function and all of this package that its compiled code calls, and constants."""
    found, words = [function], []
    for each in found:
        for name, value in _named(getattr(each, "__wrapped__", each)):
            own = isinstance(value, FunctionType) and value.__module__.startswith("ratiolab.")
            if own or isinstance(value, Compiled):
                if value not in found:
                    found.append(value)
            elif isinstance(value, int | float | str | tuple | np.generic):
                words.append(f"{name} = {value!r}")
            elif isinstance(value, type):
                words.append(f"{name}: {getattr(value, '_fields', ())}")
    return found, words


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function reads from outside, by name: of its module, and of modules there."""
    codes = [function.__code__]
    for code in codes:  # those of comprehensions, too
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    names = sorted({name for code in codes for name in code.co_names})
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for name in names:
        value = function.__globals__.get(name)
        yield name, value
        if isinstance(value, ModuleType) and value.__name__.startswith("ratiolab."):
            yield from ((part, getattr(value, part)) for part in names if hasattr(value, part))
