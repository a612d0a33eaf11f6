"""A_min with random caps: its law of survival, its bounds, and Lemma 2 as its limit."""

from fractions import Fraction
from statistics import mean, stdev

import pytest
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.testing import assert_lawful
from ratiolab.theory.laws.distributions import two_point, uniform
from ratiolab.theory.rayleigh import amin

POLICY = make("a-min-fluid")


def test_it_obeys_the_laws_of_a_policy():
    for seed in range(60):
        assert_lawful(POLICY, drawn(seed, most_requests=6), seed)


@pytest.mark.parametrize(("prompt", "bound", "output"), [(0, 1, 3), (2, 3, 7), (5, 2, 2)])
def test_a_run_with_bound_b_completes_j_tokens_with_chance_s_plus_b_over_s_plus_j(
    prompt, bound, output
):
    """Lemma 1, for requests in a memory that never overflows; five standard deviations."""
    n = 20_000
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
