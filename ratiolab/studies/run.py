"""Running a study: every missing cell once, on all cores or on a Dask cluster.

The process that computes a cell saves it at once (on a cluster, whose machines share no folder, the
process that receives it), so an interruption costs the cells that were being computed, no other.
"""

import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

from ratiolab.online import InformationError, PolicyError
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.spec import Study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks import TASKS, Task
from ratiolab.version import __version__

if TYPE_CHECKING:
    import pandas as pd

ATTEMPTS = 10
"""Workers of a cluster that may die under a cell before it is given up."""


def run_study(
    study: Study,
    store: Store,
    *,
    workers: int = -1,
    scheduler: str | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> "pd.DataFrame":
    """Compute the cells that are missing, then merge all; the table does not depend on how.

    Parameters
    ----------
    store : what it holds of the study already is not computed again.
    workers : processes; -1 takes all cores. A cluster has its own.
    scheduler : address of the scheduler of a Dask cluster, as in ``tcp://host:8786``; the cluster
        then computes, on its own workers.
    advance : called with the numbers of finished cells and of all, first before anything is
        computed.

    Raises
    ------
    ValueError, PolicyError
        of the first cell that fails, with the cell before the message; others are kept.
    """
    if workers < 1 and workers != -1:
        raise ValueError(f"workers {workers} must be at least 1, or -1 for all cores")
    report = advance or (lambda _done, _all: None)
    missing = store.missing(study)
    cells = len({cell.id for cell in study.cells})
    done = cells - len(missing)
    report(done, cells)
    if missing:
        finished = (
            _on_cores(missing, store, workers)
            if scheduler is None
            else _on_cluster(missing, store, scheduler)
        )
        for number, _ in enumerate(finished, done + 1):
            report(number, cells)
    return store.merge(study)


def compute(cell: Cell, task: Task) -> tuple[str, list[Row]]:
    """Return version and rows of one cell; an error says which cell it was."""
    try:
        return __version__, task.run(cell)
    except (PolicyError, InformationError) as error:
        raise PolicyError(f"{cell}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{cell}: {error}") from None


def _on_cores(cells: Sequence[Cell], store: Store, workers: int) -> Iterator[None]:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=workers, return_as="generator_unordered")
    with _deaf_children():
        saved = parallel(delayed(_save)(store, cell, _task(cell), os.getpid()) for cell in cells)
    with warnings.catch_warnings():  # Ctrl-C cancels cells on purpose
        warnings.filterwarnings("ignore", "[0-9]+ tasks ", UserWarning)
        yield from saved


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


def _task(cell: Cell) -> Task:
    return TASKS[str(cell["task"])]


def _save(store: Store, cell: Cell, task: Task, parent: int) -> None:
    if os.getppid() == parent:
        _end_with(parent)
    store.save(cell, compute(cell, task)[1])


@cache
def _end_with(parent: int) -> None:
    """Let this worker end when its parent is killed, rather than wait for work for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _on_cluster(cells: Sequence[Cell], store: Store, scheduler: str) -> Iterator[None]:
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise ValueError("executor dask needs the extra: pip install ratiolab[dask]") from None
    by_key = {f"ratiolab-{cell.id}": cell for cell in cells}
    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        futures = client.map(
            compute, cells, list(map(_task, cells)), key=list(by_key), pure=False, retries=ATTEMPTS
        )
        arriving = as_completed(futures, with_results=True)  # type: ignore[no-untyped-call]
        for future, (version, rows) in arriving:
            store.save(by_key[future.key], rows, version)
            future.release()
            yield
