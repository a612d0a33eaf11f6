"""Running a study: every missing cell once, on all cores or on a cluster.

Each cell is saved as it arrives, so that an interruption costs only the cells under way.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ratiolab.executors import Executor, executor_or_local
from ratiolab.online import InformationError, PolicyError
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.spec import Study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks import TASKS, Task
from ratiolab.version import __version__

if TYPE_CHECKING:
    import pandas as pd


def run_study(
    study: Study,
    store: Store,
    *,
    workers: int = -1,
    executor: Executor | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> "pd.DataFrame":
    """Compute the cells that are missing, then merge all; the table does not depend on how.

    Parameters
    ----------
    store : what it holds of the study already is not computed again.
    workers : processes of this machine; -1 takes all cores. Or else
    executor : where cells are computed, as `ratiolab.executors.opened` gives it.
    advance : called with the numbers of finished cells and of all, first before anything is
        computed.

    Raises
    ------
    ValueError, PolicyError
        of the first cell that fails, with the cell before the message; others are kept.
    """
    place = executor_or_local(executor, workers)
    report = advance or (lambda _done, _all: None)
    missing = store.missing(study)
    cells = len({cell.id for cell in study.cells})
    done = cells - len(missing)
    report(done, cells)
    # a task travels with its cell: other processes do not know the papers' tasks
    work = [(cell, TASKS[str(cell["task"])]) for cell in missing]
    for number, ((cell, _), (version, rows)) in enumerate(place.unordered(compute, work), done + 1):
        store.save(cell, rows, version)
        report(number, cells)
    return store.merge(study)


def compute(work: tuple[Cell, Task]) -> tuple[str, list[Row]]:
    """Return version and rows of one cell; an error says which cell it was."""
    cell, task = work
    try:
        return __version__, task.run(cell)
    except (PolicyError, InformationError) as error:
        raise PolicyError(f"{cell}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{cell}: {error}") from None
