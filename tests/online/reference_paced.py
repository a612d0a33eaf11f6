"""Runs to caps at a learned pace a second time: every expectation summed anew from all facts.

`Paced` is the rule of both ``volume-restart`` and ``learned-caps``; each says which cap comes next.
"""

from collections import defaultdict
from math import exp, log1p

from round_by_round import running, waiting

from ratiolab.model.footprint import held, volume
from ratiolab.online.pacing.paced import HORIZONS, horizons


class Paced:
    """The rule; `first` and `following` return cap and key of a request."""

    def __init__(self, rng, pace, margin, mode):
        self.rng, self.pace, self.margin, self.keeps = rng, pace, margin, mode != "restart"
        self.cap, self.key, self.tie, self.known, self.ages = {}, {}, {}, {}, {}
        self.facts = defaultdict(list)  # by kind: known to outlive, went on to, ended there
        self.clock = 0.0
        self.shares = {}

    def kind(self, job):
        return 0

    def before_arrivals(self, now, memory, jobs, arrived):
        self.shares.clear()

    def hazards(self, job, longest):
        """Log of the share that outlives each age up to the longest."""
        shares, total = [0.0], 0.0
        facts = self.facts[self.kind(job)]
        for x in range(1, longest + 1):
            reached = sum(above < x <= to for above, to, _ in facts)
            ended = sum(to == x and is_end for _, to, is_end in facts)
            total += log1p(-min(ended / (reached + 0.5), 0.999))
            shares.append(total)
        return shares

    def outlive(self, job, age):
        kind = self.kind(job)
        if kind not in self.shares:
            self.shares[kind] = self.hazards(job, self.memory + 1)
        return exp(self.shares[kind][age])

    def expected(self, job, age, ahead):
        then, sure = age + ahead, max(age, self.known[job.index])
        if then > self.cap[job.index]:
            return 0.0
        alive = self.outlive(job, max(then - 1, sure)) / self.outlive(job, sure)
        return alive * held(job.prompt, then)

    def work(self, job):
        cap = self.cap[job.index]
        sure = min(self.known[job.index], cap)
        tokens = sum(held(job.prompt, age) for age in range(1, sure + 1))
        for age in range(sure + 1, cap + 1):
            alive = self.outlive(job, age - 1) / self.outlive(job, sure)
            tokens += alive * held(job.prompt, age)
        return tokens - volume(job.prompt, self.kept(job))

    def kept(self, job):
        return self.ages[job.index][1] if job in self.leaving and self.keeps else job.kept

    def step(self, job):
        return self.pace * self.work(job) / self.memory if self.key[job.index] > 0 else 0.0

    def __call__(self, now, memory, jobs):
        self.memory, self.leaving = memory, []
        ages, known = self.ages, self.known
        by_index = {job.index: job for job in jobs}
        for i, (start, seen) in list(ages.items()):
            job = by_index[i]
            age = job.output if job.done else now - start
            if age > max(seen, known[i]):
                self.facts[self.kind(job)].append((max(seen, known[i]), age, job.done))
                known[i] = age
            ages[i] = (start, age)
            if job.done:
                del ages[i]
        arrived = [job for job in jobs if job.arrival <= now and job.index not in known]
        for job in arrived:
            known[job.index] = job.lower - 1
        self.before_arrivals(now, memory, jobs, arrived)
        for job in arrived:
            self.first(job)
            self.tie[job.index] = self.rng.random()
        evicted = [job for job in running(jobs) if ages[job.index][1] >= self.cap[job.index]]
        self.leaving = list(evicted)
        for job in evicted:
            self.following(job)
        staying = [job for job in running(jobs) if job not in evicted]
        for job in sorted(staying, key=lambda job: (ages[job.index][1], -job.index)):
            if sum(held(other.prompt, ages[other.index][1] + 1) for other in staying) <= memory:
                break
            staying.remove(job)
            evicted.append(job)
            self.leaving.append(job)
        admitted = self.admitted(now, memory, jobs, staying, evicted)
        for job in admitted:
            kept = self.kept(job)
            ages[job.index] = (now - kept, kept)
        for job in evicted:
            if job not in admitted:
                del ages[job.index]
        return evicted, admitted

    def admitted(self, now, memory, jobs, staying, evicted):
        queue = [*waiting(now, jobs), *evicted]
        queue.sort(key=lambda job: (self.key[job.index], self.tie[job.index], job.index))
        ahead = [0] * (HORIZONS + 3)
        ahead = ahead[: horizons(self.cap[queue[0].index], ahead)] if queue else []
        self.clock = max(self.clock, float(now)) if staying else float(now)
        chosen = []
        for job in queue:
            if self.clock >= now + 1 - 1e-9:
                break
            parts = [(other, self.ages[other.index][1]) for other in staying]
            parts += [(other, self.kept(other)) for other in [*chosen, job]]
            fits = all(
                sum(self.expected(other, age, k) for other, age in parts)
                <= (memory if k == 1 else (1 - self.margin) * memory) + 1e-9
                for k in ahead
            )
            if not fits and (staying or chosen):
                break
            self.clock += self.step(job)
            chosen.append(job)
        return chosen
