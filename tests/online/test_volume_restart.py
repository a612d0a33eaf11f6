"""Volume-restart against a literal version of it, and what its caps and its pace must obey."""

import numpy as np
import pytest
from drawn import drawn, in_two
from reference_paced import Paced
from round_by_round import serve

from ratiolab.model import Instance
from ratiolab.model.footprint import volume
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.pacing.survival import Survival, longest_within
from ratiolab.testing import assert_lawful


class Literal(Paced):
    """Caps geometric in volume, each cap counted up token by token."""

    def __init__(self, seed, base, offset, mode):
        super().__init__(stream(seed, "policy"), 0.9, 0.02, mode)
        self.base, self.offset = base, offset
        self.common = self.rng.random() if offset == "run" else 0.0

    def longest(self, job):
        tokens = max(1, job.lower) if not self.known.get(job.index) else 1
        while volume(job.prompt, tokens + 1) <= self.key[job.index]:
            tokens += 1
        return min(tokens, self.memory - job.prompt)

    def first(self, job):
        draw = self.rng.random() if self.offset == "request" else self.common
        self.key[job.index] = volume(job.prompt, job.lower) * self.base**draw
        self.cap[job.index] = self.longest(job)

    def following(self, job):
        while self.cap[job.index] <= self.known[job.index]:
            self.key[job.index] *= self.base
            self.cap[job.index] = self.longest(job)


@in_two(12, 200)
@pytest.mark.parametrize("mode", ["restart", "recompute"])
@pytest.mark.parametrize("offset", ["request", "run", "none"])
def test_it_makes_every_run_of_the_literal_version(offset, mode, seeds):
    evictions = 0
    for seed in seeds:
        instance = drawn(seed, most_requests=7)
        for base in (2.5, 13.807):
            policy = make("volume-restart", {"offset": offset, "base": base})
            rule = Literal(seed, base, offset, mode)
            expected, complete = serve(instance, rule, 1000, mode)
            assert complete
            simulation = simulate(instance, policy, seed=seed, preemption=mode)
            found = [(run.request, run.start, run.stop) for run in simulation.schedule.runs]
            assert found == expected, (instance.name, base)
            evictions += simulation.schedule.evictions
    assert evictions > 10


def test_it_obeys_the_laws_of_a_policy():
    for seed in range(25):
        assert_lawful(make("volume-restart"), drawn(seed, most_requests=6), seed)


def test_runs_last_until_the_caps_are_used_up():
    # volume 1 at l = 1: with base 10 and no offset the caps are 1, 10, 100 in volume, 1, 4, 13 long
    policy = make("volume-restart", {"base": 10.0, "offset": "none"})
    instance = Instance("one", 20, [0], [0], [9])
    assert [(r.start, r.stop) for r in simulate(instance, policy).schedule.runs] == [
        (0, 1), (1, 5), (5, 14),
    ]  # fmt: skip


def test_a_request_draws_an_offset_of_its_own():
    # base 16: first caps between 1 and 16 in volume, so a request of 5 tokens ends at once when its
    # offset is above log_16 15
    policy = make("volume-restart", {"base": 16.0})
    n = 400
    instance = Instance("many", 10_000, [0] * n, [0] * n, [5] * n)
    runs = simulate(instance, policy).schedule.runs
    killed = {run.request for run in runs if run.stop - run.start < 5}
    assert abs(len(killed) / n - np.log(15) / np.log(16)) < 0.03


def test_the_survival_curve_is_that_of_what_was_seen():
    survival = Survival(6)
    for above, age, ended in ((0, 1, True), (0, 3, False), (3, 4, True), (0, 2, True)):
        survival.saw(above, age, ended)
    survival.learn()
    # reached: 3 at 1, 2 at 2, 1 at 3, 1 at 4; one ends at 1, one at 2, one at 4
    alive = [1, 1 - 1 / 3.5, (1 - 1 / 3.5) * (1 - 1 / 2.5)]
    assert np.exp(survival.log[:3]) == pytest.approx(alive)
    assert survival.expected_volume(2, 0, 3) == pytest.approx(3 + alive[1] * 4 + alive[2] * 5)
    # what it is known to outlive is certain
    assert survival.expected_volume(2, 3, 3) == 3 + 4 + 5


def test_lengths_within_a_volume():
    for prompt in (0, 1, 7, 500):
        for area in (1, 3, 10, 999, 10**6):
            tokens = longest_within(prompt, area)
            assert tokens == 1 or volume(prompt, tokens) <= area
            assert volume(prompt, tokens + 1) > area


def test_wrong_parameters_are_refused():
    for parameters in ({"base": 1.0}, {"pace": 0.0}, {"margin": 1.0}, {"offset": "all"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            make("volume-restart", parameters)
