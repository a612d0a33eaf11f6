"""Both builds of the program: HiGHS proves, stops and keeps; PuLP reads, exports and agrees."""

import os
import signal
import threading
from pathlib import Path

import highspy
import numpy as np
import pulp
import pytest
from oracle import least_latency, optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.programs import highs
from ratiolab.hindsight.programs.highs import SolverError, solve_program
from ratiolab.hindsight.programs.pulp import model, solve_model, write
from ratiolab.hindsight.programs.timeindexed import Program, build
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import Instance, Schedule, require_feasible


def hard(n: int = 10) -> tuple[Program, Schedule]:
    """A program that HiGHS needs minutes or hours for, and a schedule to begin with."""
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 40 - s + 1)) for s in prompt]
    instance = Instance("hard", 40, [0] * n, prompt, output)
    first = list_schedule(instance, np.argsort(instance.output))
    return build(instance, last_starts(instance, first.total_latency), first.makespan), first


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_the_proven_optimum_is_that_of_optimum(seed: int, merge: bool) -> None:
    instance = tiny(seed)
    best = least_latency(instance)
    program = build(instance, last_starts(instance, best), merge=merge)
    outcome = solve_program(program)
    assert outcome.optimal
    assert outcome.lower == best
    assert outcome.counts is not None
    found = require_feasible(Schedule.from_starts(instance, program.starts(outcome.counts)))
    assert found.total_latency == best


@pytest.mark.parametrize("horizon", [0, 1, 2, 4, 8])
def test_the_tail_relaxation_bounds_the_optimum_for_any_horizon(horizon: int) -> None:
    for seed in range(8):
        instance = tiny(seed)
        best = optimal_schedule(instance)
        last = last_starts(instance, best.total_latency)
        outcome = solve_program(build(instance, last, horizon))
        assert outcome.optimal
        assert outcome.lower is not None
        assert outcome.lower <= best.total_latency
        if horizon >= last.max():
            assert outcome.lower == best.total_latency


@pytest.mark.parametrize("limit", [{"time_limit": 0}, {"node_limit": 0}])
def test_a_start_is_kept_when_a_limit_leaves_no_time(limit: dict[str, int]) -> None:
    program, first = hard()
    outcome = solve_program(program, start=program.counts(first.starts), **limit)
    assert not outcome.optimal
    assert outcome.counts is not None
    assert program.cost @ outcome.counts <= first.total_latency
    assert outcome.lower is None or outcome.lower <= first.total_latency


def test_an_impossible_option_is_an_error_and_not_ignored() -> None:
    program, _ = hard(3)
    with pytest.raises(SolverError, match="option random_seed = -1"):
        solve_program(program, seed=-1)


def test_a_start_of_the_wrong_shape_is_an_error() -> None:
    program, first = hard(3)
    counts = np.append(program.counts(first.starts), 1)
    with pytest.raises(SolverError, match="the start"):
        solve_program(program, start=counts)


def test_progress_is_reported_and_its_errors_come_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(highs, "REPORT_EVERY", 0.01)
    program, first = hard()
    seen: list[tuple[int, int | None]] = []

    def fail_in_the_end(nodes: int, lower: int | None) -> None:
        seen.append((nodes, lower))
        if len(seen) == 3:
            raise RuntimeError("the bar broke")

    start = program.counts(first.starts)
    with pytest.raises(RuntimeError, match="the bar broke"):
        solve_program(program, start=start, progress=fail_in_the_end)
    assert len(seen) == 3
    assert all(nodes >= 0 and (low is None or low <= first.total_latency) for nodes, low in seen)


def test_ctrl_c_keeps_incumbent_and_bound(ctrl_c: None) -> None:
    program, first = hard()

    def press_once_a_bound_is_known(nodes: int, lower: int | None) -> None:
        if lower is not None and lower > 0:
            signal.raise_signal(signal.SIGINT)

    outcome = solve_program(
        program, start=program.counts(first.starts), progress=press_once_a_bound_is_known
    )
    assert outcome.interrupted
    assert not outcome.optimal
    assert outcome.counts is not None
    assert outcome.lower is not None
    assert 0 < outcome.lower <= program.cost @ outcome.counts <= first.total_latency


def test_ctrl_c_from_outside_ends_the_solve(ctrl_c: None) -> None:
    """While the solver's caller waits, and HiGHS still presolves."""
    program, first = hard()
    pressing = threading.Thread(target=os.kill, args=[os.getpid(), signal.SIGINT])

    def press_once(nodes: int, lower: int | None) -> None:
        if not pressing.ident:
            pressing.start()

    outcome = solve_program(program, start=program.counts(first.starts), progress=press_once)
    pressing.join()
    assert outcome.interrupted
    assert outcome.status == "Interrupted by user"
    assert outcome.counts is not None


SOLVERS = ["PULP_CBC_CMD", "HiGHS"]
EC1 = Instance("example EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])


def test_the_program_reads_as_in_the_paper() -> None:
    # s=1, o=2 at 0 and s=2, o=1 at 1 in M = 5; horizon (0+2) + (1+1) = 4
    program = model(Instance("two", 5, [0, 1], [1, 2], [2, 1]))
    rows = [str(row) for row in program.constraints()]
    assert "x_0_0 + x_0_1 + x_0_2 = 1.0" in rows
    assert "x_1_1 + x_1_2 + x_1_3 = 1.0" in rows
    assert "3*x_0_0 + 2*x_0_1 + 3*x_1_1 <= 5.0" in rows
    assert len(rows) == 2 + 4


def test_rounds_in_which_nothing_can_run_take_no_time() -> None:
    late = Instance("late", 20, [0, 10**9], [3, 2], [2, 1])
    rows = [row.name for row in model(late, [1, 10**9]).constraints()]
    assert rows == ["start_0", "start_1", *(f"memory_{t}" for t in (1, 2, 3, 1_000_000_001))]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_literal_horizon_has_the_optimum_of_example_ec1(solver: str) -> None:
    answer = solve_model(EC1, solver=solver)
    assert answer.proven
    assert answer.schedule is not None
    assert require_feasible(answer.schedule).total_latency == 12


@pytest.mark.parametrize("ending", [".lp", ".mps"])
def test_exported_files_are_read_back_with_the_same_optimum(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"program{ending}"
    write(EC1, path)
    text = path.read_text()
    assert "x_3_0" in text
    assert "memory_1" in text
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert round(solver.getInfo().objective_function_value) == 12


def test_another_ending_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must end in \.lp or \.mps"):
        write(EC1, "program.txt")


def test_an_unknown_solver_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="solver 'ORACLE' is not available"):
        solve_model(EC1, solver="ORACLE")
    assert set(SOLVERS) <= set(pulp.listSolvers(onlyAvailable=True))


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_incumbent_at_the_time_limit_is_not_called_proven(solver: str) -> None:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, 7)
    output = [int(rng.integers(1, 40 - s + 1)) for s in prompt]
    instance = Instance("hard", 40, [0] * 7, prompt, output)
    answer = solve_model(instance, [45] * 7, solver=solver, time_limit=0.5)
    assert not answer.proven
    if answer.schedule is not None:
        require_feasible(answer.schedule)
