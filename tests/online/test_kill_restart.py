"""Kill-and-restart: caps, grants, both ways to fill places, and its fluid latency."""

from math import log, sqrt

import numpy as np
import pytest
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.model.footprint import peak
from ratiolab.online import make, simulate
from ratiolab.online.policies.kill_restart import KillRestart, whole_caps
from ratiolab.testing import assert_lawful
from ratiolab.theory.laws.distributions import from_weights, uniform
from ratiolab.theory.limits import kill_restart as theory

VARIANTS = [
    KillRestart(base, offset, places)
    for base in (1.2, 2.25)
    for offset in ("random", "none")
    for places in ("refill", "batches")
]


@pytest.mark.parametrize("policy", VARIANTS, ids=str)
def test_it_obeys_the_laws_of_a_policy(policy):
    for seed in range(25):
        assert_lawful(policy, drawn(seed, most_requests=6), seed)


@pytest.mark.parametrize("base", [1.0, 0.5, float("nan"), float("inf")])
def test_a_base_that_does_not_grow_is_refused(base):
    with pytest.raises(ValueError, match="base"):
        KillRestart(base)


def test_grants_never_exceed_memory():
    for seed in range(60):
        instance = drawn(seed)
        schedule = simulate(instance, KillRestart(1.5, "none"), seed=seed).schedule
        granted = np.zeros(schedule.makespan + 1)
        caps = {}
        for run in sorted(schedule.runs, key=lambda run: run.start):
            i = run.request
            prompt = int(instance.prompt[i])
            low = 1 if instance.lower is None else int(instance.lower[i])
            cap = next(caps.setdefault(i, whole_caps(1.5, low, prompt)))
            cap = min(cap, instance.memory - prompt)
            assert run.stop - run.start <= cap
            granted[run.start : run.stop] += peak(prompt, cap)
        assert granted.max() <= instance.memory


def test_a_batch_starts_only_when_the_last_one_is_gone():
    for seed in range(60):
        runs = simulate(drawn(seed), KillRestart(2.0, "none", "batches"), seed=seed).schedule.runs
        for run in runs:
            for other in runs:
                assert run.start == other.start or not other.start < run.start < other.stop


@pytest.mark.long
@pytest.mark.parametrize("places", ["refill", "batches"])
@pytest.mark.parametrize("lengths", [from_weights(1, (2, 0, 3, 1)), uniform(1, 8)], ids=str)
def test_simulated_latency_approaches_the_fluid_latency(lengths, places):
    """Hundreds of batches a phase, each with a request that reaches its cap."""
    memory, n = 120, 30_000
    outputs = [
        k
        for k, share in zip(lengths.lengths.tolist(), lengths.probabilities, strict=True)
        for _ in range(int(n * share))
    ]
    n = len(outputs)
    instance = Instance("fluid", memory, [0] * n, [0] * n, outputs, lower=[1] * n)
    caps = list(theory.geometric_caps(1, lengths.upper, 2))
    simulated = simulate(instance, KillRestart(2.0, "none", places)).schedule.total_latency
    expected = theory.latency(lengths, caps, refill=places == "refill")
    other = theory.latency(lengths, caps, refill=places != "refill")
    scaled = simulated * 2 * memory / n**2
    assert abs(scaled / float(expected) - 1) < 0.02
    assert abs(scaled / float(other) - 1) > 0.04


def test_the_default_base_is_nearly_the_best_with_a_random_offset():
    def constant(b):
        return (b + 1) * (1 + log(b)) / (2 * log(b))

    assert constant(make("kill-restart").base) < 1.0001 * float(
        theory.best(refill=True, random_offset=True)[1]
    )
    assert float(theory.best(refill=True, random_offset=False)[0]) == 1 + sqrt(2) / 2
