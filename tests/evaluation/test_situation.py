"""What an evaluation says first: load, who keeps up, what waits; and what it does not recommend."""

import numpy as np
import pytest
from drawn_logs import drawn

from ratiolab.evaluation.advice import figure
from ratiolab.evaluation.demand import Demand, running_at_a_time, waiting_share, works
from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.needs import Need, need, need_in_words
from ratiolab.evaluation.result import Evaluation
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.workloads.predictions import add_predictions
from ratiolab.workloads.traces import instance_from_trace

CLOCK = BatchTime(fixed=0.02, prefill=0.0002, decode=0.0005, kv=0.000002)


def instance_of(rate: float, n: int = 80, memory: int = 2500) -> Instance:
    return instance_from_trace(drawn(n, rate), memory=memory, rounds_per_second=1000)


def evaluated(instance: Instance, *keys: str, **options: object) -> Evaluation:
    policies = [make(key) for key in keys]
    return evaluate(instance, policies, clock=CLOCK, load=False, **options)


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
def test_the_work_of_a_request_is_the_least_time_of_its_batches(preemption):
    """Token by token: its share of the fixed time, and what it adds; alone it takes no less."""
    rng = np.random.default_rng(2)
    columns = [0] * 20, rng.integers(0, 60, 20), rng.integers(1, 50, 20)
    instance = Instance("some", 200, *columns)
    found = works(instance, CLOCK, preemption)
    for i, (prompt, output) in enumerate(zip(*columns[1:], strict=True)):
        own = 0.0
        for token in range(1, output + 1):
            held = prompt + token
            own += CLOCK.fixed * held / 200
            if token == 1:
                own += CLOCK.prefill * prompt
                continue
            decoded = CLOCK.decode + CLOCK.kv * (held - 1)
            refilled = CLOCK.prefill * (held - 1)
            own += decoded if preemption == "restart" else min(decoded, refilled)
        assert found[i] == pytest.approx(own)
    run = simulate(instance, make("fcfs"), clock=CLOCK)
    assert found.sum() <= per_request(run)["completion"].max() + 1e-9


def test_a_load_above_one_is_told_and_no_policy_keeps_up():
    instance = instance_of(20.0, 400)
    made = evaluated(instance, "fcfs", "svf")
    load = Demand.of(instance, CLOCK, "recompute").load
    assert load > 1
    assert made.overloaded
    assert not any(row.keeps_up for row in made.rows)
    first, second = made.situation
    assert first.startswith(f"400 requests arrive over {figure(made.demand.span)} s")
    assert second.startswith(f"The log asks for {load:.3g} times what this memory sustains: no")
    assert "More GPUs or fewer requests" in second


def test_where_nothing_waits_scheduling_changes_nothing_and_no_gain_is_promised():
    made = evaluated(instance_of(0.05, 40, 20_000), "fcfs", "rr", "svf-1bit", "svf")
    now = made.row("fcfs")
    assert waiting_share(now.run) == pytest.approx(0, abs=1e-9)
    assert made.nothing_waits
    assert made.situation[1].startswith("Nothing waits: the log asks for ")
    assert made.situation[1].endswith("Scheduling changes nothing.")
    assert made.headline == "Keep fcfs: no policy is noticeably better, whatever it knows."
    assert "what cannot be proven, not what can be saved" in made.advice[-1]
    assert made.with_predictions == made.drawbacks == ""
    assert running_at_a_time(now.run) == pytest.approx(
        now.services[0].latency.sum() / made.demand.span, rel=0.2
    )


def test_a_request_that_waits_is_seen():
    """Two requests of which one fits at a time."""
    together = Instance("two", 9, [0, 0], [4, 4], [5, 5])
    run = simulate(together, make("fcfs"), clock=CLOCK)
    latency = per_request(run)["latency"]
    # the second waits until the first has ended, and then takes as long
    assert waiting_share(run) == pytest.approx(latency[0] / latency.sum(), rel=0.01)
    apart = together.replace(arrival=[0, 1000], tick_seconds=1.0)
    assert waiting_share(simulate(apart, make("fcfs"), clock=CLOCK)) == pytest.approx(0, abs=1e-9)
    # the wait for the end of a batch that runs is none
    beside = together.replace(memory=30, arrival=[0, 10], tick_seconds=0.001)
    assert waiting_share(simulate(beside, make("fcfs"), clock=CLOCK)) == pytest.approx(0, abs=1e-9)


def test_a_policy_that_needs_a_bit_is_not_recommended_and_its_source_is_named():
    instance = instance_of(4.0, 150)
    made = evaluated(instance, "fcfs", "svf-1bit", "svf")
    assert [row.name for row in made.deployable] == ["fcfs"]
    assert [row.name for row in made.predicting] == ["svf-1bit"]
    assert [row.name for row in made.knowing] == ["svf"]
    assert made.saving is None
    assert "svf-1bit" not in made.headline
    better = made.row("svf-1bit").value(made.metric) < 0.99 * made.row("fcfs").value(made.metric)
    assert better
    assert made.with_predictions.startswith("Not recommended as it stands: svf-1bit has a mean")
    assert "one bit of each output, short or long, which this log has not" in made.with_predictions
    assert made.with_predictions in made.advice


def test_what_a_policy_needs_depends_on_what_the_instance_states():
    plain = instance_of(1.0, 20)
    told = add_predictions(plain, "noisy:0.5", 0)
    for key, expected in (
        ("fcfs", Need.NOTHING),
        ("learned-caps", Need.NOTHING),
        ("svf-1bit", Need.PREDICTION),
        ("sjf", Need.PREDICTION),
        ("svf", Need.EVERYTHING),
        ("a-random", Need.EVERYTHING),
    ):
        assert need(make(key), plain) is expected
    assert "a predicted length of each output" in need_in_words(make("sjf"), told)
    bounded = plain.replace(lower=[1] * 20)
    assert need(make("learned-caps"), bounded) is Need.PREDICTION


def test_a_switch_that_makes_another_figure_much_worse_says_so_in_its_sentence():
    instance = instance_of(40.0)
    made = evaluated(instance, "rr", "fcfs", current="rr")
    best, now = made.deployable[0], made.row("rr")
    grave = {
        metric.title: best.value(metric) / now.value(metric)
        for metric in made.metrics
        if best.value(metric) > 1.5 * now.value(metric)
    }
    assert grave
    first = made.headline
    for title, ratio in grave.items():
        assert f"{title} " in first
        assert f"({ratio:.1f} times)" in first
    assert not made.headline.startswith("Switch")


def test_a_better_policy_without_a_grave_cost_is_named_beside_one_that_has_it():
    made = evaluated(instance_of(4.0), "fcfs", "mlfq", "sarathi", "vllm-priority")
    now = made.row("fcfs")
    mild = [
        row
        for row in made.deployable
        if row.value(made.metric) < 0.99 * now.value(made.metric)
        and all(row.value(m) <= 1.5 * now.value(m) for m in made.metrics)
    ]
    assert mild[0].name != made.deployable[0].name
    assert made.milder.startswith(f"Without such a cost, {mild[0].name} has")
    assert made.advice[1] == made.milder
    alone = evaluated(instance_of(0.05, 40, 20_000), "fcfs", "rr")
    assert alone.milder == ""


def test_all_at_once_is_no_load():
    made = evaluated(Instance("four", 30, [0] * 4, [1] * 4, [1, 2, 3, 4]), "fcfs")
    assert made.demand.load is None
    assert made.situation == [
        "4 requests arrive at once: how much of a load they are cannot be told."
    ]
