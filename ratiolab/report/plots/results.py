"""Pictures of results, one function for each class, for `ratiolab.model.display.Result.plot`."""

from collections.abc import Mapping
from functools import singledispatch

import numpy as np

from ratiolab.evaluation.fleets import FleetEvaluation
from ratiolab.evaluation.result import Evaluation
from ratiolab.hindsight import OptResult
from ratiolab.hindsight.promises import PromiseResult
from ratiolab.hindsight.result import FleetResult
from ratiolab.model import IntArray, Schedule
from ratiolab.model.display import Result
from ratiolab.model.fleet import FleetSchedule
from ratiolab.online import Simulation
from ratiolab.online.fleets.loop import FleetSimulation
from ratiolab.ratio import Comparison
from ratiolab.report.panels import comparison_panels, optimum_panel
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.evaluation import chart
from ratiolab.report.plots.fleets import draw_routers
from ratiolab.report.plots.schedules import picture


@singledispatch
def plot(result: Result) -> Chart:
    """Draw a result."""
    raise TypeError(f"there is no picture of {type(result).__name__}")


@plot.register
def _(result: Schedule) -> Chart:
    return picture([(result.headline, result)])


@plot.register
def _(result: Simulation) -> Chart:
    return picture([(result.headline, result.schedule)])


@plot.register
def _(result: FleetSchedule) -> Chart:
    return _replicas(dict(result.parts), result.replica)


@plot.register
def _(result: FleetSimulation) -> Chart:
    parts = {number: part.schedule for number, part in result.parts.items()}
    return _replicas(parts, result.replica)


def _replicas(parts: Mapping[int, Schedule], replica: IntArray) -> Chart:
    """Draw a panel for each replica, whose requests have their numbers in the fleet."""
    panels = [(f"replica {number}", part) for number, part in parts.items()]
    return picture(panels, [np.flatnonzero(replica == number) for number in parts])


@plot.register
def _(result: FleetResult | PromiseResult) -> Chart:
    return plot(result.schedule)


@plot.register
def _(result: FleetEvaluation) -> Chart:
    return draw_routers(result)


@plot.register
def _(result: OptResult) -> Chart:
    return picture([optimum_panel(result)])


@plot.register
def _(result: Comparison) -> Chart:
    return picture(comparison_panels(result))


@plot.register
def _(result: Evaluation) -> Chart:
    return chart(result, "ratios")
