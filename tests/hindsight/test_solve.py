"""The one door: brute force = HiGHS = PuLP, and intervals that always hold the optimum."""

import subprocess
import sys
from contextlib import AbstractContextManager
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from clock import let_readings_take
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight import OptResult, Progress, bracket, solve
from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.params import ProgramParams, SolveParams
from ratiolab.hindsight.state import Callbacks, SolveState
from ratiolab.model import Instance, require_feasible
from ratiolab.workloads.generators import generate


def paper_like(seed: int, n: int) -> Instance:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 40 - s + 1)) for s in prompt]
    return Instance(f"paper-like {seed}", 40, [0] * n, prompt, output)


def check(result: OptResult) -> None:
    assert require_feasible(result.schedule).total_latency == result.upper
    assert 0 < result.lower <= result.upper
    assert result.is_exact == (result.status == "optimal") == (result.lower == result.upper)
    assert result.gap == Fraction(result.upper - result.lower, result.lower)
    assert result.lower_source
    assert result.is_exact or result.note


@pytest.mark.parametrize("seed", range(32))
def test_brute_force_highs_and_pulp_agree(seed: int) -> None:
    instance = tiny(seed)
    optimum = brute_force(instance).total_latency
    assert least_latency(instance) == optimum
    # without a search for a first schedule there is more left to prove
    for backend in ("highs", "pulp", "pulp:HiGHS"):
        result = solve(instance, backend=backend, steps=0)
        check(result)
        assert (result.status, result.upper, result.lower) == ("optimal", optimum, optimum), backend


@pytest.mark.parametrize("seed", range(16))
def test_the_optimum_does_not_rise_with_memory(seed: int) -> None:
    instance = tiny(seed)
    optima = [solve(instance.replace(memory=instance.memory + m)).upper for m in range(4)]
    assert optima == sorted(optima, reverse=True)


@pytest.mark.parametrize("tail", [-1.0, -0.7, 0.0, 3.0])
def test_the_first_horizon_does_not_matter(tail: float) -> None:
    # -1 starts at horizon 1, where nearly all is deferred: it has to be extended
    params = SolveParams(program=ProgramParams(tail=tail))
    for seed in range(16):
        instance = tiny(seed)
        result = solve(instance, steps=0, params=params)
        check(result)
        assert result.upper == result.lower == least_latency(instance)


@pytest.mark.long
def test_a_node_limit_gives_a_valid_and_repeatable_interval() -> None:
    instance = paper_like(3, 7)
    one, two = (solve(instance, node_limit=1, steps=100) for _ in range(2))
    check(one)
    assert (one.upper, one.lower, one.nodes) == (two.upper, two.lower, two.nodes)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["highs", "pulp"])
