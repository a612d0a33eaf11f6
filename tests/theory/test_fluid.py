from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from ratiolab.theory.laws.distributions import LengthDistribution, from_weights, two_point, uniform
from ratiolab.theory.limits import fluid, suprema

weights = st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any)


def literal_shortest_first(d: LengthDistribution, s: int) -> Fraction:
    """The denominator of Lemma 2 as printed."""
    x = {k: d.probability(k) for k in range(d.lower, d.upper + 1)}
    return sum(k * (s + k) * x[k] * (x[k] + 2 * sum(x[i] for i in x if i > k)) for k in x)


def literal_lemma_2(d: LengthDistribution, s: int) -> Fraction:
    """The quotient of Lemma 2 as printed, as a double sum."""
    x = {k: d.probability(k) for k in range(d.lower, d.upper + 1)}
    numerator = Fraction(0)
    for k in x:
        delta = s + d.lower if k == d.lower else 1
        work = sum(i * x[i] for i in x if i >= k)
        done = sum(Fraction(delta, s + i) * x[i] for i in x if i >= k)
        left = sum(Fraction(i - k, s + i) * x[i] for i in x if i > k)
        numerator += delta * work * (done + 2 * left)
    return numerator / literal_shortest_first(d, s)


@settings(deadline=None)
@given(weights, st.integers(1, 5), st.integers(0, 9))
def test_shortest_first_latency_is_the_printed_denominator(w, lower, s) -> None:
    d = from_weights(lower, w)
    assert fluid.shortest_first_latency(d, s) == literal_shortest_first(d, s)


def simulated_shortest_first(lengths: list[int], memory: int, s: int) -> int:
    """Total latency of batches of equal peak, shortest first, each run to its end."""
    clock, total, queue = 0, 0, sorted(lengths)
    while queue:
        size = memory // (s + queue[0])
        batch = [o for o in queue[:size] if o == queue[0]]
        clock += batch[0]
        total += clock * len(batch)
        queue = queue[len(batch) :]
    return total


