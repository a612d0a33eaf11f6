"""Pictures; no other package draws."""

from ratiolab.report.plots.schedules import picture, require_format, save

__all__ = ["picture", "require_format", "save"]
