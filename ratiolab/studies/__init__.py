"""Studies: declared grids of workloads, policies and seeds, run in parallel and resumable."""

from ratiolab.studies.cell import Cell
from ratiolab.studies.spec import Study, read_study, shipped

__all__ = ["Cell", "Study", "read_study", "shipped"]
