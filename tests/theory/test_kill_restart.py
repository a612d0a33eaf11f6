import heapq
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ratiolab.theory.laws.distributions import LengthDistribution, from_weights, two_point, uniform
from ratiolab.theory.limits import independent_offsets as offsets
from ratiolab.theory.limits import kill_restart as kr
from ratiolab.theory.limits.fluid import shortest_first_latency

# The range of sqrt(g) spans several phases; gaps between the lengths are what hurts most.
weights = st.lists(st.sampled_from([0, 0, 0, 1, 2, 5, 40]), min_size=2, max_size=40).filter(any)


def ratio(law: LengthDistribution, caps: list[float], s: int = 0, *, refill: bool) -> float:
    """Cost over that of H-SF."""
    return float(kr.latency(law, caps, s, refill=refill)) / float(shortest_first_latency(law, s))


def simulate(lengths, caps, memory, s, refill, seed):
    """Total latency of the policy run request by request on its granted places."""
    rng = np.random.default_rng(seed)
    alive, clock, total = rng.permutation(lengths), 0.0, 0.0
    for cap in caps:
        places = int(memory // (s + cap))
        order = rng.permutation(alive)
        if refill:
            free = [clock] * places
            end = clock
            for o in order:
                stop = heapq.heappop(free) + min(o, cap)
                heapq.heappush(free, stop)
                end = max(end, stop)
                total += stop if o <= cap else 0
            clock = end
        else:
            for first in range(0, len(order), places):
                batch = order[first : first + places]
                total += (clock + batch[batch <= cap]).sum()
                clock += cap
        alive = order[order > cap]
    assert len(alive) == 0
    return total


@pytest.mark.parametrize("refill", [True, False])
@pytest.mark.parametrize(
    ("d", "caps", "s"),
    [
        (two_point(2, 9, Fraction(1, 4)), (2, 9), 0),
        (from_weights(1, (6, 0, 3, 2, 0, 0, 1)), (1, 1.5, 3.2, 8), 0),
        (uniform(2, 12), (2, 5, 12), 4),
    ],
)
def test_fluid_latency_is_the_limit_of_a_simulation_by_requests(d, caps, s, refill):
    memory = 12 * 13 * 8
    lengths = np.repeat(d.lengths, (36_000 * d.array).round().astype(int))
    simulated = simulate(lengths, list(caps), memory, s, refill, 3) / (len(lengths) ** 2)
    expected = float(kr.latency(d, caps, s, refill=refill))
    assert simulated * 2 * memory == pytest.approx(expected, rel=0.02)


@settings(max_examples=60, deadline=None)
@given(
    weights,
    st.integers(1, 6),
    st.sampled_from([0, 0, 2, 50]),
    st.sampled_from([Fraction(5, 4), Fraction(3, 2), Fraction(17, 10), Fraction(5, 2)]),
    st.booleans(),
)
def test_no_distribution_exceeds_the_deterministic_constant(w, lower, s, base, refill):
    d = from_weights(lower, w)
    caps = kr.geometric_caps(lower, d.upper, base, s)
    constant = float(kr.constant(base, refill=refill, random_offset=False))
    assert ratio(d, caps, s, refill=refill) <= constant * (1 + 1e-12)


def test_best_bases_are_stationary_minima():
    b = sp.Symbol("b", positive=True)
    for refill in (True, False):
        for random_offset in (True, False):
            base, value = kr.best(refill=refill, random_offset=random_offset)
            f = kr.constant(b, refill=refill, random_offset=random_offset)
            assert abs(sp.diff(f, b).subs(b, base).evalf(20)) < 1e-12
            assert sp.diff(f, b, 2).subs(b, base) > 0
            assert abs((f.subs(b, base) - value).evalf(20)) < 1e-12


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kr.geometric_caps(3, 2, 2), "3..2"),
        (lambda: kr.geometric_caps(1, 2, 1), "base 1"),
        (lambda: kr.geometric_caps(1, 2, 2, 0, 1.0), "offset 1.0"),
        (lambda: kr.latency(uniform(1, 3), (1, 1, 3)), "cap 1"),
        (lambda: kr.latency(uniform(1, 3), (1, 2)), "last cap 2"),
        (lambda: kr.latency(uniform(1, 3), ()), "last cap 0"),
        (lambda: kr.constant(1, refill=True, random_offset=True), "base 1"),
        (lambda: kr.constant(3, refill=True, random_offset=False), "base 3"),
    ],
)
def test_refusals_name_field_value_and_rule(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_best_base_is_a_minimum_and_its_value_that_of_the_formula():
    base, value = offsets.best()
    assert float(value) == pytest.approx(3.42357, abs=5e-6)
    assert all(float(offsets.constant(float(base) + step)) > value for step in (-0.01, 0.01))
    with pytest.raises(ValueError, match="base 1 is not above 1"):
        offsets.constant(1)


def simulated(lengths: np.ndarray, base: float, seed: int) -> float:
    """Serve runs in the order of caps, one after the other, each for its memory-time in the fluid.

    With many requests a run of cap C takes C min(o, C) of the memory-time; the latency of a request
    is the memory-time until its last run ends.
    """
    rng = np.random.default_rng(seed)
    caps = base ** rng.random(len(lengths))
    clock, total = 0.0, 0.0
    queue = sorted((cap, i) for i, cap in enumerate(caps))
    while queue:
        limit = queue[0][0] * base
        now = [entry for entry in queue if entry[0] < limit]
        later = queue[len(now) :]
        for cap, i in now:
            clock += cap * min(lengths[i], cap)
            if lengths[i] <= cap:
                total += clock
            else:
                later.append((cap * base, i))
        queue = sorted(later)
    return total * 2 / len(lengths) ** 2


@pytest.mark.parametrize("base", [1.8, 2.48563])
def test_the_fluid_ratio_is_that_of_a_simulation(base):
    law = from_weights(1, [3, 0, 0, 2, 0, 0, 0, 0, 1])
    lengths = np.repeat(law.lengths, (6000 * law.array).round().astype(int)).astype(float)
    hindsight = sum(
        (2 * (length - 1) + 1) * float(law.tail[length - 1]) ** 2 for length in range(1, 10)
    )
    found = np.mean([simulated(lengths, base, seed) for seed in range(4)]) / hindsight
    assert offsets.ratio(law, base) == pytest.approx(found, rel=0.02)


def test_a_law_cut_far_out_comes_near_the_constant_and_a_wrong_kernel_would_not_bound_it():
    base, value = (float(found) for found in offsets.best())
    ratios = []
    for upper in (10, 100, 1000, 10_000):
        cut = from_weights(1, [1 / k - 1 / (k + 1) for k in range(1, upper)] + [1 / upper])
        ratios.append(offsets.ratio(cut, base, 800))
    assert all(a < b for a, b in pairwise(ratios))
    assert 0.94 * value < ratios[-1] < value
    # the kernel without the part of those that were killed has mass (b-1)/ln(b), too little
    assert ratios[-1] > (base - 1) / np.log(base)
    assert offsets.ratio(two_point(1, 3, 0.1), base) < value
