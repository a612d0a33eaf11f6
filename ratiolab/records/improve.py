"""Trying to beat records: the widest gaps first, each from its best known interval.

Every instance whose gap is open gets an equal part of the time, at least `LEAST_SECONDS`; those
without a record come first. A try is a solve that starts from the schedule and the certificate of
the record, with a seed of its own. Where the certificate is of a search or of labelling, it is not
searched again: solves go on from its passes, or begin anew, and what was proven stays in the
record. Where the integer program proved the schedule optimal, a try looks for a certificate.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from math import inf
from typing import Any

from ratiolab.executors import Executor, executor_or_local
from ratiolab.hindsight import OptResult, solve
from ratiolab.hindsight.certificates.certificate import Certificate, PathCertificate
from ratiolab.hindsight.search import threads_here
from ratiolab.model import Instance
from ratiolab.records.library import FOLDERS
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
    executor: Executor | None = None,
    tell: Callable[[Try | Failure], None] = lambda done: None,
) -> list[Try | Failure]:
    """Try to beat the records of a library for some minutes; what was tried.

    `only` is a pattern of names, as ``jaillet2025/model-1-*``. The solves run on the executor, or
    else on `workers` processes. `tell` is called after each try, when its files are written. Raise
    ValueError when no instance has such a name. Raise KeyboardInterrupt after Ctrl-C, when the
    solves that ran have ended and what they found is kept and told.
    """
    names = [name for name in instances(store) if fnmatch(name, only)]
    if not names:
        raise ValueError(f"--only {only!r}: no instance in {store.instances} has such a name")
    place = executor_or_local(executor, workers)
    threads = max(1, threads_here() // place.slots)  # workers share the cores
    ends = time.monotonic() + 60 * minutes
    done: list[Try | Failure] = []
    solved: set[str] = set()  # or failed: another try would end as the last one
    while time.monotonic() < ends:
        chosen = [name for name in widest(store, names) if name not in solved]
        if not chosen:
            break
        left = ends - time.monotonic()
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, left * place.slots / len(chosen)))
        stopped: list[OptResult] = []

        def works(
            chosen: list[str] = chosen, seconds: float = seconds, stopped: list[OptResult] = stopped
        ) -> Iterator[Work]:
            for name in chosen:
                time_left = min(seconds, ends - time.monotonic())
                if time_left <= 0 or stopped:
                    return
                yield work_of(store, name, time_left, threads)

        for work, result in place.unordered(attempt, works(), interruptible=True):
            if isinstance(result, Exception):
                done.append(Failure(work.name, result))
            else:
                done.append(Try(*store.keep(work.name, result)))
            if isinstance(result, Exception) or result.is_exact:
                solved.add(work.name)
            if isinstance(result, OptResult) and result.interrupted:
                stopped.append(result)
            tell(done[-1])
        for result in stopped:
            result.uninterrupted()
    return done


def instances(store: RecordStore) -> list[str]:
    """Return the names in the table, and of instances that wait in its folders for a first try."""
    files = (path for folder in FOLDERS for path in (store.instances / folder).glob("*.json"))
    waiting = {path.relative_to(store.instances).with_suffix("").as_posix() for path in files}
    return sorted(waiting | set(store.records()))


def widest(store: RecordStore, names: Iterable[str]) -> list[str]:
    """Return the names that are not certified, the widest gap first."""
    records = store.records()

    def gap(name: str) -> float:
        return float(records[name].gap) if name in records else inf

    return sorted((name for name in names if gap(name)), key=gap, reverse=True)


@dataclass(frozen=True)
class Work:
    """A try as it is sent to a solver: the known interval, and the time.

    Parameters
    ----------
    known : options of `solve` with the seed, the schedule and the certificate of the record, or the
        error that reading them gave.
    threads : number of threads of the solve.
    """

    name: str
    instance: Instance | None
    known: dict[str, Any] | Exception
    seconds: float
    threads: int


def attempt(work: Work) -> OptResult | Exception:
    """Solve an instance from what its record knows; return the error when that fails."""
    if work.instance is None or isinstance(work.known, Exception):
        assert isinstance(work.known, Exception)
        return work.known
    try:
        return solve(work.instance, time_limit=work.seconds, threads=work.threads, **work.known)
    except Exception as error:
        return error


def _begun(proven: Certificate) -> dict[str, Certificate]:
    """Return the certificate that a solve begins with, if it is checked quickly.

    Passes with critical requests need more duals than their certificate has.
    """
    if not isinstance(proven, PathCertificate):
        return {"proven": proven}
    return {"guide": proven} if proven.passes == (0,) else {}


def work_of(store: RecordStore, name: str, seconds: float, threads: int) -> Work:
    """Return the try of an instance, with all that its record knows."""
    try:
        instance, record = store.instance(name), store.records().get(name)
        known: dict[str, Any] = {}
        if record is not None:
            known = {"seed": record.tries, "known": store.schedule(record, instance)}
            known |= _begun(store.certificate(record))
            if record.status == "proved":  # the program would prove it again, and certify nothing
                known["method"] = "certified"
    except Exception as error:
        return Work(name, None, error, seconds, threads)
    return Work(name, instance, known, seconds, threads)
