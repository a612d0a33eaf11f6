"""Tasks of studies of Chen et al. (2025) beyond the library's."""

from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.task import Task
from ratiolab.theory.rayleigh.spectrum import spectral_radius


def maxima(cell: Cell) -> list[Row]:
    """Return a row for each upper end u: the maximum of Lemma 2's quotient at s = 0, l = 1."""
    uppers = range(cell.option("first"), cell.option("last") + 1)
    return [
        {"u": u, "ratio": float(f"{spectral_radius(u, tolerance=1e-9).rho:.9g}")} for u in uppers
    ]


TASKS = (
    Task("a-min-maximum", maxima, workload=False, policy=False, options={"first": 2, "last": 2000}),
)
