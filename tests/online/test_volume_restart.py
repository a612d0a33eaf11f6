"""Volume-restart against a literal version of it, and what its caps and its pace must obey."""

import pytest
from drawn import drawn, in_two
from reference_paced import Paced
from round_by_round import serve

from ratiolab.model import Instance
from ratiolab.model.footprint import volume
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate


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


def test_runs_last_until_the_caps_are_used_up():
    # volume 1 at l = 1: with base 10 and no offset the caps are 1, 10, 100 in volume, 1, 4, 13 long
    policy = make("volume-restart", {"base": 10.0, "offset": "none"})
    instance = Instance("one", 20, [0], [0], [9])
    assert [(r.start, r.stop) for r in simulate(instance, policy).schedule.runs] == [
        (0, 1), (1, 5), (5, 14),
    ]  # fmt: skip


def test_wrong_parameters_are_refused():
    for parameters in ({"base": 1.0}, {"pace": 0.0}, {"margin": 1.0}, {"offset": "all"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            make("volume-restart", parameters)
