"""Readings of Section 5.1: each obeys its own rules, and the one as described is the model's."""

import numpy as np
import pytest
from oracle import least_latency

from ratiolab.online import make, simulate
from ratiolab.papers.jaillet2025 import tasks
from ratiolab.papers.jaillet2025.interpretation_kernels import Case, prefixes, serial
from ratiolab.papers.jaillet2025.interpretations import READINGS, STARTS, Reading, Rules, held
from ratiolab.studies.cell import Cell, Value
from ratiolab.studies.tasks import TASKS

pytestmark = pytest.mark.long  # kernels of their own are compiled for ten seconds

SMALL = {"n_least": 3, "n_most": 4, "memory_least": 8, "memory_most": 12}


@pytest.mark.parametrize("model", [1, 2])
@pytest.mark.parametrize(
    ("key", "policy"), [("described", "mc-sf"), ("by-volume", "svf"), ("output-5", "mc-sf")]
)
def test_a_reading_runs_the_policy_that_the_simulator_runs(key, policy, model):
    for seed in range(5):
        instance = READINGS[key].draw(model, seed)
        found = READINGS[key].evaluate(instance, seed=seed, steps=5)
        assert found.policy == simulate(instance, make(policy)).total_latency


def test_short_searches_find_optima_of_few_requests_and_never_better():
    small = Reading("", "workload", {1: SMALL})
    exact = 0
    for seed in range(12):
        instance = small.draw(1, seed)
        optimum = least_latency(instance)
        best = small.evaluate(instance, seed=seed, steps=200).best
        assert best >= optimum
        exact += best == optimum
    assert exact >= 10


@pytest.mark.parametrize("rule", ["growing", "from the start round", "after a round", "reserved"])
@pytest.mark.parametrize("where", STARTS)
def test_schedules_keep_memory_and_the_rounds_of_their_starts(rule, where):
    if (rule, where) == ("from the start round", "events"):
        with pytest.raises(ValueError, match="events"):
            Rules(rule, where)
        return
    for seed in range(5):
        instance = READINGS["described"].draw(2, seed).take(np.arange(12))
        arrival, output, n = instance.arrival.copy(), instance.output.copy(), len(instance)
        tokens = held(instance, rule)
        usage = np.zeros(int(arrival.max() + 2 * output.sum()) + 4 * n, np.int64)
        order = np.random.default_rng(seed).permutation(n)
        for builder, more in ((prefixes, (False,)), (prefixes, (True,)), (serial, ())):
            starts = np.empty(n, np.int64)
            rules = STARTS.index(where), 3
            case = Case(arrival, output, tokens, instance.memory, *rules, usage)
            total = builder(order, case, *more, starts)
            assert total == (starts + output - arrival).sum()
            assert (starts >= arrival).all()
            profile = np.zeros(len(usage), np.int64)
            for i in range(n):
                profile[starts[i] : starts[i] + output[i] + 1] += tokens[i, : output[i] + 1]
            assert profile.max() <= instance.memory
            if where == "every":
                assert (starts % 3 == 0).all()
            if where == "events":
                assert np.isin(starts, np.concatenate([arrival, starts + output])).all()
            if where == "batches":
                for start in starts:
                    others = (starts < start) & (starts + output > start)
                    assert not others.any()


def test_brackets_hold_the_optimum_and_depend_on_nothing_else():
    fields: dict[str, Value] = {
        "task": "bracket",
        "workload": "jaillet-model-1",
        "workload.n_least": 3,
        "workload.n_most": 4,
        "workload.memory_least": 8,
        "workload.memory_most": 12,
        "seed": 3,
        "option.steps": 200,
        "option.rounds": 2,
        "option.beam": 10,
        "option.walks": 0,
    }
    rows = TASKS["bracket"].run(Cell(fields))
    assert rows == TASKS["bracket"].run(Cell(fields))
    optimum = least_latency(Cell(fields).instance())
    assert [row["policy"] for row in rows] == ["mc-sf", "svf"]
    for row in rows:
        assert row["opt_lower"] <= optimum <= row["opt_upper"]
        assert row["total_latency"] >= optimum


def test_an_unknown_reading_is_an_error_with_the_known_ones():
    fields: dict[str, Value] = {
        "task": "reading",
        "seed": 0,
        "option.reading": "none",
        "option.model": 1,
    }
    with pytest.raises(ValueError, match="reading 'none', model 1: known are described"):
        tasks.run(Cell(fields))
