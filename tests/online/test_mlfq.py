"""Skip-join queues against lists that are moved by hand every round."""

import pytest
import reference_mlfq
from drawn import drawn, in_two
from round_by_round import serve

from ratiolab.model import violations
from ratiolab.online import make, simulate
from ratiolab.online.clock import clock_of

CASES = [
    {"slice": 1, "ratio": 2, "queues": 3, "prompt": 1, "patience": 0, "batch": 0},
    {"slice": 1, "ratio": 2, "queues": 4, "prompt": 2, "patience": 3, "batch": 3},
    {"slice": 2, "ratio": 3, "queues": 2, "prompt": 100, "patience": 5, "batch": 0},
    {"slice": 1, "ratio": 2, "queues": 8, "prompt": 1, "patience": 1, "batch": 2},
    {"slice": 3, "ratio": 2, "queues": 1, "prompt": 1, "patience": 0, "batch": 0},
]


@in_two(20, 400)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_every_run_is_that_of_the_lists(case, seeds):
    evicting = 0
    for seed in seeds:
        instance = drawn(seed)
        preemption = ("recompute", "swap", "pause")[seed % 3]
        rule = reference_mlfq.Queues(**case)
        expected, complete = serve(instance, rule, 800, preemption)
        assert complete
        simulation = simulate(instance, make("mlfq", case), preemption=preemption)
        runs = [(run.request, run.start, run.stop) for run in simulation.schedule.runs]
        assert runs == [run[:3] for run in expected], seed
        if preemption == "pause":
            assert simulation.schedule.release.tolist() == [run[3] for run in expected], seed
        assert violations(simulation.schedule) == []
        evicting += simulation.schedule.preemptions > 0
    assert evicting > len(seeds) / 12


def test_the_default_cost_of_a_prompt_is_that_of_the_measured_clock():
    """To ten tokens, for 12 requests that fill a memory of 16,492 tokens."""
    clock = clock_of("vidur-llama2-70b-2xa100")
    decoding = clock.fixed + 12 * clock.decode + 16_492 * clock.kv
    assert make("mlfq").prompt == round(decoding / clock.prefill, -1)
