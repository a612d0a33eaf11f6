"""Pictures; no other package draws."""

from ratiolab.report.plots.canvas import formats_of, require_format, save
from ratiolab.report.plots.schedules import picture

__all__ = ["formats_of", "picture", "require_format", "save"]
