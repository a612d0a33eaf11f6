"""Ctrl-C for calls in threads of other processes, which get no signals: a worker of a cluster.

It is raised wherever the thread is, and so may be lost: in what catches every error, as some
imports do, or in a function that compiled code calls. It is raised again until the call has ended.
"""

import ctypes
import time
from collections.abc import Callable
from threading import Lock, Thread, get_ident
from typing import TypeVar

Answer = TypeVar("Answer")

STOPPED = "ratiolab: stopped before it had an answer"
"""Answer of a call that Ctrl-C has ended or kept from starting."""

PATIENCE = 10.0
"""Seconds in which a call that was interrupted should end, before it is interrupted again."""

_lock = Lock()
_running: dict[int, str] = {}
"""Threads of this process that run a call, each with the group of the call."""

_stopped: set[str] = set()


def called(function: Callable[[], Answer], group: str) -> Answer | str:
    """Return what a function returns; `interrupt` of its group raises KeyboardInterrupt in it.

    A function that answers this with what it has so far is taken at its word.
    """
    answer: Answer | str = STOPPED
    failed: BaseException | None = None
    try:
        with _lock:
            if group in _stopped:
                return STOPPED
            _running[get_ident()] = group
        answer = function()
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        failed = error
    while True:
        try:
            _leave()
            break
        except KeyboardInterrupt:  # one that came just after the answer
            continue
    if failed is not None:
        raise failed
    return answer


def _leave() -> None:
    """Take this thread out of the calls that run, and let an interrupt on its way come."""
    with _lock:
        _running.pop(get_ident(), None)
    for _ in range(100):  # where a loop turns, it comes
        pass


def _interrupt_running(group: str) -> int:
    with _lock:
        threads = [thread for thread, own in _running.items() if own == group]
        for thread in threads:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            )
    return len(threads)


def _insist(group: str) -> None:
    while True:
        time.sleep(PATIENCE)
        if not _interrupt_running(group):
            return


def interrupt(group: str) -> int:
    """Raise KeyboardInterrupt in all calls of a group; none begins here after this.

    Return the number of calls that were running, 0 when the group has been interrupted before.
    """
    with _lock:
        if group in _stopped:
            return 0
        _stopped.add(group)
    running = _interrupt_running(group)
    if running:
        Thread(target=_insist, args=(group,), daemon=True).start()
    return running
