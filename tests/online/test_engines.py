"""Schedulers of serving engines against the literal loop over lists, and laws of their own."""

import pytest
import reference_engines as literal
from drawn import drawn, in_two

from ratiolab.online import make, simulate

VICTIMS = ("last", "least-computed", "most-computed", "longest-remaining")


def ended(simulation):
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def rules_of(key, parameters):
    """Who joins first and who leaves first, in the literal loop."""
    if key == "vllm-fcfs":
        return literal.fcfs, literal.VICTIMS[parameters["victim"]]
    length = {"prompt": lambda r: r.prompt, "predicted": lambda r: r.predicted}
    key = length[parameters["priority"]]
    return literal.by(key), literal.last_by(key)


CASES = [
    *(("vllm-fcfs", {"victim": victim}) for victim in VICTIMS),
    *(("vllm-priority", {"priority": priority}) for priority in ("prompt", "predicted")),
]


def word(case):
    return "-".join([case[0], *case[1].values()])


@in_two(100, 600)
@pytest.mark.parametrize("case", CASES, ids=word)
def test_an_engine_makes_every_run_of_the_literal_loop(case, seeds):
    key, parameters = case
    evicting = 0
    for seed in seeds:
        batch = (0, 1, 3)[seed % 3]
        expected = literal.serve(drawn(seed), *rules_of(key, parameters), batch)
        simulation = simulate(drawn(seed), make(key, parameters | {"batch": batch}))
        assert ended(simulation) == expected, seed
        evicting += simulation.schedule.evictions > 0
    assert evicting > len(seeds) / 8


def test_with_the_last_victim_vllm_keeps_the_order_of_arrival():
    for seed in range(100):
        one = simulate(drawn(seed), make("vllm-fcfs", {"batch": 3}))
        other = simulate(drawn(seed), make("fcfs", {"batch": 3}), preemption="recompute")
        assert ended(one) == ended(other), seed


def test_victims_differ():
    """Without it the comparison above would say little of them."""
    runs = {
        victim: [
            ended(simulate(drawn(seed), make("vllm-fcfs", {"victim": victim})))
            for seed in range(100)
        ]
        for victim in VICTIMS
    }
    for one in VICTIMS:
        assert all(runs[one] != runs[other] for other in VICTIMS if other != one)
