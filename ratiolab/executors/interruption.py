"""Ctrl-C for calls in threads of other processes, which get no signals: a worker of a cluster."""

import ctypes
from collections.abc import Callable
from threading import Lock, get_ident
from typing import TypeVar

Answer = TypeVar("Answer")

STOPPED = "ratiolab: stopped before it had an answer"
"""What a call gives that Ctrl-C has ended, or that has not begun before it."""

_lock = Lock()
_running: dict[int, str] = {}
"""Threads of this process that run a call, each with the group of the call."""

_stopped: set[str] = set()


def called(function: Callable[[], Answer], group: str) -> Answer | str:
    """Return what a function returns; `interrupt` of its group raises KeyboardInterrupt in it.

    A function that answers this with what it has so far is taken at its word.
    """
    answer: Answer | str = STOPPED
    try:
        with _lock:
            if group in _stopped:
                return STOPPED
            _running[get_ident()] = group
        answer = function()
        _leave()
    except KeyboardInterrupt:  # it may also come just after the answer
        _leave()
    except BaseException:
        _leave()
        raise
    return answer


def _leave() -> None:
    with _lock:
        _running.pop(get_ident(), None)


def interrupt(group: str) -> int:
    """Raise KeyboardInterrupt, once, in all calls of a group; none begins here after this.

    Returns
    -------
    The number of calls that were running.
    """
    with _lock:
        if group in _stopped:
            return 0
        _stopped.add(group)
        threads = [thread for thread, own in _running.items() if own == group]
        for thread in threads:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            )
    return len(threads)
