"""The simulation: the rule on hand-made queues, then the verdict on the formulas."""

import numpy as np
import pytest

from ratiolab.papers.shahout2025.queues import mg1
from ratiolab.papers.shahout2025.queues.mg1_simulation import (
    Sampler,
    exponential_predictions,
    perfect_exponential,
    run,
    simulate,
)


def naive(arrival, size, prediction, fraction):  # type: ignore[no-untyped-def]
    """Integer times, one unit at a time, the rule written out again."""
    n = len(arrival)
    age, completion = [0] * n, [0] * n
    last, now = -1, 0
    while min(completion) == 0:
        here = [i for i in range(n) if arrival[i] <= now and completion[i] == 0]
        if here:
            immune = [i for i in here if age[i] > 0 and age[i] >= fraction * prediction[i]]
            rank = {i: prediction[i] - age[i] for i in here}
            # An immune job holds the server; the running job keeps it at equal rank.
            i = immune[0] if immune else min(here, key=lambda j: (rank[j], j != last, j))
            age[i] += 1
            last = i
            if age[i] == size[i]:
                completion[i] = now + 1
        now += 1
    return completion


def test_event_loop_follows_the_rule_unit_by_unit() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(1, 7))
        arrival = np.sort(rng.choice(15, n, replace=False))
        size = rng.integers(1, 8, n)
        prediction = size + rng.integers(-1, 3, n) * rng.integers(0, 2)
        prediction = np.maximum(prediction, 1) + np.arange(n) / 64  # no ties
        fraction = float(rng.choice([0, 0.25, 0.5, 1]))
        completion, _ = run(arrival * 1.0, size * 1.0, prediction, fraction)
        assert completion.tolist() == naive(arrival, size, prediction, fraction)


def test_memory_counts_the_age_of_waiting_jobs() -> None:
    # Job 0 serves 0-4, waits at age 4 during 4-5, serves 5-11; job 1 serves 4-5.
    # Integral: 8 + (4 + 1/2) + (24 + 18) = 54.5; peak 10.
    arrival, size = np.array([0.0, 4.0]), np.array([10.0, 1.0])
    _, memory = run(arrival, size, size, 1)
    assert memory.tolist() == [54.5, 10]


@pytest.mark.parametrize(
    ("sampler", "model"),
    [(perfect_exponential, mg1.PERFECT), (exponential_predictions, mg1.EXPONENTIAL)],
)
@pytest.mark.parametrize("fraction", [0, 0.2, 0.8, 1])
def test_simulation_confirms_the_corrected_formula_and_refutes_the_printed_one(
    sampler: Sampler, model: mg1.PredictionModel, fraction: float
) -> None:
    exact, printed = mg1.corrected(model, fraction), mg1.as_printed(model, fraction)
    rng = np.random.default_rng(int(100 * fraction))
    for rate in (0.5, 0.7):
        seen = simulate(sampler, fraction, rate, rng=rng, confidence=0.999)
        assert seen.response_time.covers(exact.mean_response_time(rate))
        assert seen.memory.covers(exact.mean_memory(rate))
        assert not seen.response_time.covers(printed.mean_response_time(rate))
        assert seen.response_time.half_width < 0.04 * seen.response_time.mean


@pytest.mark.long
def test_limited_preemption_beats_full_preemption_near_saturation_on_the_same_jobs() -> None:
    # Common random numbers: the same jobs under both policies, so only their difference
    # fluctuates. One-sided at 99.9 % with 9 degrees of freedom: t = 4.30.
    rng, jobs, gain = np.random.default_rng(11), 500_000, []
    for _ in range(10):
        arrival = np.cumsum(rng.exponential(1 / 0.99, jobs))
        size, prediction = exponential_predictions(rng, jobs)
        little, full = (run(arrival, size, prediction, c)[0].mean() for c in (0.15, 1))
        gain.append(full - little)
    assert np.mean(gain) > 4.3 * np.std(gain, ddof=1) / np.sqrt(10)


def test_same_seed_same_estimate() -> None:
    one, two = (
        simulate(perfect_exponential, 0.5, 0.5, rng=np.random.default_rng(1), jobs=1000)
        for _ in range(2)
    )
    assert one == two


def test_bad_input_is_refused_by_name() -> None:
    one = np.ones(1)
    with pytest.raises(ValueError, match="size"):
        run(one, np.ones(2), one, 0.5)
    with pytest.raises(ValueError, match="arrival"):
        run(np.array([1.0, 0.0]), np.ones(2), np.ones(2), 0.5)
    with pytest.raises(ValueError, match="fraction 2"):
        run(one, one, one, 2)
    with pytest.raises(ValueError, match="replications 1"):
        simulate(perfect_exponential, 0, 0.5, rng=np.random.default_rng(0), replications=1)
