"""The hindsight benchmark: the optimum of a scheduler that knows everything, or proven bounds."""

from ratiolab.hindsight.certifying import certified
from ratiolab.hindsight.result import OptResult, Progress
from ratiolab.hindsight.solve import bracket, solve

__all__ = ["OptResult", "Progress", "bracket", "certified", "solve"]
