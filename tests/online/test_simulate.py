"""Schedules and figures of policies that are known by hand or by a formula."""

import json
from fractions import Fraction
from itertools import combinations
from math import log, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
import reference
import reference_intervals
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.model.fleet import Fleet
from ratiolab.model.footprint import peak
from ratiolab.online import PolicyError, make, simulate
from ratiolab.online.fleets.loop import simulate_fleet
from ratiolab.online.policies.a_ell import prefers_a_ell
from ratiolab.online.policies.gsa import GSA
from ratiolab.online.policies.kill_restart import KillRestart, whole_caps
from ratiolab.online.policies.sorted_f import exact_batch
from ratiolab.theory.laws.distributions import from_weights, two_point, uniform
from ratiolab.theory.limits import kill_restart as theory
from ratiolab.theory.rayleigh import amin


def runs_of(instance, key, **parameters):
    simulation = simulate(instance, make(key, parameters))
    return [(run.request, run.start, run.stop) for run in simulation.schedule.runs]


def latency(instance, key, **parameters):
    return simulate(instance, make(key, parameters)).total_latency


def test_seeds_are_integers_of_any_kind():
    one = Instance("one", 9, [0], [2], [5], tick_seconds=np.int64(1))
    fleet = Fleet(one, 2)
    for run in (
        simulate(one, make("a-min"), seed=np.int64(3)),
        simulate_fleet(fleet, "fcfs", seed=np.int64(3)),
    ):
        assert json.loads(json.dumps(run.to_dict()))["seed"] == 3
    with pytest.raises(ValueError, match=r"seed 0\.5 must be an integer"):
        simulate(one, make("a-min"), seed=0.5)


def test_predictions_that_are_too_short_clear_everybody_for_ever():
    # Both start at round 0, would hold 6 > 4 at round 3, are cleared at round 2 and start at 3.
    instance = Instance("short", 4, [0, 0], [0, 0], [3, 3], predicted=[1, 1])
    # Both are two rounds old at round 2 and again at round 5: nothing else can ever happen.
    simulation = simulate(instance, make("mc-sf", {"lengths": "predicted"}))
    assert simulation.outcome == "looping"
    assert simulation.total_latency is None
    starts = [(run.start, run.stop) for run in simulation.schedule.runs if run.request == 0]
    assert starts == [(0, 2), (3, 5)]


def test_nothing_is_said_to_loop_while_somebody_is_still_to_arrive():
    # The two are cleared at rounds 2, 5, ..., 20, when request 2 finds the memory empty. It ends;
    # from 21 on the two start and are cleared as before, at 23 and at 26.
    instance = Instance("late", 4, [0, 0, 20], [0, 0, 3], [3, 3, 1], predicted=[1, 1, 1])
    simulation = simulate(instance, make("mc-sf", {"lengths": "predicted"}))
    assert simulation.outcome == "looping"
    assert simulation.schedule.completion.tolist() == [-1, -1, 21]
    stops = [run.stop for run in simulation.schedule.runs if run.request == 0]
    assert stops == [2, 5, 8, 11, 14, 17, 20, 23, 26]


@pytest.mark.parametrize(("upper", "chosen"), [(5, "a-min"), (6, "a-ell")])
def test_the_switch_takes_a_ell_from_one_to_two_point_six_on(upper, chosen):
    # l = 2: l/u is below (3 - sqrt 5)/2 = 0.38... for u = 6 (0.33...), not for u = 5 (0.4).
    outputs = [2, upper, 2, upper, 2]
    instance = Instance("switch", 8, [0] * 5, [0] * 5, outputs, lower=[2] * 5, upper=[upper] * 5)
    by_policy = {key: runs_of(instance, key, ties="index") for key in ("a-min", "a-ell")}
    assert by_policy["a-min"] != by_policy["a-ell"]
    assert runs_of(instance, "a-switch", ties="index") == by_policy[chosen]


def test_the_threshold_of_the_switch_is_that_of_a_hundred_digits():
    fibonacci = [1, 1]
    while fibonacci[-1] < 10**18:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    pairs = [(lower, upper) for upper in range(1, 151) for lower in range(1, upper + 1)]
    # F_k / F_(k+2) are the best approximations of (3 - sqrt 5)/2, from both sides
    pairs += zip(fibonacci[:-2], fibonacci[2:], strict=True)
    assert all(prefers_a_ell(*pair) == reference_intervals.below_threshold(*pair) for pair in pairs)
    assert {prefers_a_ell(*pair) for pair in pairs[-2:]} == {True, False}


