"""Where independent calls run: in this process, on all cores, or on a Dask cluster.

One way for studies, experiments, the record library, evaluations and attacks. An executor is opened
by its words, and runs a function of a module on many items::

    with opened("dask=tcp://host:8786") as executor:  # or "local", or "dask"
        for item, answer in executor.unordered(function, items, instance):
            ...  # function(item, instance), as answers come

`function` and what it is given are sent to other processes, and on a cluster to machines that share
no folder with this one: they must be picklable, and files are written here, where answers arrive.
Answers come in any order, so a result that is to be the same everywhere must not depend on it.
"""

import os
import signal
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import active_children
from threading import Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

WORDS = "local, dask or dask=ADDRESS"


class Executor(ABC):
    """A place where calls run."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Number of calls that run at once."""

    @abstractmethod
    def unordered(
        self,
        function: Callable[..., Answer],
        items: Iterable[Item],
        *shared: Any,
        lazily: bool = False,
        interruptible: bool = False,
    ) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with ``function(item, *shared)``, as answers come.

        Parameters
        ----------
        function : of a module, so that other processes find it.
        shared : the same for all items; a cluster is sent it once.
        lazily : an item is drawn when a call can begin, rather than long before: for items that
            depend on the time or on earlier answers.
        interruptible : the function makes a partial answer of Ctrl-C. Other processes of this
            machine then hear it, and their answers come before KeyboardInterrupt is raised; in this
            process and on a cluster nothing changes. Items are drawn lazily.

        Raises
        ------
        OSError
            when a process ends under its call (most often because the memory is full), or a cluster
            does not answer.
        Exception
            of the first call that fails; calls that have not begun are left out.
        """


@dataclass(frozen=True)
class Local(Executor):
    """Processes of this machine; a single one is this process itself.

    Parameters
    ----------
    workers : number of processes; -1 takes all cores.
    """

    workers: int = -1

    def __post_init__(self) -> None:
        if self.workers < 1 and self.workers != -1:
            raise ValueError(f"workers {self.workers} must be at least 1, or -1 for all cores")

    @property
    def slots(self) -> int:
        """Number of processes."""
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.workers))

    def unordered(
        self,
        function: Callable[..., Answer],
        items: Iterable[Item],
        *shared: Any,
        lazily: bool = False,
        interruptible: bool = False,
    ) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with ``function(item, *shared)``, as answers come."""
        if self.slots == 1:
            for item in items:
                yield item, function(item, *shared)
            return
        try:
            run = self._told_of_interrupts if interruptible else self._in_pool
            yield from run(function, items, shared, lazily)
        except BrokenExecutor:
            raise OSError(
                "a worker process was killed, perhaps because the memory is full; "
                "fewer workers need less"
            ) from None

    def _in_pool(
        self,
        function: Callable[..., Answer],
        items: Iterable[Item],
        shared: tuple[Any, ...],
        lazily: bool,
    ) -> Iterator[tuple[Item, Answer]]:
        from joblib import Parallel, delayed

        fetched = {"batch_size": 1, "pre_dispatch": "n_jobs"} if lazily else {}
        parallel = Parallel(n_jobs=self.workers, return_as="generator_unordered", **fetched)
        with warnings.catch_warnings():  # Ctrl-C cancels calls on purpose
            warnings.filterwarnings("ignore", "[0-9]+ tasks ", UserWarning)
            answers: Any = None
            try:
                with _deaf_children():
                    answers = parallel(
                        delayed(_in_child)(function, item, shared, os.getpid()) for item in items
                    )
                yield from answers
            finally:
                if answers is not None:
                    answers.close()  # here, where its warning is not shown

    def _told_of_interrupts(
        self,
        function: Callable[..., Answer],
        items: Iterable[Item],
        shared: tuple[Any, ...],
        _lazily: bool,
    ) -> Iterator[tuple[Item, Answer]]:
        waiting = iter(items)
        running: dict[Future[tuple[Item, Answer]], None] = {}
        with ProcessPoolExecutor(self.slots, initializer=_ignore_interrupts) as pool:
            try:
                more = True
                while more or running:
                    while more and len(running) < self.slots:
                        for item in waiting:
                            with _deaf_children():  # Ctrl-C waits until the call is in `running`
                                call = pool.submit(_hearing_interrupts, function, item, shared)
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


