"""Linear programs to HiGHS, row by row: one thread, warm starts, every return code checked.

Nothing here is a proof: values and duals are floating point, and a proof of a bound reprices
them in integers (`ratiolab.hindsight.relaxation.lagrangian`).
"""

from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.programs.highs import SolverError, require_ok
from ratiolab.model.footprint import IntArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """Values of columns and rows, duals of rows (of a minimum: at most 0 for a row <= b)."""

    optimal: bool
    value: float
    columns: FloatArray = field(repr=False)
    rows: FloatArray = field(repr=False)
    duals: FloatArray = field(repr=False)


def _compressed(indptr: IntArray, indices: IntArray, values: FloatArray) -> tuple[Any, ...]:
    """Return the entries of compressed rows or columns as HiGHS takes them."""
    return len(indices), indptr[:-1].astype(np.int32), indices.astype(np.int32), values


class LinearProgram:
    """A program: minimise cost @ x over 0 <= x <= upper and changing rows; keeps its basis."""

    def __init__(self) -> None:
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"output_flag": False, "threads": 1, "solver": "simplex"}
        for name, option in options.items():
            require_ok(self._highs.setOptionValue(name, option), f"option {name} = {option!r}")

    def add_rows(
        self,
        lower: FloatArray,
        upper: FloatArray,
        indptr: IntArray,
        indices: IntArray,
        values: FloatArray,
    ) -> None:
        """Append lower <= A x <= upper, A in compressed rows (indptr of length rows + 1)."""
        entries = _compressed(indptr, indices, values)
        require_ok(self._highs.addRows(len(lower), lower, upper, *entries), "rows")

    def add_columns(
        self,
        cost: FloatArray,
        upper: FloatArray,
        indptr: IntArray,
        indices: IntArray,
        values: FloatArray,
    ) -> None:
        """Append columns 0 <= x <= upper in compressed columns (indptr of length columns + 1)."""
        sides = np.zeros(len(cost)), upper
        entries = _compressed(indptr, indices, values)
        require_ok(self._highs.addCols(len(cost), cost, *sides, *entries), "columns")

    def set_rows(self, lower: FloatArray, upper: FloatArray) -> None:
        """Change the sides of all rows."""
        rows = np.arange(len(lower), dtype=np.int32)
        require_ok(self._highs.changeRowsBounds(len(rows), rows, lower, upper), "sides of rows")

    def delete_rows(self, rows: IntArray) -> None:
        """Remove rows by number; later rows move up."""
        require_ok(self._highs.deleteRows(len(rows), rows.astype(np.int32)), "to delete rows")

    def solve(self, time_limit: float | None = None, *, primal: bool = False) -> Solution:
        """Solve from the last basis; within a limit in seconds, `optimal` says whether it did.

        The primal simplex method suits a program with new columns, the dual simplex a program with
        new rows.

        Raises
        ------
        SolverError
            when HiGHS fails, or finds the program infeasible or unbounded.
        """
        seconds = highspy.kHighsInf if time_limit is None else self._highs.getRunTime() + time_limit
        require_ok(
            self._highs.setOptionValue("time_limit", seconds), f"option time_limit = {seconds}"
        )
        strategy = 4 if primal else 1
        require_ok(self._highs.setOptionValue("simplex_strategy", strategy), "simplex_strategy")
        known = highspy.HighsModelStatus
        status = self._run()
        if status == known.kUnknown:  # lost from its last basis: once more from none
            require_ok(self._highs.clearSolver(), "to forget the basis")
            status = self._run()
        if status not in (known.kOptimal, known.kTimeLimit):
            raise SolverError(f"HiGHS ended with status {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        return Solution(
            optimal=status == known.kOptimal,
            value=self._highs.getInfo().objective_function_value,
            columns=np.array(solution.col_value),
            rows=np.array(solution.row_value),
            duals=np.array(solution.row_dual),
        )

    def _run(self) -> Any:
        if self._highs.run() == highspy.HighsStatus.kError:
            raise SolverError("HiGHS failed while it ran")
        return self._highs.getModelStatus()
