"""Calls in this process, or in processes of this machine."""

import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import active_children
from operator import length_hint
from threading import Thread
from typing import Any

from ratiolab.executors.executor import Answer, Calls, Executor, Item


@dataclass(frozen=True)
class Local(Executor):
    """Processes of this machine; a single one is this process itself."""

    workers: int = -1

    def __post_init__(self) -> None:
        if self.workers < 1 and self.workers != -1:
            raise ValueError(f"workers {self.workers} must be at least 1, or -1 for all cores")

    @property
    def slots(self) -> int:
        """Number of processes."""
        if self.workers == 1:
            return 1
        from joblib import effective_n_jobs  # which loads asyncio

        return int(effective_n_jobs(self.workers))

    def answers(self, calls: Calls[Item, Answer]) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with its answer, as answers come."""
        if self.slots == 1:
            for item in calls.items:
                yield item, calls.function(item, *calls.shared)
            return
        try:
            yield from (self._told_of_interrupts if calls.interruptible else self._in_pool)(calls)
        except BrokenExecutor:
            raise OSError(
                "a worker process was killed, perhaps because the memory is full; "
                "fewer workers need less"
            ) from None

    def _in_pool(self, calls: Calls[Item, Answer]) -> Iterator[tuple[Item, Answer]]:
        from joblib import Parallel, delayed

        fetched = {"batch_size": 1, "pre_dispatch": "n_jobs"} if calls.lazily else {}
        processes = min(self.slots, max(1, length_hint(calls.items, self.slots)))
        parallel = Parallel(n_jobs=processes, return_as="generator_unordered", **fetched)
        with warnings.catch_warnings():  # Ctrl-C cancels calls on purpose
            warnings.filterwarnings("ignore", "[0-9]+ tasks ", UserWarning)
            answers: Any = None
            try:
                with _deaf_children():
                    answers = parallel(
                        delayed(_in_child)(calls.function, item, calls.shared, os.getpid())
                        for item in calls.items
                    )
                yield from answers
            finally:
                if answers is not None:
                    answers.close()  # here, where its warning is not shown

    def _told_of_interrupts(self, calls: Calls[Item, Answer]) -> Iterator[tuple[Item, Answer]]:
        waiting = iter(calls.items)
        running: dict[Future[tuple[Item, Answer]], None] = {}
        with ProcessPoolExecutor(self.slots, initializer=_ignore_interrupts) as pool:
            try:
                more = True
                while more or running:
                    while more and len(running) < self.slots:
                        for item in waiting:
                            with _deaf_children():  # Ctrl-C waits until the call is in `running`
                                call = pool.submit(
                                    _hearing_interrupts, calls.function, item, calls.shared
                                )
                                running[call] = None
                            break
                        else:
                            more = False
                    for call in wait(running, return_when=FIRST_COMPLETED).done:
                        del running[call]
                        yield call.result()
            except KeyboardInterrupt:
                for process in active_children():  # those that a terminal has not told
                    if process.pid is not None:
                        os.kill(process.pid, signal.SIGINT)
                for call in running:
                    with suppress(KeyboardInterrupt):
                        yield call.result()
                raise


def _in_child(
    function: Callable[..., Answer], item: Item, shared: tuple[Any, ...], parent: int
) -> tuple[Item, Answer]:
    if os.getppid() == parent:
        _end_with(parent)
    return item, function(item, *shared)


@cache
def _end_with(parent: int) -> None:
    """Let this worker end when its parent is killed, rather than wait for work for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that start now leave Ctrl-C to this one, which ends them.

    A terminal sends it to all processes, and a process that is still starting would print a
    traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # now: as it starts it lifts the mask of who starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # inherited from `_deaf_children`
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _hearing_interrupts(
    function: Callable[..., Answer], item: Item, shared: tuple[Any, ...]
) -> tuple[Item, Answer]:
    """Call in a worker, which hears Ctrl-C only during the call."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return item, function(item, *shared)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