def test_a_time_limit_gives_a_valid_interval(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    let_readings_take(0.001, monkeypatch)
    result = solve(paper_like(1, 25), time_limit=1, backend=backend, steps=50)
    assert result.seconds < 1 + 20 * 0.001
    check(result)
    assert result.status == "bounded"
    assert "stopped before proof" in result.note or "too many for" in result.note
    if backend == "pulp":
        # PuLP gives no bound, so ours is the only one
        assert result.lower <= bracket(paper_like(1, 25)).lower


@pytest.mark.long
def test_a_program_is_left_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    let_readings_take(0.001, monkeypatch)
    params = SolveParams(program=ProgramParams(entries_a_second=10**6))
    result = solve(paper_like(1, 25), time_limit=0.5, method="ip", steps=50, params=params)
    check(result)
    assert result.note == "HiGHS stopped before proof: Time limit reached"


def test_progress_tells_proven_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    let_readings_take(0.01, monkeypatch)
    seen: list[Progress] = []
    result = solve(paper_like(1, 25), time_limit=1, steps=50, progress=seen.append)
    assert seen
    for now in seen:
        assert now.lower <= result.lower
        assert now.upper >= result.upper
        assert now.lower <= now.upper
    assert [now.seconds for now in seen] == sorted(now.seconds for now in seen)


@pytest.mark.parametrize("method", ["ip", "cuts", "dp", "brute"])
def test_every_method_holds_the_optimum_and_exact_ones_find_it(method: str) -> None:
    for seed in range(25):
        instance = tiny(seed)
        result = solve(instance, method=method, steps=0)
        check(result)
        assert result.lower <= least_latency(instance) <= result.upper
        assert certify(result.certificate, instance) == result.certified <= result.lower
        if method in ("ip", "dp", "brute"):
            assert result.is_exact


def test_the_stages_tell_what_each_left() -> None:
    result = solve(paper_like(1, 12), node_limit=1)
    assert [stage.name for stage in result.stages][:2] == ["bounds", "orders"]
    assert result.stages[-1].upper == result.upper
    assert result.stages[-1].lower == result.lower
    for before, after in pairwise(result.stages):
        assert before.seconds <= after.seconds
        assert before.lower <= after.lower
        assert before.upper >= after.upper


def test_ctrl_c_between_two_stages_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    running = SolveState.running

    def interrupted(state: SolveState, name: str) -> AbstractContextManager[Callbacks]:
        if name != "orders":
            raise KeyboardInterrupt
        return running(state, name)

    monkeypatch.setattr(SolveState, "running", interrupted)
    result = solve(paper_like(0, 14), steps=100)
    check(result)
    assert result.interrupted
    assert result.note == "Ctrl-C between two stages"
    assert [stage.name for stage in result.stages] == ["bounds", "orders"]


@pytest.mark.parametrize(("limit", "n"), [(0.3, 200), pytest.param(1, 300, marks=pytest.mark.long)])
def test_a_time_limit_is_heard_by_every_stage_also_for_many_requests(
    limit: float, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = let_readings_take(0.01, monkeypatch)
    result = solve(paper_like(2, n), time_limit=limit, steps=10**7)
    assert limit < clock.readings * clock.step < limit + 20 * clock.step
    check(result)


@pytest.mark.long
def test_programs_with_too_many_entries_are_not_built() -> None:
    rng = np.random.default_rng(2)
    prompt, output = rng.integers(1, 6, 30), rng.integers(2000, 4000, 30)
    for backend in ("highs", "pulp"):
        instance = Instance("long", 8000, [0] * 30, prompt, output)
        result = solve(instance, backend=backend, method="ip", steps=0)
        check(result)
        assert "non-zeros" in result.note


def test_a_bracket_holds_the_optimum() -> None:
    for seed in range(60):
        instance = tiny(seed)
        result = bracket(instance, steps=20)
        check(result)
        assert result.lower <= least_latency(instance) <= result.upper


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "gurobi"}, "backend 'gurobi' must be"),
        ({"backend": "highs:x"}, "backend 'highs:x' must be"),
        ({"time_limit": -1.0}, "time_limit -1.0 must be at least 0"),
        ({"node_limit": -1}, "node_limit -1 must be at least 0"),
        ({"method": "brute"}, "method 'brute': 9 requests, at most 8"),
        ({"backend": "pulp", "method": "dp"}, "method 'dp' must be 'ip'"),
        ({"backend": "pulp", "node_limit": 5}, "neither node_limit nor progress"),
        ({"backend": "pulp:ORACLE"}, "solver 'ORACLE' is not available"),
    ],
)
def test_impossible_wishes_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(paper_like(1, 9), steps=0, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "absent"),
    [("ratiolab", {"highspy", "pulp", "numba"}), ("ratiolab.hindsight", {"pulp"})],
)
def test_importing_the_package_imports_no_solver(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(*sorted({absent} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_ctrl_c_in_the_first_search_keeps_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["ratiolab.hindsight.stages"]

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "improved_schedule", interrupted)
    instance = Instance("tight", 12, [0, 0, 1, 2], [1, 2, 1, 3], [9, 3, 2, 4])
    result = solve(instance)
    assert result.note == "Ctrl-C in stage orders"
    assert result.lower <= result.upper == result.schedule.total_latency


def test_ctrl_c_while_a_stage_is_announced_keeps_what_is_known() -> None:
    def interrupted(now: Progress) -> None:
        if now.stage == "orders":
            raise KeyboardInterrupt

    result = solve(paper_like(0, 14), progress=interrupted)
    check(result)
    assert result.interrupted
    assert result.note == "Ctrl-C in stage orders"


KINDS = [
    ("jaillet-model-1", {"n_least": 10, "n_most": 10}),
    pytest.param("uniform", {"n": 410, "memory": 60}, marks=pytest.mark.long),
]


def answers(kind, settings, monkeypatch):
    """Return what a solve finds under a clock that stands nearly still, and one that races."""
    instance = generate(kind, 3, None, **settings)
    for seconds_a_reading in (1e-9, 1e4):
        with monkeypatch.context() as patched:
            let_readings_take(seconds_a_reading, patched)
            found = solve(instance)
        stages = [(s.name, s.lower, s.upper, s.nodes, s.note) for s in found.stages]
        yield found.lower, found.upper, found.schedule.starts.tolist(), stages


@pytest.mark.long
@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_solve_without_a_limit_finds_the_same_however_fast_the_clock(kind, settings, monkeypatch):
    slow, fast = answers(kind, settings, monkeypatch)
    assert slow == fast
