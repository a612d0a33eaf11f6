from itertools import pairwise, product

import numpy as np
import pytest
import sympy as sp

from ratiolab.theory.bounds import BOUNDS, evaluate

INTERVALS = list(product((1, 3, 10), (1, 2, 7, 90), (0, 1, 40, 3000)))
PRINTED = ("theorem-6", "theorem-7", "ec1-part-2")

TRANSCENDENTAL = {
    "volume-restart",
    "volume-restart/one-machine",
    "volume-restart/one-offset",
    "volume-restart/finite-range",
}
"""Roots of equations with logarithms, as those of the names that end with random-offset."""


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_evaluates_and_its_exact_text_is_its_value(name):
    result = evaluate(name, 1, 7)
    assert result.name == name == BOUNDS[name].name
    assert "arXiv" in result.source or "ratiolab" in result.source
    if name.endswith(("random-offset", "independent-offsets")) or name in TRANSCENDENTAL:
        assert result.exact is None
    else:
        assert float(sp.sympify(result.exact)) == pytest.approx(result.value, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "arguments", "exact"),
    [
        # alpha = 1/4 by hand: 4 * 5 / 2, 4 * (1 + 2) / 2, (3 - 1/4)/2, 1 + (1/4)/(3/2), 5/2.
        ("chen2025/theorem-1", (1, 4), "10"),
        ("chen2025/theorem-2-printed", (1, 4), "6"),
        ("chen2025/theorem-6-printed", (1, 4, 5), "11/8"),
        ("chen2025/theorem-7-printed", (1, 4, 5), "7/6"),
        ("chen2025/ec1-part-2-printed", (1, 4), "5/2"),
        # alpha = 3/4: 1 + 2 * 9/16
        ("chen2025/theorem-7-printed", (3, 4), "17/8"),
        ("chen2025/theorem-5-trace", (1, 4), "25/12"),
        # 1 + (1 + 1/3 + 1/5 + 1/7)/2, and 3/2 + (1/5 + 1/7)/2
        ("chen2025/theorem-5", (1, 4), "193/105"),
        ("chen2025/corollary-2", (2, 4), "117/70"),
        ("gogineni2024/rr-sjf-before-rr", (), "1"),
        ("gogineni2024/rr-sjf-over-sjf", (), "2"),
        ("chen2025/alpha-star", (1, 4), "3/2 - sqrt(5)/2"),
        ("chen2025/geometric", (), "10 - 12*log(2)"),
        ("chen2025/theorem-8", (), "14/9"),
        ("kill-restart/batches", (), "27/4"),
        ("kill-restart/refill", (), "2*sqrt(2) + 3"),
        ("jaillet2025/theorem-4.3", (), "9216"),
        ("jaillet2025/theorem-4.3-improved", (), "3072"),
        ("jaillet2025/theorem-4.3-sharp", (), "7/3"),
        ("ours/mc-sf", (1, 6, 3), "13/6"),
        ("ours/mc-sf-predictions", (2, 3, 0), "9/2"),
        ("ours/mc-sf-equal", (), "2"),
        ("ours/mc-sf-arrivals", (), "803/210"),
        ("ours/a-min-square-root", (1, 9, 0), "1920/3707"),
        # s = 1, l = 1, u = 8: g = 2 and 72, so r = 1/6: 1 + (2/9)(5)/2 and 1 + 1/10 and 7/2.
        ("chen2025/theorem-6", (1, 8, 1), "14/9"),
        ("chen2025/theorem-7", (1, 8, 1), "11/10"),
        ("chen2025/ec1-part-2", (1, 8, 1), "7/2"),
    ],
)
def test_hand_derived_values(name, arguments, exact):
    assert evaluate(name, *arguments).exact == exact


def test_the_order_of_the_bounds_and_where_prompts_break_the_printed_ones():
    theorem_2 = [f"theorem-2{end}" for end in ("-two-point", "", "-continuum", "-printed")]
    for lower, factor, s in INTERVALS:
        value = {
            name: evaluate(f"chen2025/{name}", lower, lower * factor, s).value
            for name in (*theorem_2, "theorem-1", *PRINTED, *(f"{p}-printed" for p in PRINTED))
        }
        values = [value[name] for name in (*theorem_2, "theorem-1")]
        assert all(a <= b * (1 + 1e-12) for a, b in pairwise(values))
        if factor > 2:
            # What is printed as a lower bound lies strictly above the supremum.
            assert values[1] < values[2] < values[3] < values[4]
        if factor > 1 and s > 0:
            assert value["theorem-7"] > value["theorem-7-printed"]
            # Theorem 6 with rho = (s+l)/(s+u): excess (sqrt(rho/alpha) - rho)/2, concave in rho;
            # alpha = 1/2 is its peak at rho = alpha, 1/7 and 1/90 are below (3 - sqrt(5))/2.
            breaks = value["theorem-6"] > value["theorem-6-printed"]
            assert breaks == (factor > 2)
        assert value["ec1-part-2"] <= value["ec1-part-2-printed"] * (1 + 1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("theorem-99",), "theorem-99"),
        (("chen2025/theorem-1",), "lower and upper are needed"),
        (("chen2025/theorem-1", 4, 2), "4..2"),
        (("chen2025/theorem-1", 1, 2, -3), "prompt -3"),
        (("chen2025/theorem-5-trace", 2, 4), "lower 2"),
        (("chen2025/theorem-5-trace", 1, 4, 6), "prompt 6"),
        (("chen2025/corollary-2", 2, 4, 1), "prompt 1"),
    ],
)
def test_refusals_name_field_value_and_rule(arguments, words):
    with pytest.raises(ValueError, match=words):
        evaluate(*arguments)


@pytest.mark.parametrize(("lower", "upper"), [(1, 2), (1, 30), (3, 4), (5, 20)])
def test_the_bound_on_one_of_several_intervals_is_the_inverse_of_the_proof(lower, upper):
    size = range(lower, upper + 1)
    b = sp.Matrix([[min(i, j) ** 2 for j in size] for i in size])
    w = sp.Matrix(list(size))
    value = 1 + (w.T * b.LUsolve(w))[0] / 2
    assert sp.Rational(evaluate("chen2025/corollary-2", lower, upper).exact) == value
    assert value <= 1.5 + np.log(upper / lower) / 4
