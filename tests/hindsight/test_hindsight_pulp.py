"""The second build of the program: readable, exported, and of the same optimum."""

from pathlib import Path

import highspy
import numpy as np
import pulp
import pytest
from oracle import least_latency

from ratiolab.hindsight.programs.pulp import model, solve_model, write
from ratiolab.model import Instance, require_feasible

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
    prompt = rng.integers(1, 6, 12)
    output = [int(rng.integers(1, 40 - s + 1)) for s in prompt]
    instance = Instance("hard", 40, [0] * 12, prompt, output)
    answer = solve_model(instance, [120] * 12, solver=solver, time_limit=1)
    assert not answer.proven
    if answer.schedule is not None:
        require_feasible(answer.schedule)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_seed_finds_the_optimum(solver: str) -> None:
    instance = Instance("tiny", 6, [0, 1, 0, 2], [1, 2, 0, 1], [3, 2, 4, 1])
    optimum = least_latency(instance)
    for seed in (0, 7):
        answer = solve_model(instance, solver=solver, seed=seed)
        assert answer.proven
        assert answer.schedule is not None
        assert answer.schedule.total_latency == optimum
