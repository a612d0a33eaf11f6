"""No schedule serves more requests in time than the bound: all ways on tiny instances."""

import json
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from test_mutated_files import changed_copies

from ratiolab.evaluation.service import Service, Slo, goodput_proof, isolated_service
from ratiolab.hindsight.certificates.certificate import InTimeCertificate
from ratiolab.hindsight.certificates.certify_promises import certify_promises, in_time_value
from ratiolab.hindsight.certificates.effort import CertificateError
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import FormatError, Instance
from ratiolab.model.fleet import Fleet
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA3_8B_A100, BatchTime
from ratiolab.workloads.generators import generate

CLOCKS = (
    BatchTime(fixed=1, tick=1),
    BatchTime(fixed=0.25, prefill=0.125, decode=1, kv=0.5, tick=1),
    BatchTime(fixed=0.125, prefill=0.5, decode=0.25, kv=0.125, tick=1),
)


def most_in_time(instance, clock, preemption, ttft, latency):
    """The most requests in time, over all ways to choose each batch, and to wait for arrivals.

    Times are eighths, so floats are exact. A request in a batch makes one token; it prefills what
    it holds unless it was in the batch before. Evicted requests keep their tokens (recompute) or
    lose them; requests that can no longer be in time are left out, which costs nobody anything.
    """
    n = len(instance)
    prompt, output = instance.prompt.tolist(), instance.output.tolist()
    arrival = [float(a) for a in instance.arrival]

    @cache
    def best(time, made, inside, seen):
        """Most requests that still end in time."""
        alive = [
            i
            for i in range(n)
            if made[i] < output[i]
            and time < arrival[i] + latency
            and (i in seen or time < arrival[i] + ttft)
        ]
        ready = [i for i in alive if arrival[i] <= time]
        coming = [arrival[i] for i in alive if arrival[i] > time]
        most = best(min(coming), made, frozenset(), seen) if coming else 0
        for size in range(1, len(ready) + 1):
            for batch in combinations(ready, size):
                kept = {
                    i: made[i] if i in inside or preemption == "recompute" else 0 for i in batch
                }
                if sum(prompt[i] + kept[i] + 1 for i in batch) > instance.memory:
                    continue
                took = clock.fixed
                for i in batch:
                    held = prompt[i] + kept[i]
                    took += clock.decode + clock.kv * held if i in inside else clock.prefill * held
                end = time + took
                now = tuple(kept[i] + 1 if i in batch else made[i] for i in range(n))
                first = {i for i in batch if i in seen or end <= arrival[i] + ttft}
                done = [
                    i
                    for i in batch
                    if now[i] == output[i] and i in first and end <= arrival[i] + latency
                ]
                on = frozenset(i for i in batch if now[i] < output[i])
                most = max(most, len(done) + best(end, now, on, seen | first))
        return most

    return best(0.0, (0,) * n, frozenset(), frozenset())


def best_split(instance: Instance, clock: BatchTime, ttft: float, latency: float) -> int:
    """The most in time on two replicas, over all ways to hand out the requests."""
    best, n = 0, len(instance)
    for mask in range(2**n):
        parts = [[i for i in range(n) if (mask >> i & 1) == side] for side in (0, 1)]
        own = (
            most_in_time(instance.take(part), clock, "restart", ttft, latency)
            for part in parts
            if part
        )
        best = max(best, sum(own))
    return best


def drawn(seed: int) -> tuple[Instance, float, float]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    prompt, output = rng.integers(0, 3, n), rng.integers(1, 4, n)
    memory = int((prompt + output).max() + rng.integers(0, 3))
    instance = Instance("tiny", memory, rng.integers(0, 3, n), prompt, output, tick_seconds=1.0)
    return instance, float(rng.integers(1, 20)) / 4, float(rng.integers(4, 28)) / 4


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
@pytest.mark.parametrize("clock", CLOCKS, ids=["rounds", "slow decoding", "slow prefill"])
def test_no_way_to_batch_tiny_instances_serves_more_in_time(clock, preemption):
    tight = below_reachable = 0
    for seed in range(15):
        instance, ttft, latency = drawn(seed)
        slo = Slo(ttft=ttft, latency=latency)
        reachable = slo.met(isolated_service(instance, clock, preemption))
        proof = goodput_proof(slo, instance, clock, preemption)
        bound = certify_promises(proof, instance)
        best = most_in_time(instance, clock, preemption, ttft, latency)
        assert best <= bound <= reachable.sum(), (seed, best, bound)
        tight += best == bound
        below_reachable += bound < reachable.sum()
    assert tight >= 8
    assert below_reachable >= 1


