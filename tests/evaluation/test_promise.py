"""What `evaluate` says of an objective: who is in time, and which misses were unavoidable."""

import numpy as np
import pytest
from command_line import run, run_json

from ratiolab import evaluate, write_instance
from ratiolab.evaluation.service import Service
from ratiolab.hindsight import solve_promises
from ratiolab.model import Instance
from ratiolab.model.promises import with_limits


@pytest.fixture
def crowd():
    rng = np.random.default_rng(4)
    output, prompt = rng.integers(2, 12, 40), rng.integers(1, 20, 40)
    return Instance("crowd", 40, np.sort(rng.integers(0, 30, 40)), prompt, output)


@pytest.mark.long
def test_misses_are_counted_against_both_bounds(crowd):
    made = evaluate(crowd, ["fcfs", "svf"], slo="latency=11", metric="goodput", load=False)
    found = made.promise
    service: Service = made.row("fcfs").services[0]
    assert found.served == int((service.latency <= 11).sum())
    assert found.unreachable == tuple(np.flatnonzero(crowd.output > 11).tolist())
    optimum = solve_promises(with_limits(crowd, latency=11), "goodput", time_limit=20).lower
    assert optimum <= found.calm <= found.bound <= 40 - len(found.unreachable)
    assert found.bound / 40 == made.bounds["goodput"]
    first = " ".join(made.situation)
    assert f"In time under fcfs: {found.served} of 40; no schedule serves more than" in first
    assert f"at least {40 - found.bound} of them unavoidable" in first


def test_columns_of_promises_are_not_what_evaluate_judges(crowd):
    promised = crowd.replace(weight=[2] * 40, deadline=[99] * 40)
    made = evaluate(promised, ["fcfs", "edf"], load=False)
    assert made.situation[-1].startswith("Policies alone read the promises (weight, deadline)")
    assert made.promise is None


def test_simulate_tells_the_weight_in_time_and_its_bound(capsys, tmp_path, crowd):
    path = f"{tmp_path}/crowd.json"
    write_instance(crowd, path)
    asked = "simulate", path, "--policy", "svf", "--slo-latency", "11"
    found = run_json(capsys, *asked)
    (own,), told = found["runs"], found["goodput"]
    completions = np.array(own["completions"])
    assert own["goodput"] == (completions - crowd.arrival <= 11).sum() == told["mean"]
    assert told["mean"] <= told["bound"] < 40 - len(told["unreachable"])
    assert told["covers"] == "all schedules under restart"
    _, out, _ = run(capsys, *asked)
    assert out.startswith(f"in time: weight {own['goodput']} of 40; of all schedules under restart")
    code, _, err = run(capsys, *asked, "--clock", "llama3-8b-a100", "--tick-seconds", "0.1")
    assert code == 2
    assert "ratiolab evaluate --slo" in err
    assert "goodput" not in run_json(capsys, "simulate", path, "--policy", "svf")


def test_the_command_tells_what_was_unavoidable(capsys, tmp_path, crowd):
    path = f"{tmp_path}/crowd.json"
    write_instance(crowd, path)
    asked = "--clock", "unit", "--slo", "ttft=5,latency=10", "--policies", "fcfs,svf"
    found = run_json(capsys, "evaluate", path, *asked)["goodput"]
    assert found["unavoidable_misses"] == 40 - found["bound"] <= found["misses"]
    assert found["unreachable"] == np.flatnonzero(crowd.output > 10).tolist()
    assert found["bound_without_evictions"] <= found["bound"]
