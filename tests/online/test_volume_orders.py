"""Policies that weigh prompts: smallest volume first, and batches by F."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import reference
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.policies.sorted_f import exact_batch


def runs_of(instance, key, clock=None, **parameters):
    simulation = simulate(instance, make(key, parameters), clock=clock)
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def test_svf_prefers_small_prompts_where_mc_sf_prefers_short_outputs():
    # Volumes 4 * 1 + 1 = 5 and 1 + 2 = 3; the two never fit together, 5 + 1 > 5.
    instance = Instance("two", 5, [0, 0], [4, 0], [1, 2])
    assert runs_of(instance, "mc-sf") == [(0, 0, 1), (1, 1, 3)]
    assert runs_of(instance, "svf") == [(1, 0, 2), (0, 2, 3)]


@pytest.mark.parametrize("lengths", ["true", "predicted", "upper"])
def test_on_equal_prompts_svf_is_mc_sf(lengths):
    for seed in range(100):
        instance = drawn(seed)
        instance = instance.replace(prompt=[int(instance.prompt.min())] * len(instance))
        assert runs_of(instance, "svf", lengths=lengths) == (
            runs_of(instance, "mc-sf", lengths=lengths)
        )


@pytest.mark.parametrize("lengths", ["true", "predicted", "upper"])
def test_with_one_candidate_svf_fit_is_svf(lengths):
    for seed in range(100):
        instance = drawn(seed)
        assert runs_of(instance, "svf-fit", lengths=lengths, candidates=1) == (
            runs_of(instance, "svf", lengths=lengths)
        )


def test_svf_fit_starts_the_shortest_of_nearly_equal_volumes_that_fits():
    # Volumes 3 * 3 + 6 = 15, 8 * 2 + 3 = 19 and 5 + 1 = 6, which is too small to compete with.
    # Request 2 goes first; 1 is shorter than 0 but does not fit beside it, 6 + 9 > 10, as 0 does.
    instance = Instance("nearly", 10, [0] * 3, [3, 8, 5], [3, 2, 1])
    assert runs_of(instance, "svf-fit") == [(0, 0, 3), (2, 0, 1), (1, 3, 5)]
    instance = Instance("nearly", 10, [0] * 2, [3, 8], [3, 2])
    assert runs_of(instance, "svf-fit") == [(1, 0, 2), (0, 2, 5)]
    assert runs_of(instance, "svf-fit", ratio=1.2) == runs_of(instance, "svf")


def test_swf_prefers_a_long_output_to_a_long_prompt_where_prefilling_is_dear():
    # Work 0.4 s + 4 s prefilled, and 0.6 s + 2 s decoded; the two never fit together, 5 + 1 > 5.
    instance = Instance("two", 5, [0, 0], [4, 0], [1, 3])
    clock = BatchTime(fixed=0.5, prefill=1, decode=1)
    assert runs_of(instance, "swf", clock=clock) == [(1, 0, 3), (0, 3, 4)]
    assert runs_of(instance, "svf", clock=clock) == [(0, 0, 1), (1, 1, 4)]


@pytest.mark.parametrize("key", ["swf", "swf-fit"])
@pytest.mark.parametrize("clock", [None, BatchTime(fixed=2, tick=1)])
def test_where_batches_take_equally_long_work_is_volume(key, clock):
    for seed in range(100):
        instance = drawn(seed)
        assert runs_of(instance, key, clock=clock) == (
            runs_of(instance, key.replace("swf", "svf"), clock=clock)
        )


@pytest.mark.parametrize("key", ["swf", "mc-sf"])
def test_with_equal_prompts_or_one_candidate_work_orders_as_output_does(key):
    clock = BatchTime(fixed=1, prefill=0.5, decode=0.25, kv=0.125, tick=1)
    for seed in range(100):
        instance = drawn(seed)
        if key == "mc-sf":
            instance = instance.replace(prompt=[int(instance.prompt.min())] * len(instance))
        assert runs_of(instance, "swf-fit", clock=clock, candidates=1) == (
            runs_of(instance, key, clock=clock)
        )


WIDE = Instance("wide", 6, [0] * 4, [5, 0, 0, 0], [1, 2, 2, 2])
"""Request 0 alone has F = 1; the three others, which fit together as 3 * 2 = 6, 6/9."""


@pytest.mark.parametrize("batch", ["greedy", "exact"])
def test_sorted_f_serves_three_before_one_that_is_shorter_but_wide(batch):
    runs = [(1, 0, 2), (2, 0, 2), (3, 0, 2), (0, 2, 3)]
    assert runs_of(WIDE, "sorted-f", batch=batch) == runs


@pytest.mark.parametrize("batch", ["greedy", "exact"])
def test_a_batch_is_kept_until_all_of_it_has_started(batch):
    # Request 0, alone at round 0, runs to 5. At round 1 the two others of that time are a batch;
    # one of them fits beside it (3 + 3 at round 3), the other only when 0 has ended. Request 3
    # would fit at round 3 (4 + 1 at round 4), as mc-sf finds, but belongs to the next batch.
    instance = Instance("kept", 6, [0, 1, 1, 2], [0, 1, 1, 0], [5, 2, 2, 1])
    runs = [(0, 0, 5), (1, 1, 3), (2, 5, 7), (3, 5, 6)]
    assert runs_of(instance, "sorted-f", batch=batch) == runs
    assert (3, 3, 4) in runs_of(instance, "mc-sf")


def fitting_subsets(jobs, memory):
    for size in range(1, len(jobs) + 1):
        for subset in combinations(jobs, size):
            if reference.satisfies(0, memory, [], list(subset), lambda job: job.output):
                yield subset


def score(batch):
    return reference.ratio_f(batch), -len(batch), sum(job.prompt for job in batch)


def test_the_exact_batch_is_the_best_of_all_that_fit_and_the_greedy_one_sometimes_worse():
    worse = 0
    for seed in range(120):
        instance = drawn(seed)
        jobs = reference.jobs_of(instance)
        best = min(map(score, fitting_subsets(jobs, instance.memory)))
        shapes = [(job.index, job.prompt, job.output) for job in jobs]
        assert score([jobs[i] for i in exact_batch(shapes, instance.memory)]) == best, seed
        greedy = score(reference.greedy_batch(jobs, instance.memory))
        assert greedy[:2] >= best[:2], seed
        worse += greedy[0] > best[0]
    assert 0 < worse < 30


def test_sorted_f_is_far_ahead_of_shortest_first_when_short_outputs_have_wide_prompts():
    """k wide requests of one token each, and then k narrow ones of two, which fit together.

    Shortest first ends the wide ones at 1..k and the narrow ones at k + 2: k(k+1)/2 + k(k+2).
    Sorted-F ends the narrow ones at 2 and the wide ones at 3..k+2: 2k + k(k+1)/2 + 2k.
    """
    k = 40
    instance = Instance("wide", 2 * k, [0] * 2 * k, [2 * k - 1] * k + [0] * k, [1] * k + [2] * k)
    shortest = simulate(instance, make("mc-sf")).total_latency
    by_f = simulate(instance, make("sorted-f")).total_latency
    assert (shortest, by_f) == (k * (k + 1) // 2 + k * (k + 2), k * (k + 1) // 2 + 4 * k)
    assert Fraction(shortest, by_f) > 2
    assert simulate(instance, make("svf")).total_latency == by_f


def test_equal_requests_form_batches_as_large_as_memory_allows():
    instance = Instance("equal", 12, [0] * 10, [1] * 10, [3] * 10)
    starts = simulate(instance, make("sorted-f", {"batch": "exact"})).schedule.starts
    assert np.bincount(starts).tolist() == [3, 0, 0, 3, 0, 0, 3, 0, 0, 1]