def test_any_prices_prove_a_bound():
    rng = np.random.default_rng(1)
    for seed in range(25):
        instance, ttft, latency = drawn(seed)
        slo, clock = Slo(ttft=ttft, latency=latency), CLOCKS[seed % 3]
        proof = goodput_proof(slo, instance, clock, "restart")
        drawn_prices = rng.random(len(proof.price)) * 2 ** rng.integers(20, 34)
        noisy = replace(proof, price=tuple(drawn_prices.astype(int).tolist()))
        best = most_in_time(instance, clock, "restart", ttft, latency)
        assert in_time_value(noisy, instance, 1) >= best


def test_two_replicas_do_twice_the_work_and_no_split_serves_more():
    clock, below = CLOCKS[0], 0
    for seed in range(20):
        instance, ttft, latency = drawn(seed)
        slo, fleet = Slo(ttft=ttft, latency=latency), Fleet(instance, 2)
        proof = goodput_proof(slo, fleet, clock, "restart")
        assert certify_promises(proof, fleet) == proof.bound
        for other in (instance, Fleet(instance, 3)):
            with pytest.raises(CertificateError, match="digest"):
                certify_promises(proof, other)
        assert best_split(instance, clock, ttft, latency) <= proof.bound
        alone = goodput_proof(slo, instance, clock, "restart")
        below += alone.bound < best_split(instance, clock, ttft, latency)
    assert below >= 1  # what one replica may claim is false for two


@pytest.mark.parametrize(
    ("replicas", "number"),
    [(1, 400), (2, 400), pytest.param(1, 5000, marks=pytest.mark.slow)],
)
def test_a_changed_file_is_refused_or_claims_nothing_false(replicas, number, tmp_path):
    """Requests that fill a replica for a round, four a round for six: a replica serves eight.

    A change may state other limits or another clock: then the claim is about these.
    """
    path, rng = tmp_path / "proof.json", random.Random(replicas)
    crowd = Instance("crowd", 4, [k // 4 for k in range(24)], [3] * 24, [1] * 24)
    given, best = (Fleet(crowd, 2) if replicas == 2 else crowd), 8 * replicas
    proof = goodput_proof(Slo(ttft=3), given, None, "restart")
    assert proof.bound == best
    write_certificate(proof, path)
    assert read_certificate(path) == proof
    whole, ended = json.loads(path.read_text()), Counter[str]()
    for data in changed_copies(whole, number, rng):
        path.write_text(json.dumps(data))
        try:
            claim = read_certificate(path)
            assert isinstance(claim, InTimeCertificate)
            bound = certify_promises(claim, given)
        except (CertificateError, FormatError):
            ended["refused"] += 1
            continue
        ended["proved"] += 1
        prices = {name: getattr(claim, name) for name in ("bound", "begin", "width", "price")}
        if claim == replace(proof, **prices):
            assert bound >= best
    assert ended["refused"] > number // 2
    assert ended["proved"] > 0


def test_policies_on_a_trace_shape_stay_below():
    instance = generate("lmsys", 2, n=150, memory=2000, rate=0.2).replace(tick_seconds=0.001)
    slo = Slo(latency=4)
    for preemption in ("restart", "recompute"):
        reachable = slo.met(isolated_service(instance, LLAMA3_8B_A100, preemption))
        bound = goodput_proof(slo, instance, LLAMA3_8B_A100, preemption).bound
        assert bound < reachable.sum()
        for key in ("fcfs", "svf"):
            run = simulate(instance, make(key), preemption=preemption, clock=LLAMA3_8B_A100)
            assert slo.met(Service.of(run)).sum() <= bound
