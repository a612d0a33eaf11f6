"""Growth rows hold for every feasible schedule, and their duals prove no more than the optimum."""

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import STEP_CHANGES, assert_no_other_bound, breaks_each_rule, keeps_everything
from tiny_instances import tiny

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.certificates import certify_growth as checker
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.certify_growth import scaled_growth_value
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.relaxation import growth
from ratiolab.hindsight.relaxation.ascent import Problem, ascend, fluid_duals
from ratiolab.hindsight.relaxation.growth import certified, growth_bounds, growth_row
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import FormatError, Instance, Schedule
from ratiolab.model.feasibility import violations
from ratiolab.workloads.generators import generate


def feasible(instance: Instance, latest: int) -> Iterator[list[int]]:
    """All starts of a feasible schedule in which nobody waits longer than ``latest``."""
    for waits in product(range(latest + 1), repeat=len(instance)):
        starts = [a + wait for (a, _, _), wait in zip(instance.requests, waits, strict=True)]
        if not violations(Schedule.from_starts(instance, starts)):
            yield starts


def left_side(instance: Instance, starts: list[int], time: int, tokens: int, rounds: int) -> int:
    """The left side of a growth row, as it is written."""
    total = 0
    for (_, prompt, output), start in zip(instance.requests, starts, strict=True):
        done = start + output
        if start < time <= done:
            held = prompt + time - start
            total += tokens * held + rounds * min(tokens, held)
        if time <= done < time + rounds:
            total -= instance.memory * (rounds - (done - time))
    return total


@pytest.mark.parametrize(
    "seed", [*range(48), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(48, 96))]
)
def test_every_row_holds_in_every_schedule(seed: int) -> None:
    instance = tiny(seed, most=4, longest=4)
    memory = instance.memory
    for starts in feasible(instance, 5 if len(instance) < 4 else 3):
        for tokens, rounds in product({1, 2, 3, memory // 2 + 1, memory}, {1, 2, 3, 5}):
            for time in range(14):
                assert left_side(instance, starts, time, tokens, rounds) <= tokens * memory


def by_definition(instance: Instance, duals: GrowthDuals) -> int:
    """Every start up to the end of the duals, every age, time by time."""
    token: dict[int, int] = {}
    growth: list[dict[int, int]] = [{} for _ in duals.rows]
    before = duals.begin
    for run, end in enumerate(duals.ends):
        for time in range(before + 1, end + 1):
            token[time] = duals.token[run]
            for row, priced in zip(duals.growth, growth, strict=True):
                priced[time] = row[run]
        before = end
    memory = instance.memory

    def cost(p: int, a: int, s: int, o: int) -> int:
        total = duals.denominator * (p + o - a)
        for g in range(1, o + 1):
            total += token.get(p + g, 0) * (s + g)
        for (m0, w), priced in zip(duals.rows, growth, strict=True):
            for g in range(1, o + 1):
                total += priced.get(p + g, 0) * (m0 * (s + g) + w * min(m0, s + g))
            for wait in range(w):
                total -= memory * priced.get(p + o - wait, 0) * (w - wait)
        return total

    paid = sum(token.values())
    paid += sum(m0 * sum(row.values()) for (m0, _), row in zip(duals.rows, growth, strict=True))
    return -memory * paid + sum(
        min(cost(p, a, s, o) for p in range(a, max(before, a) + 30))
        for a, s, o in instance.requests
    )


@pytest.mark.long
@given(
    seed=st.integers(0, 10**6),
    begin=st.integers(-2, 6),
    denominator=st.integers(1, 200),
    lengths=st.lists(st.integers(1, 4), max_size=7),
    rows=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), max_size=3),
    draw=st.randoms(use_true_random=False),
)
@settings(max_examples=600, deadline=None)
def test_any_duals_prove_at_most_the_optimum_and_are_priced_exactly(
    seed: int,
    begin: int,
    denominator: int,
    lengths: list[int],
    rows: list[tuple[int, int]],
    draw: Any,
) -> None:
    instance = tiny(seed, most=4)
    ends = tuple((begin + np.cumsum(lengths)).tolist()) if lengths else ()
    values = [tuple(draw.randint(0, 9) for _ in ends) for _ in range(1 + len(rows))]
    duals = GrowthDuals(denominator, begin, ends, values[0], tuple(rows), tuple(values[1:]))
    value = scaled_growth_value(duals, instance)
    assert value == by_definition(instance, duals)
    assert Fraction(value, denominator) <= brute_force(instance).total_latency


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 320, 5))
def test_the_bound_of_an_ascent_is_certified_and_at_most_the_optimum(seed: int) -> None:
    instance = tiny(seed, most=6, longest=6)
    optimum = brute_force(instance).total_latency
    fluid, width = fluid_duals(instance, instance.memory)
    for rows in ((), (growth_row(instance),), ((2, 1), (3, 4))):
        problem = Problem.of(instance, instance.memory, rows)
        start = np.zeros((1 + len(rows), len(fluid)))
        start[-1] = fluid
        duals, _ = ascend(problem, start, width, 60)
        proof = certified(instance, problem, duals, width)
        assert certify(proof, instance) == proof.bound <= optimum


