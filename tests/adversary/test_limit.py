"""The limit of a family: its program by another solver, its proof, and members that obey it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ratiolab.adversary import Case, Limits
from ratiolab.adversary.fluid import fluid_optimum
from ratiolab.adversary.limit import attack_limit, limit_of
from ratiolab.adversary.several import Order, worst_of
from ratiolab.executors import opened
from ratiolab.online import make

CASES = [
    Case.of(21, [(0, 5, 3, 15)]),
    Case.of(24, [(0, 6, 1, 3), (0, 2, 7, 9)]),
    Case.of(10, [(2, 5, 3, 5), (3, 5, 1, 4)]),
]


def program(case: Case) -> float:
    """Return the value of the linear program, dense and with a horizon that is long enough."""
    horizon = 2 * sum(b.number * b.output for b in case.blocks) + 5
    columns = [(k, p) for k, b in enumerate(case.blocks) for p in range(b.arrival, horizon)]
    held = np.zeros((horizon + case.longest + 1, len(columns)))
    group = np.zeros((len(case.blocks), len(columns)))
    cost = []
    for column, (k, p) in enumerate(columns):
        block = case.blocks[k]
        group[k, column] = 1
        cost.append(p + block.output - block.arrival)
        for age in range(1, block.output + 1):
            held[p + age, column] = block.prompt + age
    numbers = [b.number for b in case.blocks]
    found = linprog(
        cost,
        A_ub=held,
        b_ub=[case.memory] * len(held),
        A_eq=group,
        b_eq=numbers,
        method="highs-ipm",
    )
    return float(found.fun)


@pytest.mark.parametrize("case", CASES)
def test_the_program_has_the_value_of_another_formulation_and_its_proof_is_below(case):
    found = fluid_optimum(case)
    assert found.value == pytest.approx(program(case), rel=1e-6)
    assert found.value * (1 - 1e-5) < found.proven <= found.value * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES)
def test_feasible_schedules_of_large_members_come_near_the_proof(case):
    found = fluid_optimum(case)
    excess = [found.latency(case, factor) / (factor * found.proven) - 1 for factor in (8, 64)]
    assert 0 <= excess[1] < 0.05
    assert excess[1] < excess[0]


def test_mc_sf_on_equal_requests_tends_to_what_batches_cost():
    # no prompts, 30 requests of 9 tokens on 18: 15 batches of two in whole and in parts alike
    limit = limit_of(make("mc-sf"), Case.of(18, [(0, 0, 9, 30)]))
    batches = sum(2 * 9 * k for k in range(1, 16))
    assert [member.cost for member in limit.members] == [m.factor * batches for m in limit.members]
    low, high = limit.members[-1].ratio
    assert low <= batches / limit.optimum.value <= high * (1 + 1e-9)
    assert high - low < 0.05
    assert limit.to_dict()["members"][0]["requests"] == 30


def test_a_search_for_a_family_finds_staggered_starts():
    found = attack_limit(make("mc-sf"), Limits(requests=12, memory=12), evaluations=80)
    assert found.best.ratio > 1.3
    assert found.limit.case == found.best.case
    ratios = [moment.ratio for moment in found.history]
    assert ratios == sorted(ratios)
    with pytest.raises(ValueError, match="evaluations or time_limit"):
        attack_limit(make("mc-sf"))


def test_ctrl_c_keeps_what_was_found(monkeypatch):
    from ratiolab.adversary.evaluate import Evaluator

    real, calls = Evaluator.candidate, []

    def candidate(self, case, above=0):
        calls.append(case)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return real(self, case, above)

    monkeypatch.setattr(Evaluator, "candidate", candidate)
    order = Order("fcfs", limits=Limits(requests=6, memory=10), evaluations=10**6)
    with opened("local", workers=1) as executor:
        found, stopped = worst_of(order, range(5), executor)
    assert stopped
    assert found.interrupted
    assert found.ratio > 1
