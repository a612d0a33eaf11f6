"""Growth rows and their duals prove no more than the optimum, and good duals good bounds."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import breaks_each_rule
from scipy.optimize import linprog
from scipy.sparse import coo_array
from tiny_instances import tiny

from ratiolab.hindsight import OptResult, bracket, solve
from ratiolab.hindsight.bounds import best_lower_bound, mean_busy_time
from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.hindsight.certificates import certify_growth as checker
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.certify_growth import scaled_growth_value
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
from ratiolab.hindsight.relaxation.ascent import Problem, ascend, fluid_duals
from ratiolab.hindsight.relaxation.growth import certified, dual_bound, growth_row
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance, Schedule
from ratiolab.model.feasibility import violations


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
    "seed", [*range(16), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(16, 96))]
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


@given(
    seed=st.integers(0, 10**6),
    begin=st.integers(-2, 6),
    denominator=st.integers(1, 200),
    lengths=st.lists(st.integers(1, 4), max_size=7),
    rows=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), max_size=3),
    draw=st.randoms(use_true_random=False),
)
@settings(max_examples=100, deadline=None)
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
@pytest.mark.parametrize("block", range(8))
def test_a_thousand_instances_of_up_to_eight_requests_have_no_optimum_below_a_bound(
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


test_each_rule_has_a_certificate_that_breaks_it = breaks_each_rule(
    "hundred",
    [
        (lambda d: d.update(digest="0" * 12), "digest"),
        (lambda d: d.update(bound=d["bound"] + 1), "is proven"),
        (lambda d: d.update(value=d["value"] + 1), "the duals prove"),
        (lambda d: d.update(denominator=0), "denominator 0"),
        (lambda d: d.update(denominator=1.5), "must be an integer"),
        (lambda d: d["token"].__setitem__(0, -1), "run 0 is negative"),
        (lambda d: d["token"].__setitem__(0, True), "True must be an integer"),
        (lambda d: d["token"].append(1), "token must hold"),
        (lambda d: d["ends"].__setitem__(1, d["ends"][0]), "run 1 ends at"),
        (lambda d: d["ends"].__setitem__(-1, 10**9), "duals reach over|up to"),
        (lambda d: d.pop("begin"), "begin is missing"),
        (lambda d: d.update(memory=[1]), "unknown key 'memory'"),
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


MEMORY = 5_000


def log_normal(n: int, rate: float, seed: int = 7) -> Instance:
    """Requests with long tails: mean prompt about 40 and mean output about 85, each up to 2,000."""
    rng = np.random.default_rng(seed)
    prompt = np.clip(np.exp(2.4 + 1.6 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    output = np.clip(np.exp(3.8 + 1.1 * rng.standard_normal(n)), 1, 2000).astype(np.int64)
    arrival = np.zeros(n) if not rate else np.cumsum(rng.exponential(1 / rate, n))
    return Instance(f"{n} at {rate}", MEMORY, arrival.astype(np.int64), prompt, output)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.6])
def test_the_ascent_beats_the_cheap_bounds_and_stays_below_a_schedule(rate: float) -> None:
    instance = log_normal(800, rate)
    upper = best_list_schedule(instance).total_latency
    start = dual_bound(instance, upper, steps=0).bound
    climbed = dual_bound(instance, upper, steps=60).bound
    assert mean_busy_time(instance).value < start <= climbed <= upper
    assert best_lower_bound(instance).value < climbed


def linear_relaxation(instance: Instance) -> float:
    """The optimum over requests started in parts, by a solver."""
    starts, entries = [], []
    horizon = int(instance.arrival.max() + instance.output.sum())
    for i, (a, _, o) in enumerate(instance.requests):
        starts += [(i, p, p + o - a) for p in range(a, horizon - o + 1)]
    for column, (i, p, _) in enumerate(starts):
        s, o = int(instance.prompt[i]), int(instance.output[i])
        entries += [(p + g - 1, column, s + g) for g in range(1, o + 1)]
    row, column, tokens = np.array(entries).T
    memory = coo_array((tokens, (row, column)), shape=(horizon, len(starts))).tocsr()
    who, _, cost = np.array(starts).T
    once = coo_array((np.ones(len(who)), (who, np.arange(len(who))))).tocsr()
    answer = linprog(
        cost,
        A_ub=memory,
        b_ub=np.full(horizon, instance.memory),
        A_eq=once,
        b_eq=np.ones(len(instance)),
    )
    assert answer.success
    return float(answer.fun)


@pytest.mark.parametrize("seed", range(4))
def test_the_ascent_reaches_the_linear_relaxation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prompt, output = rng.integers(1, 20, 25), rng.integers(1, 9, 25)
    instance = Instance("small", 60, rng.integers(0, 15, 25), prompt, output)
    limit = linear_relaxation(instance)
    bound = dual_bound(instance, 10**6).bound
    assert 0.98 * limit <= bound <= math.ceil(limit - 1e-6)


def test_the_largest_numbers_stay_exact() -> None:
    # duals reach 2^21 rounds only, and their unit grows until 64 bits hold everything
    huge = 10**9
    one = Instance("huge", huge, [0, huge], [0, 0], [huge, huge])
    assert 2 * huge <= dual_bound(one, 3 * huge, steps=0).bound <= 3 * huge
    many = Instance("many", huge, [0] * 50, [huge // 2] * 50, [10] * 50)
    # two never fit together: 10 + 20 + ... + 500
    assert 500 <= dual_bound(many, 12_750, steps=20).bound <= 12_750


@pytest.mark.long
@pytest.mark.parametrize("door", [bracket, partial(solve, method="cuts")])
def test_instances_without_a_program_get_this_bound(door: Callable[..., OptResult]) -> None:
    instance = log_normal(MOST_REQUESTS + 1, 0.6)
    result = door(instance, steps=1_000)
    assert result.lower_source == "lagrangian"
    assert best_lower_bound(instance).value < result.lower <= result.upper
    assert result.lower == dual_bound(instance, result.upper).bound
