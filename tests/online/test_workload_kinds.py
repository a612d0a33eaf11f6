"""The laws of every policy on three workloads that differ most, and on a real trace."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ratiolab.model import violations
from ratiolab.model.instance import LAW_COLUMNS
from ratiolab.online import POLICIES, Information, make, simulate
from ratiolab.workloads.generators import KINDS, generate
from ratiolab.workloads.predictions import add_predictions
from ratiolab.workloads.traces import instance_from_trace, read_trace

NAMES = ("lmsys-mixed", "power-law", "trace-summaries")
TRACE = "AzureLLMInferenceTrace_code.csv"
"""Chats that fill memory, lengths with a heavy tail, long prompts, and a real trace if at hand.

The laws on tiny instances (`test_laws.py`) and the reference policies cover all other kinds.
"""
CONVERSATIONS, SHAPES = {"n": 60, "memory": 2_000}, {"n": 15}
"""Sizes of the kinds that draw hundreds by default: of chats, where memory becomes scarcer, and in
the shape of a trace.
"""


FOLDER = Path(os.environ.get("RATIOLAB_TRACES", Path(__file__).parents[3] / "shared" / "traces"))
AT_HAND = (*NAMES, *[TRACE] * (FOLDER / TRACE).is_file())


@cache
def workload(name):
    """Few requests of a kind or of a trace, with predictions of every sort."""
    if name in KINDS:
        usual = {parameter.name: parameter.default for parameter in KINDS[name].parameters}
        small = SHAPES if name.startswith("trace-") else CONVERSATIONS
        instance = generate(name, 1, **(small if usual.get("n", 0) >= 200 else {}))
    else:
        path = FOLDER / name
        how = {"sample": 15, "arrivals": "poisson", "rate": 0.05}
        instance = instance_from_trace(read_trace(path), memory=16_492, **how)
    laws, noisy = add_predictions(instance, "log-t", 0), add_predictions(instance, "noisy:0.5", 0)
    told = {column: getattr(laws, column) for column in LAW_COLUMNS}
    predicted = np.minimum(noisy.predicted, instance.memory - instance.prompt)
    return add_predictions(instance, "overlap:0.5", 0).replace(**told, predicted=predicted)


def runs_of(instance, policy):
    simulation = simulate(instance, policy, seed=3)
    runs = [(run.request, run.start, run.stop) for run in simulation.schedule.runs]
    return simulation, runs


@pytest.mark.parametrize("key", POLICIES)
def test_feasible_and_the_same_for_the_same_seed(key):
    for name in AT_HAND:
        instance, policy = workload(name), make(key)
        simulation, runs = runs_of(instance, policy)
        allowed = {"complete", "looping"} if policy.may_loop else {"complete"}
        assert simulation.outcome in allowed, name
        if simulation.outcome == "complete":
            assert violations(simulation.schedule) == [], name
        assert runs_of(instance, make(key))[1] == runs, name


BLIND = [
    key
    for key in POLICIES
    if make(key).information not in (Information.TRUE_LENGTH, Information.REFINED)
]


def same_before_it_shows(key, instance):
    """Shorten the longest output: are all starts the same until it first completes?"""
    longest = int(np.argmax(instance.output))
    output = instance.output.copy()
    output[longest] = instance.lower[longest]
    shown, starts = 2**60, []
    for told in (instance, instance.replace(output=output)):
        simulation, runs = runs_of(told, make(key))
        completion = int(simulation.schedule.completion[longest])
        shown = min(shown, completion) if completion >= 0 else shown
        starts.append([(i, start) for i, start, _ in runs])
    one, two = ({run for run in found if run[1] < shown} for found in starts)
    return one == two


@pytest.mark.parametrize("key", BLIND)
def test_a_changed_output_changes_nothing_before_it_shows(key):
    for name in AT_HAND:
        assert same_before_it_shows(key, workload(name)), name


@pytest.mark.parametrize("key", ["h-sf", "sorted-f", "srpt"])
def test_that_law_would_catch_who_knows_the_length(key):
    assert not all(same_before_it_shows(key, workload(name)) for name in NAMES)
