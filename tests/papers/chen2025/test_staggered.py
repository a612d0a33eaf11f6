"""Equal requests: the weighted bound, the staggered schedule and H-SF, against brute force."""

from fractions import Fraction
from itertools import accumulate

import pytest
from oracle import least_latency

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025.staggered import (
    batched_completions,
    batching_loss,
    completion_bounds,
    max_length_stream_latency,
    staggered_starts,
)
from ratiolab.theory.laws.distributions import two_point, uniform
from ratiolab.theory.limits.fluid import max_length_latency


def equal(output: int, memory: int, n: int) -> Instance:
    return Instance("equal", memory, [0] * n, [0] * n, [output] * n)


@pytest.mark.parametrize(
    ("output", "memory", "n"), [(1, 2, 5), (2, 3, 5), (2, 5, 6), (3, 6, 5), (3, 7, 6), (4, 9, 5)]
)
def test_no_schedule_beats_the_weighted_bound(output: int, memory: int, n: int) -> None:
    optimum = least_latency(equal(output, memory, n))
    assert sum(completion_bounds(output, memory, n)) <= optimum


def test_the_bound_is_reached_by_requests_of_length_one() -> None:
    # Length 1: M complete every round, so the k-th completes in round ceil(k / M).
    assert completion_bounds(1, 3, 7) == [1, 1, 1, 2, 2, 2, 3]


def test_the_bound_counts_e_batches_by_two_lengths() -> None:
    # (1 + 1/o)**o batches at most complete by round 2 o, which tends to e; w_0 + ... + w_o is that.
    output, batch = 50, 1000
    by_then = sum(t <= 2 * output for t in completion_bounds(output, batch * output, 3 * batch))
    assert by_then == int(batch * (1 + 1 / output) ** output)


@pytest.mark.parametrize("output", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("batch", [1, 2, 5, 12])
def test_each_completion_of_h_sf_is_within_twice_any_schedule(output: int, batch: int) -> None:
    n = 9 * batch + 1
    batched = batched_completions(output, batch * output, n)
    bounds = completion_bounds(output, batch * output, n)
    assert all(h < 2 * c for h, c in zip(batched, bounds, strict=True))
    # the closed form from the overshoot of the renewal process is weaker than the weights
    closed = [output + (k / batch - 1) * (output + 1) / 2 for k in range(1, n + 1)]
    assert all(
        c >= x - 1e-9 for k, (c, x) in enumerate(zip(bounds, closed, strict=True), 1) if k >= batch
    )


@pytest.mark.parametrize(("output", "batch"), [(2, 3), (3, 4), (5, 6)])
def test_batched_completions_are_those_of_the_simulated_h_sf(output: int, batch: int) -> None:
    instance = equal(output, batch * output, 4 * batch + 1)
    completion = simulate(instance, make("h-sf")).schedule.completion
    expected = batched_completions(output, batch * output, len(instance))
    assert sorted(completion.tolist()) == expected


@pytest.mark.parametrize("output", [3, 7, 11])
def test_staggered_starts_fit_and_gain_what_the_limit_says(output: int) -> None:
    memory = output * (output + 1)
    n = 400 * output
    schedule = Schedule.from_starts(equal(output, memory, n), staggered_starts(output, memory, n))
    assert violations(schedule) == []
    batched = sum(batched_completions(output, memory, n))
    ratio = batched / schedule.total_latency
    loss = float(batching_loss(output))
    assert loss - 0.05 < ratio < loss
    # one request a round more does not fit
    crowded = [k // 3 for k in range(n)]
    assert violations(Schedule.from_starts(equal(output, memory, n), crowded))


def test_bounds_do_not_decrease_and_start_with_the_length() -> None:
    bounds = completion_bounds(4, 10, 30)
    assert bounds[0] == 4
    assert list(accumulate(bounds, max)) == bounds


def test_bad_arguments_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="output 5 must be between 1 and memory 4"):
        completion_bounds(5, 4, 1)
    with pytest.raises(ValueError, match="requests 0 must be between"):
        completion_bounds(1, 4, 0)
    with pytest.raises(ValueError, match="output 3 does not divide memory 4"):
        batched_completions(3, 4, 1)
    with pytest.raises(ValueError, match=r"memory 5 is below o \(o \+ 1\) / 2"):
        staggered_starts(3, 5, 2)
    with pytest.raises(ValueError, match="output 0 is below 1 token"):
        batching_loss(0)


def test_an_even_stream_of_a_max_by_hand() -> None:
    # Lengths 1 and 2, half each, s = 0: ages 0 and 1 run at c and c / 2.
    # One round later c * 1 + c / 2 * 2 = 2 c, two rounds later c * 2: at most M / 2 a round.
    assert max_length_stream_latency(two_point(1, 2, Fraction(1, 2))) == 2
    # With u = 3 in place of 2: one, two, three rounds later 2 c, 2 c + 3 c / 2, 3 c.
    assert max_length_stream_latency(two_point(1, 2, Fraction(1, 2)), upper=3) == Fraction(7, 2)


@pytest.mark.parametrize("prompt", [0, 3])
def test_an_even_stream_is_never_slower_than_servers(prompt: int) -> None:
    for lengths in (uniform(1, 5), uniform(3, 5), two_point(1, 9, Fraction(1, 50))):
        stream = max_length_stream_latency(lengths, prompt)
        assert stream <= max_length_latency(lengths, prompt)
        # no schedule can do with less than the volume
        volumes = [prompt * o + o * (o + 1) // 2 for o in lengths.lengths.tolist()]
        assert stream >= lengths.expectation(volumes)


def test_a_bound_below_a_length_is_refused() -> None:
    with pytest.raises(ValueError, match="upper 3 is below the longest output 4"):
        max_length_stream_latency(uniform(1, 4), upper=3)
