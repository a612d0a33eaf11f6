"""What the claims on A_max, A_min and their proofs rest on, by routes of their own."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations, product

import pytest
from oracle import least_latency, optimal_schedule

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import make, simulate
from ratiolab.papers import experiments, redraw, reproduce
from ratiolab.papers.chen2025.claims import _packing
from ratiolab.papers.chen2025.claims._a_max import (
    printed_bound,
    root_above,
    root_below,
    server_supremum,
)
from ratiolab.papers.chen2025.claims._lemma2 import completions
from ratiolab.papers.chen2025.claims._printed import by_period
from ratiolab.papers.chen2025.claims.corollary_2 import starts_of
from ratiolab.papers.chen2025.claims.packed_schedules import long_in_front
from ratiolab.papers.chen2025.staggered import (
    batched_completions,
    batching_loss,
    completion_bounds,
    max_length_stream_latency,
    staggered_starts,
)
from ratiolab.papers.limits import fluid_ratio
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import from_weights, two_point
from ratiolab.theory.limits.fluid import max_length_latency, shortest_first_latency
from ratiolab.theory.limits.suprema import max_length_supremum
from ratiolab.theory.rayleigh import geometric
from ratiolab.theory.rayleigh.amin import matrices
from ratiolab.version import made_by


def test_roots_enclose():
    for square in (Fraction(2), Fraction(23, 15), Fraction(9, 4)):
        assert root_below(square) ** 2 <= square <= root_above(square) ** 2
    assert root_below(Fraction(9, 4)) == root_above(Fraction(9, 4)) == Fraction(3, 2)


@pytest.mark.parametrize(("lower", "upper", "prompt"), [(1, 4, 0), (2, 5, 3), (1, 25, 0)])
def test_rational_supremum_encloses_the_symbolic_one(lower, upper, prompt):
    low, high = server_supremum(lower, upper, prompt)
    assert low <= max_length_supremum(lower, upper, prompt) <= high


def test_the_student_interval_is_that_of_the_table():
    # three values, mean 2, deviation 1; t with 2 degrees of freedom at 97.5 % is 4.30265
    estimate = Estimate.of([1.0, 2.0, 3.0], confidence=0.95)
    assert estimate.high - 2 == pytest.approx(4.30265 / 3**0.5, rel=1e-5)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 3)])
def test_a_max_as_printed_tends_to_the_even_stream_and_not_to_servers(share):
    lengths = two_point(1, 2, share)
    limit = fluid_ratio(make("a-max"), lengths, 0, 32, 640, range(3), "fluid", extrapolate=True)
    yardstick = shortest_first_latency(lengths)
    assert limit.mean == pytest.approx(
        float(max_length_stream_latency(lengths) / yardstick), rel=0.02
    )
    assert limit.mean < 0.95 * float(max_length_latency(lengths) / yardstick)


@pytest.mark.parametrize(("lower", "prompt"), [(1, 0), (2, 0), (1, 3), (3, 2)])
def test_the_recursion_completes_everybody_and_serves_what_proposition_1_says(lower, prompt):
    shares = [Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(1, 6)]
    served, done = completions(shares, lower, prompt)
    for n, share in enumerate(shares):
        j = lower + n
        assert sum(done[i, j] for i in range(lower, lower + 4)) == share
        assert served[lower, j] == share
        for i in range(lower + 1, j + 1):
            assert served[i, j] == share / (prompt + i)


def test_periods_are_read_off_a_schedule():
    instance = Instance("periods", 9, [0, 0], [0, 0], [3, 1])
    runs = [(0, 0, 1), (0, 1, 2), (0, 4, 7), (1, 0, 1)]
    served, done = by_period(Schedule.from_runs(instance, runs), 1)
    assert served == {(1, 3): 1, (2, 3): 2, (1, 1): 1}
    assert done == {(1, 3): 0, (2, 3): 1, (1, 1): 1}


def test_the_slope_of_the_geometric_ratio_is_positive_where_it_is_computed():
    """The proof in figure_3 bounds the logarithm; finite differences do not need it."""
    values = [
        float(geometric.quotient(from_weights(1, [q**k for k in range(400)])))
        for q in [k / 40 for k in range(1, 37)]
    ]
    assert all(a < b for a, b in pairwise(values))
    assert values[-1] < 1.6823


FIGURE_1 = experiments()["chen2025-figure-1"]


def test_the_table_has_the_exact_maximum_at_u_2(tmp_path):
    """At u = 2, 5/4 B - A is singular and has no negative direction, so the maximum is 5/4."""
    page = reproduce(FIGURE_1, tmp_path, quick=True, workers=1)
    lines = (tmp_path / "chen2025-figure-1.csv").read_text().splitlines()
    place = {name: lines[0].split(",").index(name) for name in ("u", "ratio")}
    table = {int(row[place["u"]]): float(row[place["ratio"]]) for row in map(_cells, lines[1:])}
    assert sorted(table) == list(range(2, 61))
    A, B = matrices(1, 2, exact=True)
    rest = Fraction(5, 4) * B - A
    assert rest[0, 0] * rest[1, 1] == rest[0, 1] ** 2
    assert table[2] == pytest.approx(1.25, abs=1e-8)
    assert "| 2 | 1.250000 | 1.369198 |" in page.read_text()
    picture = tmp_path / "chen2025-figure-1-ratio.png"
    # drawn once more from the table alone
    written, drawn = page.read_text(), picture.read_bytes()
    assert written.endswith(f"{made_by()}.*\n")
    picture.unlink()
    assert redraw(FIGURE_1, tmp_path, quick=True).read_text() == written
    assert picture.read_bytes() == drawn


def _cells(line: str) -> list[str]:
    return line.split(",")


def a_max(prompt, upper, memory, order):
    """Return A_max's total latency: each starts once all fit that are taken for `upper` tokens."""
    starts, now = [], 0
    while len(starts) < len(order):
        there = [p for p, o in zip(starts, order, strict=False) if p + o > now] + [now]
        held = (
            sum(prompt + t - p for p in there if t <= p + upper)
            for t in range(now + 1, now + upper + 1)
        )
        if max(held) <= memory:
            starts.append(now)
        else:
            now += 1
    return sum(p + o for p, o in zip(starts, order, strict=True))


