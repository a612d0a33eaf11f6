"""Volume-restart against a literal version of it, and what its caps and its pace must obey."""

from math import exp, log1p

import numpy as np
import pytest
from drawn import drawn
from reference import serve
from round_by_round import running, waiting

from ratiolab.model import Instance
from ratiolab.model.footprint import held, volume
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.policies.volume_restart import Survival, horizons, longest_within
from ratiolab.testing import assert_lawful


def literal(seed, base=13.807, offset="request", pace=0.9, margin=0.02):
    """Return the rule: every expectation summed anew from the list of all that was seen."""
    rng = stream(seed, "policy")
    common = rng.random() if offset == "run" else 0.0
    area, cap, tie, known, ages = {}, {}, {}, {}, {}
    facts = []  # (known to outlive, went on to, ended there)
    clock = 0.0

    def longest(job, memory):
        tokens = max(1, job.lower) if not known.get(job.index) else 1
        while volume(job.prompt, tokens + 1) <= area[job.index]:
            tokens += 1
        return min(tokens, memory - job.prompt)

    def outlive(age):
        total = 0.0
        for x in range(1, age + 1):
            reached = sum(above < x <= to for above, to, _ in facts)
            ended = sum(to == x and is_end for _, to, is_end in facts)
            total += log1p(-min(ended / (reached + 0.5), 0.999))
        return exp(total)

    def expected(job, age, ahead):
        then, sure = age + ahead, max(age, known[job.index])
        if then > cap[job.index]:
            return 0.0
        alive = outlive(max(then - 1, sure)) / outlive(sure)
        return alive * held(job.prompt, then)

    def step(job, memory):
        sure = min(known[job.index], cap[job.index])
        tokens = sum(held(job.prompt, age) for age in range(1, sure + 1))
        for age in range(sure + 1, cap[job.index] + 1):
            tokens += outlive(age - 1) / outlive(sure) * held(job.prompt, age)
        return pace * tokens / memory

    def rule(now, memory, jobs):
        nonlocal clock
        by_index = {job.index: job for job in jobs}
        for i, (start, seen) in list(ages.items()):
            ended = by_index[i].done
            age = by_index[i].output if ended else now - start
            if age > max(seen, known[i]):
                facts.append((max(seen, known[i]), age, ended))
                known[i] = age
            ages[i] = (start, age)
            if ended:
                del ages[i]
        for job in jobs:
            if job.arrival <= now and job.index not in area:
                draw = rng.random() if offset == "request" else common
                tie[job.index], known[job.index] = rng.random(), job.lower - 1
                area[job.index] = volume(job.prompt, job.lower) * base**draw
                cap[job.index] = longest(job, memory)
        evicted = [job for job in running(jobs) if ages[job.index][1] >= cap[job.index]]
        for job in evicted:
            while cap[job.index] <= known[job.index]:
                area[job.index] *= base
                cap[job.index] = longest(job, memory)
        staying = [job for job in running(jobs) if job not in evicted]
        for job in sorted(staying, key=lambda job: (ages[job.index][1], -job.index)):
            if sum(held(other.prompt, ages[other.index][1] + 1) for other in staying) <= memory:
                break
            staying.remove(job)
            evicted.append(job)
        for job in evicted:
            del ages[job.index]
        queue = [*waiting(now, jobs), *evicted]
        queue.sort(key=lambda job: (area[job.index], tie[job.index], job.index))
        admitted = []
        ahead = horizons(cap[queue[0].index]) if queue else []
        clock = max(clock, float(now)) if staying else float(now)
        for job in queue:
            if clock >= now + 1 - 1e-9:
                break
            parts = [(other, ages[other.index][1]) for other in staying]
            parts += [(other, 0) for other in [*admitted, job]]
            fits = all(
                sum(expected(other, age, k) for other, age in parts)
                <= (memory if k == 1 else (1 - margin) * memory) + 1e-9
                for k in ahead
            )
            if not fits and (staying or admitted):
                break
            clock += step(job, memory)
            admitted.append(job)
        for job in admitted:
            ages[job.index] = (now, 0)
        return evicted, admitted

    return rule


@pytest.mark.parametrize("offset", ["request", "run", "none"])
def test_it_makes_every_run_of_the_literal_version(offset):
    evictions = 0
    for seed in range(12):
        instance = drawn(seed, most_requests=7)
        for base in (2.5, 13.807):
            policy = make("volume-restart", {"offset": offset, "base": base})
            expected, complete = serve(instance, literal(seed, base, offset), 1000)
            assert complete
            simulation = simulate(instance, policy, seed=seed)
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
