"""Trying to beat records: the widest gaps first, each from what is known of it.

Every instance whose gap is open gets an equal part of the time, at least `LEAST_SECONDS`; those
without a record come first. A try is a solve that starts from the schedule and the certificate of
the record, with a seed of its own, so that it can only gain.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from math import inf
from multiprocessing import active_children
from pathlib import Path

from ratiolab.hindsight import OptResult, solve
from ratiolab.records.record import Record
from ratiolab.records.store import RecordStore

LEAST_SECONDS = 5.0
"""Shortest try."""

MOST_SECONDS = 600.0
"""Longest try; what is then left of the time goes to a further round."""


@dataclass(frozen=True)
class Failure:
    """A try that ended with an error, which does not end the others."""

    instance: str
    error: Exception


@dataclass(frozen=True)
class Try:
    """A try that has ended: the record before (None when there was none) and the one now."""

    before: Record | None
    now: Record

    @property
    def better(self) -> bool:
        """Return whether a value has become better."""
        before, now = self.before, self.now
        return before is None or (before.lower, before.proved, before.upper) != (
            now.lower,
            now.proved,
            now.upper,
        )


def improve(
    store: RecordStore,
    minutes: float,
    *,
    only: str = "*",
    workers: int = 1,
    tell: Callable[[Try | Failure], None] = lambda done: None,
) -> list[Try | Failure]:
    """Try to beat the records of a library for some minutes; what was tried.

    Parameters
    ----------
    only : pattern of names, as ``jaillet2025/model-1-*``.
    workers : processes, each with a solve of its own.
    tell : called after each try, when its files are written.

    Raises
    ------
    ValueError
        when no instance has such a name.
    KeyboardInterrupt
        after Ctrl-C, when the solves that ran have ended and what they found is kept and told.
    """
    names = [name for name in instances(store) if fnmatch(name, only)]
    if not names:
        raise ValueError(f"--only {only!r}: no instance in {store.instances} has such a name")
    ends = time.monotonic() + 60 * minutes
    done: list[Try | Failure] = []
    solved: set[str] = set()  # or failed: another try would end as the last one
    while time.monotonic() < ends:
        chosen = [name for name in widest(store, names) if name not in solved]
        if not chosen:
            break
        left = ends - time.monotonic()
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, left * workers / len(chosen)))
        for name, result in _solved(store, chosen, seconds, ends, workers):
            if isinstance(result, Exception):
                done.append(Failure(name, result))
            else:
                done.append(Try(*store.keep(name, result)))
            if isinstance(result, Exception) or result.is_exact:
                solved.add(name)
            tell(done[-1])
    return done


def instances(store: RecordStore) -> list[str]:
    """Return the names in the table, and of instances that wait in its folders for a first try."""
    folders = ("jaillet2025", "families")
    files = (path for folder in folders for path in (store.instances / folder).glob("*.json"))
    waiting = {path.relative_to(store.instances).with_suffix("").as_posix() for path in files}
    return sorted(waiting | set(store.records()))


def widest(store: RecordStore, names: Iterable[str]) -> list[str]:
    """Return the names that are not certified, the widest gap first."""
    records = store.records()

    def gap(name: str) -> float:
        return float(records[name].gap) if name in records else inf

    return sorted((name for name in names if gap(name)), key=gap, reverse=True)


def attempt(instances: Path, results: Path, name: str, seconds: float) -> OptResult | Exception:
    """Solve an instance from what its record knows; return the error when that fails."""
    try:
        return _solve(instances, results, name, seconds)
    except Exception as error:
        return error


def _solve(instances: Path, results: Path, name: str, seconds: float) -> OptResult:
    store = RecordStore(instances, results)
    instance, record = store.instance(name), store.records().get(name)
    if record is None:
        return solve(instance, time_limit=seconds, threads=1)
    return solve(
        instance,
        time_limit=seconds,
        threads=1,  # workers share the cores
        seed=record.tries,
        known=store.schedule(record, instance),
        proven=store.certificate(record),
    )


def _solved(
    store: RecordStore, names: Iterable[str], seconds: float, ends: float, workers: int
) -> Iterator[tuple[str, OptResult | Exception]]:
    """Yield results as they come, as long as there is time; after Ctrl-C, raise it."""
    waiting = iter(names)

    def time_left() -> float:
        return min(seconds, ends - time.monotonic())

    if workers == 1:
        for name in waiting:
            if time_left() <= 0:
                return
            result = attempt(store.instances, store.results, name, time_left())
            yield name, result
            if isinstance(result, OptResult):
                result.uninterrupted()
        return
    running: dict[Future[OptResult | Exception], str] = {}
    with ProcessPoolExecutor(workers, initializer=_ignore_interrupts) as pool:
        try:
            while True:
                while len(running) < workers and time_left() > 0 and (name := next(waiting, "")):
                    arguments = store.instances, store.results, name, time_left()
                    running[pool.submit(_interruptible, *arguments)] = name
                if not running:
                    return
                for call in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(call), call.result()
        except KeyboardInterrupt:
            for process in active_children():  # those that have not had the signal from a terminal
                if process.pid is not None:
                    os.kill(process.pid, signal.SIGINT)
            for call, name in running.items():
                with suppress(KeyboardInterrupt):
                    yield name, call.result()
            raise


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interruptible(
    instances: Path, results: Path, name: str, seconds: float
) -> OptResult | Exception:
    """Attempt in a worker, which hears Ctrl-C only while it solves."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return attempt(instances, results, name, seconds)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