def supremum_exceeds(value, lower, upper, prompt):
    """Is a value at most (s+u)/(s+l) (1 + sqrt R)/2? By squares, without any root."""
    radicand = 1 + Fraction(prompt + lower, lower) * sum(
        Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1)
    )
    root = 2 * value * Fraction(prompt + lower, prompt + upper) - 1
    return root <= 0 or root**2 <= radicand


def test_a_max_as_printed_costs_at_most_what_each_step_says():
    steps, over = 0, []
    for (lower, upper), prompt in product([(1, 2), (1, 4), (2, 3)], (0, 3)):
        for many in (1, 2):
            memory = many * (prompt + upper)
            lengths = {lower, (lower + upper) // 2, upper}
            for outputs in combinations_with_replacement(sorted(lengths), 4):
                costs = [a_max(prompt, upper, memory, order) for order in permutations(outputs)]
                mean, whole, n = Fraction(sum(costs), len(costs)), sum(outputs), len(outputs)
                distinct = _packing.order_latencies(
                    "a-max", prompt, memory, outputs, (lower, upper)
                )
                assert _packing.mean(distinct) == mean
                assert mean <= whole + Fraction(n - 1, 2 * many) * whole
                optimum = optimal_schedule(
                    Instance("case", memory, [0] * n, [prompt] * n, outputs)
                ).total_latency
                # the ratio is at most 1 + 2 suprema of the server model
                assert supremum_exceeds((mean / optimum - 1) / 2, lower, upper, prompt)
                assert prompt or mean <= printed_bound(lower, upper) * optimum
                over.append(mean / optimum)
                steps += 1
    assert steps == 2 * 2 * (15 + 5 + 5)  # multisets of three, two and two lengths
    assert max(over) > 1


def equal(output: int, memory: int, n: int) -> Instance:
    return Instance("equal", memory, [0] * n, [0] * n, [output] * n)


@pytest.mark.parametrize(
    ("output", "memory", "n"), [(1, 2, 5), (2, 3, 5), (2, 5, 6), (3, 6, 5), (3, 7, 6), (4, 9, 5)]
)
def test_no_schedule_beats_the_weighted_bound(output, memory, n):
    optimum = least_latency(equal(output, memory, n))
    assert sum(completion_bounds(output, memory, n)) <= optimum


@pytest.mark.parametrize("output", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("batch", [1, 2, 5, 12])
def test_each_completion_of_h_sf_is_within_twice_any_schedule(output, batch):
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
def test_batched_completions_are_those_of_the_simulated_h_sf(output, batch):
    instance = equal(output, batch * output, 4 * batch + 1)
    completion = simulate(instance, make("h-sf")).schedule.completion
    expected = batched_completions(output, batch * output, len(instance))
    assert sorted(completion.tolist()) == expected


@pytest.mark.parametrize("output", [3, 7, 11])
def test_staggered_starts_fit_and_gain_what_the_limit_says(output):
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


def test_bad_arguments_are_refused_by_name():
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


def test_a_long_request_in_front_nearly_doubles_the_latency():
    # (2 s + 3) / (s + 2) at beta = (2 s + 1) / (2 s + 2)
    assert long_in_front(10) == (Fraction(21, 22), Fraction(23, 12))


def test_an_output_at_two_ends_belongs_to_the_upper_interval():
    assert starts_of([(1, 3), (3, 5)]) == [1, 1, 3, 3, 3]
