"""What a cell can compute, by name; a new task is a file here and a word in `TASKS`."""

from ratiolab.studies.tasks.against_bound import AGAINST_BOUND
from ratiolab.studies.tasks.bound import BOUND
from ratiolab.studies.tasks.bracket import BRACKET
from ratiolab.studies.tasks.limited_queue import LIMITED_QUEUE
from ratiolab.studies.tasks.quantiles import QUANTILES
from ratiolab.studies.tasks.refinement import REFINEMENT
from ratiolab.studies.tasks.simulate import SIMULATE
from ratiolab.studies.tasks.task import Task
from ratiolab.studies.tasks.timeline import TIMELINE

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        *(SIMULATE, QUANTILES, TIMELINE),
        *(BOUND, BRACKET, AGAINST_BOUND),
        *(REFINEMENT, LIMITED_QUEUE),
    )
}
"""Every task by its name; `register` adds to them."""


def register(task: Task) -> None:
    """Let studies name one more task.

    Raises
    ------
    ValueError
        when another task has this name.
    """
    if TASKS.setdefault(task.name, task) != task:
        raise ValueError(f"task {task.name!r} is registered already")


__all__ = ["TASKS", "Task", "register"]