@pytest.mark.long
@pytest.mark.parametrize("block", range(16))
def test_two_thousand_instances_of_up_to_eight_requests_have_no_optimum_below_a_bound(
    block: int,
) -> None:
    met = 0
    for seed in range(128 * block, 128 * (block + 1)):
        instance = tiny(seed, most=8, longest=6)
        optimum = tiny_optimum(instance).latency
        assert optimum is not None
        fluid, width = fluid_duals(instance, instance.memory)
        families = (), (growth_row(instance),), ((1, 2),), ((2, 1), (3, 4), (instance.memory, 3))
        for rows in families:
            problem = Problem.of(instance, instance.memory, rows)
            start = np.outer(np.full(1 + len(rows), 1 / (1 + len(rows))), fluid)
            duals, _ = ascend(problem, start, width, 20)
            proof = certified(instance, problem, duals, width)
            assert certify(proof, instance) == proof.bound <= optimum
            met += proof.bound == optimum
    assert met > 50  # what proves too much by one would be seen


def long_tails(n: int, rate: float) -> Instance:
    rng = np.random.default_rng(3)
    prompt = np.clip(np.exp(4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.8 + 1.1 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    arrival = np.cumsum(rng.exponential(1 / rate, n))
    return Instance(f"{n} at {rate}", 5_000, arrival.astype(np.int64), prompt, output)


@pytest.fixture(scope="module")
def hundred() -> tuple[Instance, GrowthCertificate]:
    instance = long_tails(120, 0.6)
    rows, (fluid, width) = (growth_row(instance), (700, 9)), fluid_duals(instance, 5_000, 64)
    problem = Problem.of(instance, instance.memory, rows)
    duals, _ = ascend(problem, np.outer([0.5, 0.5, 0.0], fluid), width, 300)
    return instance, certified(instance, problem, duals, width)


def test_growth_rows_prove_more_than_memory_rows(
    hundred: tuple[Instance, GrowthCertificate],
) -> None:
    instance, proof = hundred
    fluid, width = fluid_duals(instance, 5_000, 64)
    problem = Problem.of(instance, instance.memory)
    duals, _ = ascend(problem, fluid[None, :], width, 300)
    alone = certified(instance, problem, duals, width)
    assert alone.bound < proof.bound <= best_list_schedule(instance).total_latency


test_a_file_keeps_everything_and_is_small = keeps_everything("hundred", 50_000)


@pytest.mark.long
def test_no_change_proves_another_bound(
    tmp_path: Path, hundred: tuple[Instance, GrowthCertificate]
) -> None:
    instance, proof = hundred
    names = ("begin", "ends", "token", "rows", "growth")
    assert_no_other_bound(tmp_path / "c.json", proof, instance, names, range(0, 60, 4), 0.8)


test_each_rule_has_a_certificate_that_breaks_it = breaks_each_rule(
    "hundred",
    [
        *STEP_CHANGES,
        (lambda d: d["growth"][1].__setitem__(2, -1), "run 2 is negative"),
        (lambda d: d["growth"][1].append(1), "growth must hold"),
        (lambda d: d["growth"].pop(), "growth must hold"),
        (lambda d: d["rows"][0].__setitem__(0, 0), "row 0: 0 tokens"),
        (lambda d: d["rows"][1].__setitem__(1, -3), "row 1: 700 tokens, -3 rounds"),
        (lambda d: d["rows"][1].append(1), "at most 2 items"),
    ],
)


def test_a_proof_that_takes_too_long_is_refused_before_it_begins(
    hundred: tuple[Instance, GrowthCertificate], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.Costs, "least", None)
    with allowing(0.01), pytest.raises(TooCostlyError, match=r"checking takes up to .* steps"):
        certify(hundred[1], hundred[0])


def test_the_digits_are_of_the_growth_rows_too(
    tmp_path: Path, hundred: tuple[Instance, GrowthCertificate]
) -> None:
    path = tmp_path / "c.json"
    write_certificate(hundred[1], path)
    data = json.loads(path.read_text())
    data["growth"][0][3] += 1
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match="check"):
        read_certificate(path)


def test_the_first_bound_comes_before_an_ascent_which_never_makes_it_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = generate("trace-conversations", 0, n=60, load=1.5)
    began: list[object] = []

    def astray(problem: Problem, duals: Any, *rest: object) -> tuple[Any, float]:
        began.append(problem)
        return 0 * duals, -1.0

    monkeypatch.setattr(growth, "ascend", astray)
    proofs = growth_bounds(instance, 1e6)
    first = next(proofs)
    assert not began
    assert certify(first, instance) == first.bound > 0
    assert list(proofs) == []
    assert began