def simulated_servers(lengths, memory: int, reserve: int) -> float:
    """Total latency of memory // reserve servers that take lengths in order."""
    free = np.zeros(memory // reserve)
    total = 0
    for o in lengths:
        i = int(free.argmin())
        free[i] += o
        total += free[i]
    return float(total)


def test_fluid_forms_are_the_limits_of_simulated_schedules() -> None:
    d, s, memory = from_weights(2, (5, 3, 0, 2)), 3, 840
    lengths = np.repeat(d.lengths, (20_000 * d.array).astype(int))
    unit = len(lengths) ** 2 / (2 * memory)
    simulated = simulated_shortest_first(list(lengths), memory, s) / unit
    assert simulated == pytest.approx(float(fluid.shortest_first_latency(d, s)), rel=0.02)
    np.random.default_rng(0).shuffle(lengths)
    servers = simulated_servers(lengths, memory, s + d.upper) / unit
    assert servers == pytest.approx(float(fluid.max_length_latency(d, s)), rel=0.02)


@settings(deadline=None)
@given(weights, st.integers(1, 5), st.integers(0, 9))
def test_no_distribution_exceeds_the_suprema(w, lower, s) -> None:
    d = from_weights(lower, w)
    top = float(suprema.max_length_supremum(lower, d.upper, s))
    assert fluid.max_length_ratio(d, s) <= top * (1 + 1e-12)
    assert fluid.random_order_ratio(d, s) <= float(
        suprema.random_order_supremum(lower, d.upper, s)
    ) * (1 + 1e-12)


@pytest.mark.parametrize(("lower", "upper", "s"), [(1, 2, 0), (1, 40, 0), (3, 60, 5), (2, 9, 100)])
def test_max_length_supremum_is_an_eigenvalue_and_is_attained(lower, upper, s) -> None:
    k = np.arange(lower, upper + 1.0)
    low = np.minimum.outer(k, k)
    B = low * (s + low)
    A = (s + upper) * np.add.outer(k, k) / 2
    eigenvalue = np.linalg.eigvals(np.linalg.solve(B, A)).real.max()
    value = float(suprema.max_length_supremum(lower, upper, s))
    assert value == pytest.approx(eigenvalue, rel=1e-8)
    worst = suprema.max_length_maximiser(lower, upper, s)
    assert worst.array.min() >= 0
    assert fluid.max_length_ratio(worst, s) == pytest.approx(value, rel=1e-12)


def best_two_point(ratio, lower: int, upper: int) -> float:
    """The maximum over the share of long requests; each ratio has one interior peak."""
    found = minimize_scalar(
        lambda x: -float(ratio(two_point(lower, upper, x))),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    ends = (two_point(lower, upper, x) for x in (0.0, 1.0))
    return max(-found.fun, *(float(ratio(d)) for d in ends))


@pytest.mark.parametrize("lower", [1, 4])
@pytest.mark.parametrize("upper", [5, 30])
@pytest.mark.parametrize("s", [0, 7, 300])
def test_two_point_suprema_are_maxima_over_the_share(lower, upper, s) -> None:
    laws = (
        (lambda d: fluid.max_length_ratio(d, s), suprema.max_length_two_point_supremum),
        (lambda d: fluid.random_order_ratio(d, s), suprema.random_order_supremum),
        (lambda d: fluid.promote_short_ratio(d, s), suprema.promote_short_supremum),
        (lambda d: literal_lemma_2(d, s), suprema.lower_bound_two_point_supremum),
    )
    for ratio, supremum in laws:
        best = best_two_point(ratio, lower, upper)
        assert best == pytest.approx(float(supremum(lower, upper, s)), rel=1e-9)


u, s, t, a = sp.symbols("u s t a", positive=True)


@pytest.mark.parametrize("s", [0, 2, 30])
def test_integer_suprema_rise_to_the_continuum_with_the_scale(s) -> None:
    limit = float(suprema.max_length_supremum_continuum(1, 6, s))
    values = [float(suprema.max_length_supremum(c, 6 * c, s * c)) for c in (1, 4, 64)]
    assert values[0] < values[1] < values[2] < limit
    assert values[2] == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize("ratio", [0, Fraction(1, 3), 1, 7, 1000])
def test_switch_alpha_makes_both_two_point_maxima_equal(ratio) -> None:
    alpha = suprema.switch_alpha(ratio)
    assert sp.Rational(1, 4) < alpha <= (3 - sp.sqrt(5)) / 2
    sig = sp.Rational(str(ratio))
    root = float(suprema.area_root(alpha, 1, sig))
    assert root <= 0.5
    promote = 1 + root / (2 * (1 - root))
    lower_bound = float(suprema.lower_bound_two_point_supremum(alpha, 1, sig))
    assert promote == pytest.approx(lower_bound, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 200))
def test_suprema_are_one_when_lengths_are_known(lower, gap, s) -> None:
    assert suprema.max_length_supremum(lower, lower, s) == 1
    assert suprema.max_length_two_point_supremum(lower, lower, s) == 1
    assert suprema.random_order_supremum(lower, lower, s) == 1
    assert suprema.lower_bound_two_point_supremum(lower, lower, s) == 1
    assert suprema.promote_short_supremum(lower, lower, s) == 1
    assert suprema.promote_short_supremum(lower, lower + gap, s) >= 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: suprema.max_length_supremum(3, 2), "3..2"),
        (lambda: suprema.promote_short_supremum(1, 2, -1), "prompt -1"),
        (lambda: suprema.switch_alpha(-1), "negative"),
        (lambda: fluid.promote_short_latency(uniform(1, 3)), "length 2"),
        (lambda: fluid.max_length_latency(uniform(1, 3), 0, 2), "upper 2"),
    ],
)
def test_refusals_name_field_value_and_rule(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()
