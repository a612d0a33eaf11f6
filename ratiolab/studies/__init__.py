"""Studies: declared grids of workloads, policies and seeds, run in parallel and resumable."""

from ratiolab.studies.cell import Cell
from ratiolab.studies.spec import Study, example, read_study

__all__ = ["Cell", "Study", "example", "read_study"]