def test_ties_worst_and_best_bracket_every_order_of_equals():
    instance = Instance("equals", 4, [0] * 4, [0] * 4, [1, 2, 3, 4], upper=[4] * 4)
    costs = {ties: latency(instance, "a-max", ties=ties) for ties in ("best", "index", "worst")}
    # every output is taken for 4 = M: one at a time, shortest or longest first
    assert costs == {"best": 1 + 3 + 6 + 10, "index": 20, "worst": 4 + 7 + 9 + 10}
    random = [simulate(instance, make("a-max"), seed=seed).total_latency for seed in range(20)]
    assert all(20 <= cost <= 30 for cost in random)


@pytest.mark.parametrize(
    "key",
    [
        *("h-sf", "mc-sf", "svf", "sorted-f", "a-max", "a-min", "a-ell", "fcfs", "sjf"),
    ],
)
def test_the_policy_is_asked_at_events_not_for_tokens(key):
    long = [100_000, 200_000, 300_000]
    instance = Instance("long", 400_000, [0, 5, 9], [7, 7, 7], long, long, long, long)
    simulation = simulate(instance, make(key))
    assert simulation.outcome == "complete"
    assert simulation.decisions <= 20


def test_a_run_reports_what_was_run():
    instance = Instance("one", 5, [3], [1], [2])
    policy = make("fcfs")
    simulation = simulate(instance, policy, seed=4)
    assert (simulation.policy, simulation.seed, simulation.preemption) == (policy, 4, "restart")
    assert (simulation.outcome, simulation.decisions, simulation.total_latency) == (
        "complete", 1, 2,
    )  # fmt: skip
    assert issubclass(PolicyError, RuntimeError)


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


@pytest.mark.parametrize("base", [1.0, float("nan"), float("inf")])
def test_a_base_that_does_not_grow_is_refused(base):
    with pytest.raises(ValueError, match="base"):
        GSA(base)


POLICY = make("a-min-fluid")


@pytest.mark.parametrize(("prompt", "bound", "output"), [(0, 1, 3), (2, 3, 7), (5, 2, 2)])
def test_a_run_with_bound_b_completes_j_tokens_with_chance_s_plus_b_over_s_plus_j(
    prompt, bound, output
):
    """Lemma 1, for requests in a memory that never overflows; five standard deviations."""
    n = 8_000
    memory = n * (prompt + output)
    instance = Instance("free", memory, [0] * n, [prompt] * n, [output] * n, lower=[bound] * n)
    schedule = simulate(instance, POLICY).schedule
    first = sum(run.start == 0 and run.completed for run in schedule.runs)
    chance = (prompt + bound) / (prompt + output)
    assert abs(first - n * chance) <= 5 * (n * chance * (1 - chance)) ** 0.5


def test_an_eviction_at_age_a_raises_the_bound_to_a_plus_one():
    evictions = 0
    for seed in range(120):
        instance = drawn(seed)
        bound = {i: 1 if instance.lower is None else int(x) for i, x in enumerate(instance.output)}
        if instance.lower is not None:
            bound = dict(enumerate(instance.lower.tolist()))
        runs = simulate(instance, POLICY, seed=seed).schedule.runs
        for run in sorted(runs, key=lambda run: run.start):
            age = run.stop - run.start
            assert age >= bound[run.request]
            bound[run.request] = age + 1
            evictions += not run.completed
    assert evictions > 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("lengths", "prompt", "printed_is_above"),
    [(two_point(1, 4, Fraction(1, 5)), 0, True), (uniform(1, 5), 0, False)],
    ids=str,
)
def test_its_latency_approaches_the_numerator_of_lemma_2(lengths, prompt, printed_is_above):
    memory, n = 120, 12_000
    outputs = [
        k
        for k, share in zip(lengths.lengths.tolist(), lengths.probabilities, strict=True)
        for _ in range(int(n * share))
    ]
    instance = Instance("fluid", memory, [0] * n, [prompt] * n, outputs, lower=[1] * n)

    def scaled(policy, seed):
        return simulate(instance, policy, seed=seed).schedule.total_latency * 2 * memory / n**2

    expected = float(amin.numerator(lengths.probabilities, 1, prompt))
    found = [scaled(POLICY, seed) for seed in range(6)]
    # Student's 99.9 % quantile with five degrees of freedom is 6.87.
    assert abs(mean(found) - expected) < 6.87 * stdev(found) / 6**0.5 + 0.01 * expected
    printed = scaled(make("a-min"), 0)
    assert (printed > 1.1 * expected) if printed_is_above else (printed < 0.9 * expected)


@pytest.mark.parametrize("base", [1.0, 0.5, float("nan"), float("inf")])
def test_a_base_of_kill_restart_that_does_not_grow_is_refused(base):
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
