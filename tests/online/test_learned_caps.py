"""Learned-caps against a literal version of it, and what it learns."""

from functools import cache
from math import exp, log

import numpy as np
import pytest
from drawn import drawn, ended, in_two
from reference_paced import Paced
from round_by_round import serve

from ratiolab import machine_code
from ratiolab.model import Instance
from ratiolab.model.footprint import held, volume
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.online.pacing import cap_plan, paced, survival
from ratiolab.online.pacing.cap_plan import NODES, PROMPTS, spread
from ratiolab.online.policies.learned_caps import NEWS, PATIENCE


class Literal(Paced):
    """The list of caps by recursion, every share and every mean summed anew."""

    def __init__(self, seed, mode):
        super().__init__(stream(seed, "policy"), 0.5, 0.02, mode)
        self.jobs, self.ended, self.news, self.plans, self.curve = {}, {}, {}, {}, {}
        self.due, self.arrivals = 0, {}

    def kind(self, job):
        return len(f"{job.prompt:b}") if job.prompt else 0

    def before_arrivals(self, now, memory, jobs, arrived):
        for job in arrived:
            self.jobs.setdefault(self.kind(job), []).append(job)
        done = [job for job in jobs if job.done]
        fresh = [job for job in done if job.index not in self.ended]
        self.ended |= {job.index: volume(job.prompt, job.output) for job in fresh}
        touched = {self.kind(job) for job in [*fresh, *arrived]}
        if now >= self.due:
            self.due, touched = now + PATIENCE, set(self.jobs)
        renewed = False
        for kind in touched:
            those = self.jobs[kind]
            prompts = sorted(job.prompt for job in those)
            seen = max((to for _, to, _ in self.facts[kind]), default=0)
            self.curve[kind] = self.extended(those[0], seen, prompts[len(prompts) // 2])
            ends = sorted(self.ended[job.index] for job in those if job.index in self.ended)
            count = (len(ends), seen, len(prompts))
            before = self.news.get(kind, (0, 0, 0))
            if any(new > NEWS * old for new, old in zip(count, before, strict=True)):
                self.news[kind], renewed = count, True
                self.plans[kind] = self.best_list(kind, prompts, ends, min(j.lower for j in those))
        if renewed:
            for job in jobs:
                waits = job.start is None and not job.done and job.index in self.key
                if waits and self.key[job.index] > 0:
                    self.following(job)

    def extended(self, job, seen, prompt):
        shares, oldest = self.hazards(job, self.memory + 1), max(seen, 1)
        return [
            share
            if age <= oldest
            else share - log(volume(prompt, age) / volume(prompt, oldest)) / 2
            for age, share in enumerate(shares)
        ]

    def outlive(self, job, age):
        return exp(self.curve[self.kind(job)][age])

    def best_list(self, kind, prompts, ends, lower):
        few = spread(prompts, PROMPTS)
        least, most = volume(prompts[0], lower), max(volume(s, self.memory - s) for s in few)
        nodes = {int(v) for v in np.geomspace(least, most, NODES)} | {most}
        nodes |= {v for v in spread(ends, NODES) if least <= v < most}
        nodes = [0, *sorted(nodes)]
        alive = [exp(share) for share in self.curve[kind]]

        @cache
        def mean(k):
            """Share that outlives a node, and work of runs to it and of what is lost at it."""
            above = filled = lost = 0.0
            for s in few:
                age = max(a for a in range(self.memory - s + 1) if volume(s, a) <= nodes[k])
                if nodes[k] < volume(s, lower):
                    age = 0
                outlives = alive[age] if age < self.memory - s else 0.0
                above += outlives
                filled += sum(held(s, a) * alive[a - 1] for a in range(1, age + 1))
                lost += 0.0 if self.keeps else volume(s, age) * outlives
            return above / len(few), filled / len(few), lost / len(few)

        @cache
        def cost(j):
            if j == len(nodes) - 1:
                return 0.0, j
            a, w, again = mean(j)
            return min(
                ((again + mean(k)[1] - w) * (a + mean(k)[0]) + cost(k)[0], k)
                for k in range(j + 1, len(nodes))
            )

        return nodes, [cost(j)[1] for j in range(len(nodes))]

    def first(self, job):
        kind = self.kind(job)
        before = self.arrivals.get(kind, 0)
        self.arrivals[kind] = before + 1
        if self.rng.random() < 1 / (1 + before / 4.0):
            self.cap[job.index], self.key[job.index] = self.memory - job.prompt, 0.0
        else:
            self.following(job)

    def following(self, job):
        nodes, after = self.plans[self.kind(job)]
        bound, most = self.known[job.index], self.memory - job.prompt
        at = max(k for k, v in enumerate(nodes) if v <= (volume(job.prompt, bound) if bound else 0))
        cap = most
        while at < len(nodes) - 1:
            at = after[at]
            within = [a for a in range(most + 1) if volume(job.prompt, a) <= nodes[at]]
            if within[-1] > bound:
                cap = within[-1]
                break
        self.cap[job.index] = cap
        ends = 1.0 if cap == most else 1 - self.outlive(job, cap) / self.outlive(job, bound)
        self.key[job.index] = float(np.float32(self.work(job) / max(ends, 1e-9)))


@in_two(15, 250)
@pytest.mark.parametrize("mode", ["restart", "recompute"])
def test_it_makes_every_run_of_the_literal_version(mode, seeds):
    evictions = 0
    for seed in seeds:
        instance = drawn(seed, most_requests=7)
        expected, complete = serve(instance, Literal(seed, mode), 1000, mode)
        assert complete
        simulation = simulate(instance, make("learned-caps"), seed=seed, preemption=mode)
        found = [(run.request, run.start, run.stop) for run in simulation.schedule.runs]
        assert found == expected, instance.name
        evictions += simulation.schedule.evictions
    assert evictions > 5


def test_ages_below_a_lower_bound_are_no_news_where_many_run():
    for seed in range(15, 20):
        rng, n = stream(seed, "cases"), 30
        output = rng.integers(1, 13, n)
        arrival, lower = (
            np.sort(rng.integers(0, 12, n)),
            np.maximum(1, output - rng.integers(0, 3, n)),
        )
        instance = Instance("many", 90, arrival, [0] * n, output, lower)
        expected, _ = serve(instance, Literal(seed, "restart"), 1000, "restart")
        simulation = simulate(instance, make("learned-caps"), seed=seed)
        assert [(r.request, r.start, r.stop) for r in simulation.schedule.runs] == expected, seed


@pytest.mark.parametrize("policy", ["learned-caps", "volume-restart"])
def test_rounds_in_which_nothing_can_start_are_skipped(policy):
    n, rng = 300, stream(0, "cases")
    output = np.minimum(1 + rng.lognormal(3, 1, n).astype(int), 400)
    instance = Instance("skip", 2_000, [0] * n, rng.integers(20, 60, n), output)
    simulation = simulate(instance, make(policy))
    assert simulation.decisions < 0.5 * simulation.schedule.makespan


@pytest.mark.parametrize("policy", ["learned-caps", "volume-restart"])
def test_compiled_loops_make_the_runs_of_python(policy, monkeypatch):
    n, rng = 60, stream(0, "cases")
    output = np.minimum(1 + rng.lognormal(3, 1, n).astype(int), 400)
    arrival, prompt = np.sort(rng.integers(0, 300, n)), rng.integers(20, 90, n)
    instance = Instance("loops", 1_000, arrival, prompt, output)
    places = (cap_plan, paced, survival)
    loops = {
        f for place in places for f in vars(place).values() if isinstance(f, machine_code.Often)
    }
    found = []
    for seconds in (0.0, 10**9):
        monkeypatch.setattr(machine_code, "LOADING", seconds)
        found.append(ended(simulate(instance, make(policy))))
        if not seconds:
            called = {loop for loop in loops if "_dispatcher" in vars(loop)}
    assert len(called) > 3
    assert found[0] == found[1]


def test_it_learns_to_kill_after_the_first_of_two_lengths():
    # nine of ten end after 1 token, the others after 60; the law shows when a pilot has ended
    n = 600
    output = np.where(stream(0, "cases").random(n) < 0.1, 60, 1)
    instance = Instance("two", 150, np.arange(n), np.zeros(n, int), output)
    schedule = simulate(instance, make("learned-caps"), seed=0).schedule
    first = {}
    for run in schedule.runs:
        first.setdefault(run.request, run)
    late = [run.stop - run.start for run in first.values() if run.start > 150]
    assert late.count(1) > 0.9 * len(late)


def test_wrong_parameters_are_refused():
    for parameters in ({"pilots": 0.0}, {"pace": 0.0}, {"margin": 1.0}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            make("learned-caps", parameters)
