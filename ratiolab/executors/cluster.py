"""Calls on a Dask cluster."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

from ratiolab.executors.executor import Answer, Calls, Executor, Item
from ratiolab.executors.interruption import STOPPED, called, interrupt


class Dask(Executor):
    """The workers of a Dask cluster.

    A worker that dies costs nothing but the calls that ran on it: others repeat them, until as many
    have died under one call as the cluster's ``allowed-failures``. Calls whose answers are no
    longer needed, as after Ctrl-C, are interrupted, so that the cluster is free.
    """

    def __init__(self, client: Any) -> None:
        """Take a ``dask.distributed.Client``."""
        self.client = client

    @property
    def slots(self) -> int:
        """Number of threads of the workers that are there now, or 1."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def answers(self, calls: Calls[Item, Answer]) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with its answer, as answers come."""
        from dask.distributed import KilledWorker, as_completed

        # in a list: what is a list itself is sent whole, not item by item
        sent = [self.client.scatter([each], hash=False)[0] for each in calls.shared]
        waiting, of = iter(calls.items), dict[Any, Item]()
        ahead = self.slots if calls.lazily or calls.interruptible else None
        group = uuid4().hex  # of calls that are interrupted together

        def begin() -> list[Any]:
            drawn = []
            for item in waiting:
                drawn.append(item)
                if ahead is not None and len(of) + len(drawn) >= ahead:
                    break
            futures: list[Any] = self.client.map(
                _on_cluster,
                drawn,
                function=calls.function,
                shared=sent,
                group=group,
                pure=False,
                key=getattr(calls.function, "__name__", "call"),
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
        except KeyboardInterrupt:
            if calls.interruptible:
                self.client.run(interrupt, group)
                for future, answer in running:
                    item = of.pop(future)
                    if not (isinstance(answer, str) and answer == STOPPED):
                        yield item, answer
            raise
        finally:
            self.client.cancel(list(of))
            if of:
                with suppress(Exception):  # workers that have left need not hear of it
                    self.client.run(interrupt, group)


def _on_cluster(
    item: Item, function: Callable[..., Answer], shared: list[Any], group: str
) -> Answer | str:
    return called(lambda: function(item, *shared), group)
