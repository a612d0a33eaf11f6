"""The hindsight benchmark: the optimum of a scheduler that knows everything, or proven bounds."""

from ratiolab.hindsight.solve import OptResult, Progress, bracket, solve

__all__ = ["OptResult", "Progress", "bracket", "solve"]
