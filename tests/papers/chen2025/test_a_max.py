"""What the claims on A_max, A_random and H-SF rest on, by routes of their own."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from oracle import optimal_schedule

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import make
from ratiolab.papers.chen2025.claims import _packing
from ratiolab.papers.chen2025.claims._a_max import (
    all_lengths_radicand,
    equal_requests_ratio,
    printed_bound,
    root_above,
    root_below,
    server_supremum,
)
from ratiolab.papers.chen2025.claims.packed_schedules import long_in_front
from ratiolab.papers.chen2025.claims.theorem_2 import printed_starts, proof_ratio, server_starts
from ratiolab.papers.chen2025.claims.theorem_ec1 import h_sf_quotient
from ratiolab.papers.chen2025.staggered import max_length_stream_latency
from ratiolab.papers.limits import fluid_ratio, scaled_instance
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import max_length_latency, shortest_first_latency
from ratiolab.theory.limits.suprema import max_length_supremum


@pytest.mark.parametrize("memory", [4, 5, 7])
def test_fits_agrees_with_the_judge(memory: int) -> None:
    for outputs in product((1, 3), (2, 3)):
        instance = Instance("two", memory, [0, 0], [1, 1], outputs)
        for starts in product(range(4), repeat=2):
            judged = not violations(Schedule.from_starts(instance, starts))
            assert _packing.fits(1, outputs, starts, memory) == judged


def test_an_optimal_schedule_is_packed_and_an_idle_one_is_not() -> None:
    outputs = (1, 2, 3, 4)
    best = optimal_schedule(Instance("EC.1", 7, [0] * 4, [1] * 4, outputs)).starts.tolist()
    assert _packing.is_packed(1, outputs, best, 7)
    assert not _packing.is_packed(1, outputs, [0, 0, 0, 3], 7)
    assert tuple(best) in set(_packing.packed_schedules(1, outputs, 7))


def test_order_is_preserved_both_ways_and_delay_is_a_partial_order() -> None:
    starts = list(product(range(3), repeat=2))
    for first, second in product(starts, repeat=2):
        assert _packing.same_order(first, second) == _packing.same_order(second, first)
        if _packing.is_delayed(first, second) and _packing.is_delayed(second, first):
            assert first == second


def test_a_long_request_in_front_nearly_doubles_the_latency() -> None:
    # (2 s + 3) / (s + 2) at beta = (2 s + 1) / (2 s + 2)
    assert long_in_front(10) == (Fraction(21, 22), Fraction(23, 12))


def test_mean_over_orders_is_the_mean_over_all_permutations() -> None:
    outputs = (1, 1, 3)
    values = _packing.order_latencies("a-max", 1, 5, outputs, (1, 3))
    every = [
        _packing.latency(order, _starts(order)) for order in permutations(outputs)
    ]  # each distinct order stands twice
    assert _packing.mean(values) == Fraction(sum(every), len(every))


def _starts(order: tuple[int, ...]) -> tuple[int, ...]:
    """A_max, s = 1, u = 3, M = 5, by hand: as many as fit when all are taken for length 3."""
    starts: list[int] = []
    now = 0
    while len(starts) < len(order):
        running = [p for p, o in zip(starts, order, strict=False) if p + o > now]
        reserved = [sum(1 + now + k - p for p in running if p + 3 >= now + k) for k in range(1, 4)]
        if all(r + 1 + k <= 5 for k, r in enumerate(reserved, 1)):
            starts.append(now)
        else:
            now += 1
    return tuple(starts)


def test_one_server_is_what_memory_u_leaves_of_a_max_and_two_are_not() -> None:
    assert printed_starts((3, 1, 2), 3, 3) == server_starts((3, 1, 2), 1) == (0, 3, 4)
    assert printed_starts((1, 2, 2, 2), 2, 4) != server_starts((1, 2, 2, 2), 2)


def test_roots_enclose() -> None:
    for square in (Fraction(2), Fraction(23, 15), Fraction(9, 4)):
        assert root_below(square) ** 2 <= square <= root_above(square) ** 2
    assert root_below(Fraction(9, 4)) == root_above(Fraction(9, 4)) == Fraction(3, 2)


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 4, 0), (2, 5, 3), (1, 25, 0)])
def test_rational_supremum_encloses_the_symbolic_one(lower: int, upper: int, prompt: int) -> None:
    low, high = server_supremum(lower, upper, prompt)
    assert low <= max_length_supremum(lower, upper, prompt) <= high


def test_the_proof_of_theorem_2_has_ratio_three_where_it_says_six() -> None:
    assert proof_ratio(Fraction(1, 4), Fraction(1, 2)) == 3
    assert all_lengths_radicand(1, 4) == Fraction(176, 105)


@pytest.mark.parametrize("seed", range(5))
def test_a_max_as_printed_stays_below_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    upper, servers = 3, 2
    outputs = tuple(sorted(rng.integers(1, upper + 1, size=5).tolist()))
    mean = _packing.mean(_packing.order_latencies("a-max", 0, servers * upper, outputs, (1, upper)))
    # E[TEL] <= ((n - 1) / (2 W) + 1) sum o, against any schedule at most `printed_bound`
    assert mean <= (Fraction(len(outputs) - 1, 2 * servers) + 1) * sum(outputs)
    optimum = optimal_schedule(Instance("any", servers * upper, [0] * 5, [0] * 5, outputs))
    assert mean <= printed_bound(1, upper) * optimum.total_latency


def test_rounding_alone_exceeds_theorem_2_for_short_intervals() -> None:
    # M = 2 u - 1 lets one request start a round where H-SF starts 2 u - 1
    ratio = equal_requests_ratio(7, 60, memory=13)
    assert ratio == Fraction(13 * 60 + 1, 61)
    assert ratio > 7 * (1 + root_above(Fraction(7))) / 2


def test_the_product_of_both_steps_of_theorem_1_fails_for_three_requests() -> None:
    a_max = _packing.order_latencies("a-max", 2, 10, (4, 4, 4), (4, 5))
    a_random = _packing.order_latencies("a-random", 2, 10, (4, 4, 4), (4, 5))
    assert (a_max, a_random) == ((24,), (18,))
    assert Fraction(24) > Fraction(5, 4) * 18


def test_staggering_of_h_sf_does_not_fade_with_memory() -> None:
    assert h_sf_quotient(1, 60) == h_sf_quotient(5, 300) < Fraction(9, 10)


def test_scaled_instances_have_the_shares() -> None:
    instance = scaled_instance(two_point(1, 4, Fraction(1, 3)), 2, 24, 90)
    assert (instance.output == 4).sum() == 30
    assert set(instance.prompt.tolist()) == {2}


def test_the_student_interval_is_that_of_the_table() -> None:
    # three values, mean 2, deviation 1; t with 2 degrees of freedom at 97.5 % is 4.30265
    estimate = Estimate.of([1.0, 2.0, 3.0], confidence=0.95)
    assert estimate.high - 2 == pytest.approx(4.30265 / 3**0.5, rel=1e-5)


def test_simulated_ratio_of_the_yardstick_to_itself_is_one() -> None:
    lengths = two_point(1, 2, Fraction(1, 2))
    estimate = fluid_ratio(make("h-sf"), lengths, 0, 16, 160, range(2))
    assert (estimate.low, estimate.mean, estimate.high) == (1, 1, 1)


@pytest.mark.long
def test_the_limit_of_promoting_short_requests_is_the_fluid_ratio() -> None:
    # A_ell on equal shares of 1 and 4 with s = 0: fluid (1 (1 + y) + 16 y^2) / (1 + 15 y^2)
    half = Fraction(1, 2)
    expected = (1 + half + 16 * half**2) / (1 + 15 * half**2)
    lengths = two_point(1, 4, half)
    found = fluid_ratio(make("a-ell"), lengths, 0, 64, 2560, range(3), "fluid", extrapolate=True)
    assert found.mean == pytest.approx(float(expected), rel=0.02)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 3)])
def test_a_max_as_printed_tends_to_the_even_stream_and_not_to_servers(share: Fraction) -> None:
    lengths = two_point(1, 2, share)
    limit = fluid_ratio(make("a-max"), lengths, 0, 32, 640, range(3), "fluid", extrapolate=True)
    yardstick = shortest_first_latency(lengths)
    assert limit.mean == pytest.approx(
        float(max_length_stream_latency(lengths) / yardstick), rel=0.02
    )
    assert limit.mean < 0.95 * float(max_length_latency(lengths) / yardstick)
