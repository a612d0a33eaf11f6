"""The course of a search for bad instances: the best ratio over the evaluations."""

from collections.abc import Sequence

from ratiolab.adversary.result import Moment
from ratiolab.report.plots.canvas import Chart, in_style, new_chart


@in_style
def course(history: Sequence[Moment], evaluations: int, title: str) -> Chart:
    """Draw the best ratio found so far over the evaluations, on a logarithmic axis.

    Parameters
    ----------
    history : when the ratio rose.
    evaluations : of the whole search.
    """
    figure = new_chart((6, 3.2))
    ax = figure.subplots()
    at = [moment.evaluations for moment in history] + [max(evaluations, 1)]
    best = [moment.ratio for moment in history]
    ax.step(at, [*best, best[-1]], where="post")
    ax.set_xscale("log")
    ax.set_xlabel("evaluations")
    ax.set_ylabel("ratio to the exact optimum")
    ax.set_title(title)
    return figure