class Dask(Executor):
    """The workers of a Dask cluster.

    A worker that dies costs nothing but the calls that ran on it: others repeat them, until as many
    have died under one call as the cluster's ``allowed-failures``.
    """

    def __init__(self, client: Any) -> None:
        """Take a ``dask.distributed.Client``."""
        self.client = client

    @property
    def slots(self) -> int:
        """Number of threads of the workers that are there now, or 1."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def unordered(
        self,
        function: Callable[..., Answer],
        items: Iterable[Item],
        *shared: Any,
        lazily: bool = False,
        interruptible: bool = False,
    ) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with ``function(item, *shared)``, as answers come."""
        from dask.distributed import KilledWorker, as_completed

        # in a list: what is a list itself is sent whole, not item by item
        sent = [self.client.scatter([each], hash=False)[0] for each in shared]
        waiting, of = iter(items), dict[Any, Item]()
        ahead = self.slots if lazily or interruptible else None

        def begin() -> list[Any]:
            drawn = []
            for item in waiting:
                drawn.append(item)
                if ahead is not None and len(of) + len(drawn) >= ahead:
                    break
            futures: list[Any] = self.client.map(
                _on_cluster,
                drawn,
                function=function,
                shared=sent,
                pure=False,
                key=getattr(function, "__name__", "call"),
            )
            of.update(zip(futures, drawn, strict=True))
            return futures

        running: Any = as_completed(begin(), with_results=True)  # type: ignore[no-untyped-call]
        try:
            for future, answer in running:
                item = of.pop(future)
                future.release()
                if ahead is not None:
                    running.update(begin())
                yield item, answer
        except KilledWorker as error:
            raise OSError(f"the cluster gave a call up: {error}") from None
        finally:
            self.client.cancel(list(of))


@contextmanager
def opened(words: str = "local", workers: int = -1) -> Iterator[Executor]:
    """Open an executor by its words, and close it in the end.

    Parameters
    ----------
    words : ``local``: processes of this machine. ``dask=ADDRESS``: the cluster of this scheduler.
        ``dask``: the cluster that Dask's own settings name (``DASK_SCHEDULER_ADDRESS``), else one
        of this machine that is started for the purpose.
    workers : of ``local``, and of ``dask`` where it starts a cluster; -1 takes all cores.

    Raises
    ------
    ValueError
        for other words, a wrong number of workers, or without the extra ``dask``.
    OSError
        when no scheduler answers at the address.

    >>> with opened("local", workers=1) as executor:
    ...     list(executor.unordered(pow, [2, 3], 2))
    [(2, 4), (3, 9)]
    """
    kind, given, address = words.partition("=")
    if kind not in ("local", "dask") or (given and (kind == "local" or not address)):
        raise ValueError(f"executor {words!r} must be {WORDS}")
    local = Local(workers)
    if kind == "local":
        yield local
        return
    try:
        from dask import config
        from dask.distributed import Client
    except ImportError:
        raise ValueError("executor dask needs the extra: pip install ratiolab[dask]") from None
    address = address or config.get("scheduler-address", "")
    settings: dict[str, Any] = {"address": address}
    if not address:
        settings = {"n_workers": local.slots, "threads_per_worker": 1, "dashboard_address": None}
    with Client(**settings) as client:  # type: ignore[no-untyped-call]
        yield Dask(client)


def executor_or_local(executor: Executor | None, workers: int) -> Executor:
    """Return an executor, or processes of this machine where there is none."""
    return Local(workers) if executor is None else executor


def _on_cluster(item: Item, function: Callable[..., Answer], shared: list[Any]) -> Answer:
    return function(item, *shared)


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

    A terminal sends it to all of them, and one that is still starting would print a traceback.
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
