"""The recursion for the printed A_min against the printed A_min, simulated."""

from fractions import Fraction

import pytest

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.limits.printed_a_min import (
    first_start_throughput,
    first_starts_bound,
    ratio_lower_bound,
    square_root_bound,
)


@pytest.mark.long
@pytest.mark.parametrize(("upper", "share"), [(4, Fraction(1, 5)), (8, Fraction(3, 40))])
def test_first_starts_of_the_simulated_policy_follow_the_recursion(upper, share):
    memory = 1600
    n = 20 * memory
    long = int(n * share)
    outputs = [1] * (n - long) + [upper] * long
    instance = Instance("two", memory, [0] * n, [0] * n, outputs, lower=[1] * n)
    schedule = simulate(instance, make("a-min")).schedule
    first = [10**9] * n
    for run in schedule.runs:
        first[run.request] = min(first[run.request], run.start)
    half = sorted(first)[n // 2]
    started = sum(start < half for start in first)
    simulated = started / half / memory
    assert simulated == pytest.approx(first_start_throughput(upper, float(share), half), rel=0.02)


def test_two_lengths_by_hand():
    """u = 2, p = 1/2: 1 starts, half of it is long and holds 1 in the next round: 0; then 1/2.

    Round 0: 1 starts. Round 1: the long half has age 1 and holds 2 * 1/2 = 1 in round 2, nothing
    starts. Round 2: all are done, 1 starts. So 2 in 3 rounds, 2 in 4.
    """
    assert first_start_throughput(2, 0.5, 3) == 2 / 3
    assert first_start_throughput(2, 0.5, 4) == 1 / 2


def test_the_denominator_is_that_of_h_sf():
    theta = first_start_throughput(6, 0.1, 240)
    base = float(shortest_first_latency(two_point(1, 6, Fraction(1, 10))))
    assert ratio_lower_bound(6, 0.1) == pytest.approx(1 / theta / base, rel=1e-12)


def test_the_bound_grows_like_a_square_root():
    ratios = [ratio_lower_bound(u, 0.6 / u) / u**0.5 for u in (100, 400, 1600)]
    assert 0.6 < min(ratios) < max(ratios) < 0.72


@pytest.mark.parametrize("arguments", [(1, 0.5, 9), (3, 0.0, 9), (3, 1.0, 9), (3, 0.5, 0)])
def test_what_leaves_the_model_is_refused(arguments):
    with pytest.raises(ValueError, match=r"upper|share_upper|rounds"):
        first_start_throughput(*arguments)


def test_one_round_of_the_proof_keeps_the_energy_and_lowers_the_potential():
    """Exact, in squares: N1 = N + p nu, E(nu - N1, N1) = E(nu, N); another form is not kept."""

    def square(p, nu, number, mixed):
        return number**2 + mixed * p * number * nu + p * nu**2

    for p in (Fraction(1, 2), Fraction(1, 9), Fraction(3, 400)):
        for nu, number in [
            (Fraction(a, 7), Fraction(b, 11)) for a in range(1, 8) for b in range(9)
        ]:
            after = number + p * nu
            assert square(p, nu - after, after, 1) == square(p, nu, number, 1)
            if number:
                assert square(p, nu - after, after, 0) != square(p, nu, number, 0)
            # the slopes: 0 <= dE/dnu <= sqrt(p) and dE/dN <= 1, squared
            energy = square(p, nu, number, 1)
            assert (p * number + 2 * p * nu) ** 2 <= 4 * p * energy
            assert (2 * number + p * nu) ** 2 <= 4 * energy


@pytest.mark.parametrize("upper", [2, 3, 10, 50, 300])
@pytest.mark.parametrize("scale", [0.05, 0.5, 0.99])
def test_first_starts_stay_below_the_proved_bound_and_not_far_below(upper, scale):
    share = scale / upper
    for rounds in (1, upper, 7 * upper):
        starts = first_start_throughput(upper, share, rounds) * rounds
        assert starts <= first_starts_bound(upper, share, rounds)
    # a bound an eighth as large would be wrong, unless hardly any request is long
    assert scale < 0.5 or starts > first_starts_bound(upper, share, rounds) / 8


def test_the_proved_ratio_is_below_the_computed_one_and_grows_like_a_square_root():
    for upper in (16, 100, 900):
        proved = float(square_root_bound(upper))
        assert 0.2 * proved < proved < ratio_lower_bound(upper, 9 / (16 * upper))
    assert float(square_root_bound(10**8)) == pytest.approx(0.2849 * 10**4, rel=1e-3)
