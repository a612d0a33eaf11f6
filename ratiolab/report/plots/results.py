"""Pictures of results, one function for each class, for `ratiolab.model.display.Result.plot`."""

from functools import singledispatch

from ratiolab.evaluation.result import Evaluation
from ratiolab.hindsight import OptResult
from ratiolab.model import Schedule
from ratiolab.model.display import Result
from ratiolab.online import Simulation
from ratiolab.ratio import Comparison
from ratiolab.report.panels import comparison_panels, optimum_panel
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.evaluation import chart
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
def _(result: OptResult) -> Chart:
    return picture([optimum_panel(result)])


@plot.register
def _(result: Comparison) -> Chart:
    return picture(comparison_panels(result))


@plot.register
def _(result: Evaluation) -> Chart:
    return chart(result, "ratios")
