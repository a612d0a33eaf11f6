"""Programs to HiGHS, and back: the bounds that HiGHS proved, and counts for each column.

The gaps are set to zero (HiGHS's own default stops at a relative gap of 1e-4), one thread and a
fixed seed make node-limited results repeatable, and every return code is checked, since HiGHS
answers an unknown option with an error code and goes on.

Linear programs gain and lose rows, and start from their last basis. Their values and duals are
floating point and prove nothing: a proof of a bound reprices them in integers
(`ratiolab.hindsight.relaxation.lagrangian`).
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.programs.timeindexed import Program
from ratiolab.model.footprint import IntArray

ROUNDING = 1e-6
"""A dual bound this little above an integer is taken to be that integer."""

REPORT_EVERY = 0.2
"""Seconds between two calls of a progress callback."""


Report: TypeAlias = Callable[[int, int | None], None]
"""Called with the nodes and the lower bound so far, None when HiGHS has none."""


@dataclass(frozen=True)
class ProgramResult:
    """Bounds and the incumbent that HiGHS has found for a program.

    Parameters
    ----------
    optimal : whether HiGHS proved the incumbent optimal.
    interrupted : whether Ctrl-C ended the solve.
    lower : dual bound of HiGHS, rounded up; None if HiGHS has no bound.
    counts : column values of the incumbent; None without an incumbent.
    """

    optimal: bool
    interrupted: bool
    lower: int | None
    counts: IntArray | None = field(repr=False)
    nodes: int
    seconds: float
    status: str


class SolverError(RuntimeError):
    """An option or a model that the solver refuses, or an end that proves nothing."""


def solve_program(
    program: Program,
    *,
    start: IntArray | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Report | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> ProgramResult:
    """Solve a program with HiGHS, to proof unless a limit or Ctrl-C comes first.

    Parameters
    ----------
    start : start counts of each column, a feasible solution to begin with, shape (columns,).
    time_limit : seconds.
    node_limit : nodes of the search tree.
    threads : with more than one, the way of the search differs from run to run.
    progress : called every `REPORT_EVERY` seconds by the calling thread.
    stop : asked as often; True ends the solve as a limit does.

    Returns
    -------
    the outcome. After Ctrl-C (the first; a second raises `KeyboardInterrupt`) it is what HiGHS
    knew then, as after a limit.

    Raises
    ------
    SolverError
        when HiGHS refuses an option or the model, or fails.
    """
    began = time.perf_counter()
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": threads,
        "random_seed": seed,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
    }
    if threads > 1:
        options["parallel"] = "on"
    if time_limit is not None:
        options["time_limit"] = float(time_limit)
    if node_limit is not None:
        options["mip_max_nodes"] = node_limit
    for name, value in options.items():
        require_ok(highs.setOptionValue(name, value), f"option {name} = {value!r}")
    require_ok(highs.passModel(_model(program)), "the model")
    if start is not None:
        columns = np.arange(len(start), dtype=np.int32)
        require_ok(highs.setSolution(len(start), columns, start.astype(float)), "the start")
    interrupted = _run(highs, progress, stop)
    return _result(highs, interrupted, time.perf_counter() - began)


def _model(program: Program) -> highspy.HighsLp:
    rows, columns = program.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, rows
    model.col_cost_ = program.cost.astype(float)
    model.col_lower_ = np.zeros(columns)
    model.col_upper_ = program.upper.astype(float)
    model.row_lower_ = program.row_lower.astype(float)
    model.row_upper_ = program.row_upper.astype(float)
    model.integrality_ = [highspy.HighsVarType.kInteger] * columns
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = columns, rows
    model.a_matrix_.start_ = program.indptr.astype(np.int32)
    model.a_matrix_.index_ = program.indices.astype(np.int32)
    model.a_matrix_.value_ = program.values.astype(float)
    return model


def _run(highs: Any, progress: Report | None, enough: Callable[[], bool]) -> bool:
    """Run in a thread, so that Ctrl-C and progress stay with the caller; whether Ctrl-C came.

    The thread is our own: highspy's allows one solve at a time in a whole process.
    """
    stop, done = threading.Event(), threading.Event()
    failure: list[BaseException] = []
    known: tuple[int, int | None] = (0, None)

    def watch(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    def note(event: Any) -> None:
        nonlocal known
        data = event.data_out
        known = max(0, int(data.mip_node_count)), _rounded_up(data.mip_dual_bound)

    def run() -> None:
        try:
            if highs.run() == highspy.HighsStatus.kError:
                raise SolverError("HiGHS failed while it ran")
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    highs.cbSimplexInterrupt += watch
    highs.cbMipInterrupt += watch
    highs.cbMipInterrupt += note
    threading.Thread(target=run, daemon=True).start()
    interrupted = False
    try:
        while not done.wait(REPORT_EVERY):
            if progress is not None:
                progress(*known)
            if enough():
                break
    except KeyboardInterrupt:
        interrupted = True
    finally:
        stop.set()
        done.wait()
    if failure:
        raise failure[0]
    return interrupted


def _result(highs: Any, interrupted: bool, seconds: float) -> ProgramResult:
    status = highs.getModelStatus()
    known = highspy.HighsModelStatus
    stopped = {known.kTimeLimit, known.kSolutionLimit, known.kIterationLimit, known.kInterrupt}
    name = highs.modelStatusToString(status)
    if status != known.kOptimal and status not in stopped:
        raise SolverError(f"HiGHS ended with status {name!r}")
    info = highs.getInfo()
    counts = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        counts = np.rint(np.array(highs.getSolution().col_value)).astype(np.int64)
    return ProgramResult(
        optimal=status == known.kOptimal,
        interrupted=interrupted,
        lower=_rounded_up(info.mip_dual_bound),
        counts=counts,
        nodes=max(0, int(info.mip_node_count)),
        seconds=seconds,
        status=name,
    )


def _rounded_up(bound: float) -> int | None:
    """Round up: the objective is an integer, so a bound holds for the next integer too."""
    return math.ceil(bound - ROUNDING) if abs(bound) < 1e30 else None


def require_ok(status: highspy.HighsStatus, what: str) -> None:
    """Raise `SolverError` when HiGHS refused its input."""
    if status != highspy.HighsStatus.kOk:
        raise SolverError(f"HiGHS refused {what}: {status}")


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
