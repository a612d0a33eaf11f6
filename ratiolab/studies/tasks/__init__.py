"""Computations of a cell, by name; a new task is a function of a cell and a line in `TASKS`."""

from ratiolab.studies.cell import Value
from ratiolab.studies.tasks.bounds import bound, bracket, enclosure
from ratiolab.studies.tasks.optimum import optimum
from ratiolab.studies.tasks.refinement import prediction_errors
from ratiolab.studies.tasks.runs import against_bound, quantiles, simulate, timeline
from ratiolab.studies.tasks.task import Task

_REFINEMENT: dict[str, Value] = {"spread": 0.3, "correlation": 0.0, "changes": 1.0, "requests": 200}
_BRACKET: dict[str, Value] = {"steps": 200_000, "rounds": 8, "walks": 0}

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("simulate", simulate),
        Task("quantiles", quantiles),
        Task("timeline", timeline, options={"width": 1.0}),
        Task("bound", bound, policy=False, options={"steps": 0}),
        Task("enclosure", enclosure, policy=False, options={"steps": 0}),
        Task("bracket", bracket, policy=False, options=_BRACKET),
        Task("optimum", optimum, policy=False, options={"limit": 0.0}),
        Task("against-bound", against_bound),
        Task("refinement", prediction_errors, policy=False, options=_REFINEMENT),
    )
}
"""Every task by its name; `register` adds to them."""


def register(task: Task) -> None:
    """Let studies name one more task."""
    if TASKS.setdefault(task.name, task) != task:
        raise ValueError(f"task {task.name!r} is registered already")


__all__ = ["TASKS", "Task", "register"]
