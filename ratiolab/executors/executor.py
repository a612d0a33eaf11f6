"""The interface of an executor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Calls(Generic[Item, Answer]):
    """Independent calls ``function(item, *shared)``; see `Executor.unordered`."""

    function: Callable[..., Answer]
    items: Iterable[Item]
    shared: tuple[Any, ...] = ()
    lazily: bool = False
    interruptible: bool = False


class Executor(ABC):
    """A place where calls run."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Number of calls that run at once."""

    @abstractmethod
    def answers(self, calls: Calls[Item, Answer]) -> Iterator[tuple[Item, Answer]]:
        """Yield each item with its answer, in the order in which answers come; see `unordered`."""

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
        function : a function of a module, so that other processes find it.
        shared : values that all calls receive; a cluster receives them once.
        lazily : an item is drawn when a call can begin, rather than long before: for items that
            depend on the time or on earlier answers.
        interruptible : the function makes a partial answer of Ctrl-C. Other processes, here or on a
            cluster, then hear it, and their answers come before KeyboardInterrupt is raised; in
            this process nothing changes. Items are drawn lazily.

        Raises
        ------
        OSError
            when a process ends under its call (most often because the memory is full), or a cluster
            does not answer.
        Exception
            of the first call that fails; calls that have not begun are left out.
        """
        return self.answers(Calls(function, items, shared, lazily, interruptible))
