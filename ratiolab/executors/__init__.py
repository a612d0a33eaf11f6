"""Where independent calls run: in this process, on all cores, or on a Dask cluster.

One way for studies, experiments, the record library, evaluations and attacks. An executor is opened
by its words, and runs a function of a module on many items::

    with opened("dask=tcp://host:8786") as executor:  # or "local", or "dask"
        for item, answer in executor.unordered(function, items, instance):
            ...  # function(item, instance), as answers come

`function` and its arguments are sent to other processes, and on a cluster to machines that share
no folder with this one: they must be picklable, and files are written here, where answers arrive.
Answers come in any order, so a result that is to be the same everywhere must not depend on it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ratiolab.executors.cluster import Dask
from ratiolab.executors.executor import Executor
from ratiolab.executors.local import Local

__all__ = ["Dask", "Executor", "Local", "executor_or_local", "opened"]

WORDS = "local, dask or dask=ADDRESS"


@contextmanager
def opened(words: str = "local", workers: int = -1) -> Iterator[Executor]:
    """Open an executor by its words, and close it in the end.

    Parameters
    ----------
    words : ``local``: processes of this machine. ``dask=ADDRESS``: the cluster of this scheduler.
        ``dask``: the cluster that Dask's own settings name (``DASK_SCHEDULER_ADDRESS``), else one
        of this machine that is started for the purpose.
    workers : processes of ``local``, and of a cluster that ``dask`` starts; -1 takes all cores.

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
    try:
        client = Client(**settings)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise type(error)(
            f"executor {words!r}: {error}; name the address of a scheduler that runs, as in "
            "dask=tcp://host:8786"
        ) from None
    with client:
        yield Dask(client)


def executor_or_local(executor: Executor | None, workers: int) -> Executor:
    """Return an executor, or processes of this machine where there is none."""
    return Local(workers) if executor is None else executor
