"""Keys stand for policies, routers and clocks wherever one is taken; all else is refused."""

from typing import Any

import pytest

from ratiolab import Fleet, attack, evaluate, make_policy, simulate, simulate_fleet
from ratiolab.evaluation.fleets import evaluate_fleet
from ratiolab.model import Instance
from ratiolab.online.clock import clock_of
from ratiolab.online.fleets.registry import as_router
from ratiolab.testing import assert_lawful, assert_non_anticipating, assert_ratio_at_most

NAME = "llama3-8b-a100"
PAIR = Instance("pair", 6, [0, 1], [1, 1], [2, 4], tick_seconds=0.01)
WRONG: Any = 5
NONE: Any = None


def test_a_name_stands_for_a_clock():
    assert simulate(PAIR, "fcfs", clock=NAME).clock == clock_of(NAME)
    assert simulate_fleet(Fleet(PAIR, 2), "fcfs", clock=NAME).clock == clock_of(NAME)


def test_a_key_stands_for_a_policy():
    assert attack("mc-sf", evaluations=2, runs=1).policy == make_policy("mc-sf")
    assert_lawful("fcfs", PAIR)
    assert_non_anticipating("fcfs", PAIR)
    assert_ratio_at_most("fcfs", [PAIR], 9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: simulate(PAIR, "fcfs", clock=WRONG), "clock 5 must be a BatchTime"),
        (lambda: evaluate(PAIR, ["fcfs"], clock=WRONG), "clock 5 must be a BatchTime"),
        (lambda: evaluate_fleet(Fleet(PAIR, 2), clock=WRONG), "clock 5 must be a BatchTime"),
        (lambda: simulate(PAIR, "fcfs", clock="sundial"), "clock 'sundial' must be"),
        (lambda: make_policy(NONE), "policy None must be a key"),
        (lambda: as_router(NONE), "router None must be a key"),
        (lambda: attack(NONE, evaluations=2), "policy"),
        (lambda: assert_lawful(NONE, PAIR), "policy"),
    ],
)
def test_what_is_neither_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
