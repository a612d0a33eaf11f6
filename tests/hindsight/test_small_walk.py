"""The walk of few requests: its cuts are valid, and it finds the optimum without compiled code."""

import subprocess
import sys

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.cuts.configurations import heaviest, real_items
from ratiolab.hindsight.cuts.counts import most_at_once
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.path_stages import SmallWalk
from ratiolab.hindsight.paths.potentials import Potentials, directions
from ratiolab.hindsight.paths.small import small_walk
from ratiolab.hindsight.paths.walk import walk
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.state import SolveState
from ratiolab.model import Instance
from ratiolab.model.feasibility import violations
from ratiolab.model.schedule import Schedule


def drawn(seed: int, n: int = 6) -> Instance:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(1, 4, n)
    output = [int(rng.integers(1, 16 - s)) for s in prompt]
    return Instance(f"drawn {seed}", 16, np.sort(rng.integers(0, 1 + seed % 9, n)), prompt, output)


def test_no_configuration_holds_more_than_the_cap() -> None:
    """Sets of which at most some items fit, against the program over all configurations."""
    rng = np.random.default_rng(3)
    for seed in range(20):
        instance = drawn(seed)
        items = real_items(instance)
        m, r = items[rng.choice(len(items), min(12, len(items)), replace=False)].T
        for cap in (1, 2, 3):
            value, table = most_at_once(16, cap, m, r, np.ones(len(m)))
            if not table:
                continue
            rises, rounds, weights = zip(*table, strict=True)
            worst, _ = heaviest(list(zip(rises, rounds, strict=True)), weights, 16)
            assert worst <= cap, seed
            held = [any(a <= x and b <= y for a, b, _ in table) for x, y in zip(m, r, strict=True)]
            assert sum(held) == value, seed


def solved(seed: int) -> SolveState:
    instance = tiny(seed) if seed % 2 else drawn(seed, 5)
    state = SolveState(instance, SolveOptions("auto"))
    with state.running("few requests") as call:
        state.keep(SmallWalk(part=1.0)(state, call))
    assert state.upper == state.lower.value == state.certificate.bound, seed
    assert state.upper == least_latency(instance), seed
    return state


def test_the_walk_finds_what_brute_force_finds_and_its_certificate_holds() -> None:
    for seed in range(16):
        state = solved(seed)
        if seed % 4 == 0:
            assert certify(state.certificate, state.instance) == state.upper


@pytest.mark.long
def test_the_walk_finds_what_brute_force_finds_for_many() -> None:
    for seed in range(16, 1_500):
        state = solved(seed)
        assert certify(state.certificate, state.instance) == state.upper


@pytest.mark.parametrize("seed", [1, 4])
def test_arrays_and_compiled_loops_agree(seed: int) -> None:
    """Also on the cheapest cost, in parts of a round, with a limit above the optimum."""
    instance = drawn(seed, 9)
    proven = cut_bound(instance, rounds=2, counts=True).certificate
    costs = Potentials.of(instance, proven.duals)
    base = int(costs.least.sum() - costs.capacity.sum())
    limit = (proven.bound + 40) * costs.unit - base
    sides = directions(costs, costs.least, limit)
    for side in sides:
        found = small_walk(instance, [side], limit, lambda: False)
        compiled = walk(instance, side, limit, 10**6, remembered=2**9 - 1)
        assert found is not None
        assert found.forward == side.forward
        assert found.least == compiled.least <= limit
        schedule = Schedule.from_starts(instance, np.array(found.starts))
        assert not violations(schedule)
        assert schedule.total_latency * costs.unit == base + found.least
    assert small_walk(instance, sides, limit, lambda: True) is None
    below = compiled.least - 1
    found = small_walk(instance, directions(costs, costs.least, below), below, lambda: False)
    assert found is not None
    assert found.least == below + 1


def test_ten_requests_are_solved_without_compiling() -> None:
    code = (
        "import sys; from ratiolab.hindsight import solve;"
        "from ratiolab.workloads.generators import generate;"
        "r = solve(generate('jaillet-model-1', 0, n_least=10, n_most=10));"
        "print(r.status, r.upper, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["optimal", "831", "False"]


def test_a_limit_leaves_what_is_proven() -> None:
    result = solve(drawn(5, 10), time_limit=0.01)
    assert result.lower <= result.upper
