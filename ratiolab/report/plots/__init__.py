"""Pictures: the only modules that draw."""

from ratiolab.report.plots.schedules import picture, save

__all__ = ["picture", "save"]
