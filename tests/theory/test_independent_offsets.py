"""Kill-and-restart with an offset for each request: upper bound, lower bound, and a simulation."""

from itertools import pairwise

import numpy as np
import pytest

from ratiolab.theory.laws.distributions import from_weights, two_point
from ratiolab.theory.limits import independent_offsets as offsets


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


def steady_path(start, end):
    """Caps b**k, each taken when cap/time is sqrt((b - 1)/(W (1 + ln b)))."""
    base, value = (float(found) for found in offsets.best())
    speed = np.sqrt((base - 1) / (value * (1 + np.log(base))))
    caps = [start * speed]
    while caps[-1] < end:
        caps.append(min(end, caps[-1] * base))
    return caps, [min(end, max(start, cap / speed)) for cap in caps]


def test_the_steady_path_nearly_attains_the_bound_that_no_path_is_below():
    for end in (1e20, 1e60):
        cost = offsets.path_cost(*steady_path(3.0, end), 3.0, end)
        assert offsets.path_bound(3.0, end) <= cost <= 1.1 * offsets.path_bound(3.0, end)
    assert min(offsets.gap(k / 100) for k in range(800)) > -1e-12
    assert offsets.lower_bound(1e100) < float(offsets.best()[1])
