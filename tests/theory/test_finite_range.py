"""What encloses the best constant for a range of volumes, by all paths, programs and drawn laws."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import sqrt

import numpy as np
import pytest

from ratiolab.theory.limits.cap_design import least_cost
from ratiolab.theory.limits.finite_range import (
    _stored,
    dual_value,
    enclosure,
    offset_value,
    stored_lower,
    stored_upper,
)
from ratiolab.theory.limits.volume_restart import Shares, best


def cheapest_path(volumes, shares, ends, prices):
    """Return the least cost of all paths that jump at begins of steps, in fractions, over OPT."""
    last, steps = len(volumes) - 1, len(ends)
    begins = [Fraction(0), *ends]
    filled = [Fraction(0)]
    for k in range(last):
        filled.append(filled[-1] + (volumes[k + 1] - volumes[k]) * shares[k])
    found = []
    for jumps in range(min(last, steps) + 1):
        for when in combinations(range(steps), jumps):
            for bounds in combinations(range(1, last + 1), jumps):
                cost, bound = Fraction(0), 0
                moves = dict(zip(when, bounds, strict=True))
                for k in range(steps):
                    if k in moves:
                        work = volumes[bound] * shares[bound] + filled[moves[k]] - filled[bound]
                        cost += prices[k] * work
                        bound = moves[k]
                    cost += (2 * shares[bound] - prices[k]) * (begins[k + 1] - begins[k])
                found.append(cost)
    optimum = sum((b - a) * y**2 for (a, b), y in zip(pairwise(volumes), shares, strict=False))
    return min(found) / optimum


def test_the_dynamic_program_finds_the_cheapest_of_all_paths():
    volumes = [Fraction(v) for v in (0, 1, 3, 8)]
    for tenths in ((10, 6, 3, 0), (10, 4, 4, 0), (10, 9, 1, 0)):
        shares = [Fraction(y, 10) for y in tenths]
        ends = [Fraction(k * k, 4) for k in range(1, 7)]
        for prices in ((4, 3, 2, 2, 1, 0), (6, 6, 1, 1, 1, 1), (2, 1, 1, 1, 1, 1)):
            exact = cheapest_path(volumes, shares, ends, [Fraction(p) for p in prices])
            args = ([float(x) for x in part] for part in (volumes, shares, ends, prices))
            assert dual_value(*args) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.long
def test_a_price_shows_what_the_linear_program_over_all_policies_does():
    # the program lets work be done until the end of a step, so it stays below its limit by O(1/n);
    # a price shows no more than that limit, and the stored one nearly all of it
    stored = _stored()["laws"][4.0]["shares"]
    volumes = np.geomspace(1, 4, len(stored) + 1)
    weights = -np.diff([1.0, *stored, 0.0])
    law = [(v, w) for v, w in zip(volumes.tolist(), weights.tolist(), strict=True) if w > 0]
    few, more = (least_cost(law, steps) / Shares(law).optimum for steps in (30, 60))
    limit = 2 * more - few
    assert few < more < stored_lower(4.0) < 1.01 * limit


def drawn_cost(law, caps, offsets):
    """Return the cost of a list, summed over offsets and levels, for a law of atoms."""
    shares = Shares(law)
    last = [0.0] * offsets
    cost = 0.0
    for k, cap in enumerate([*caps, *[law[-1][0]] * offsets]):
        bound = last[k % offsets]
        if cap <= bound:
            continue
        before = sum(shares.above(x) for x in last) / offsets
        work = shares.work(bound, cap) / offsets
        last[k % offsets] = cap
        cost += work * (before + sum(shares.above(x) for x in last) / offsets)
    return cost / shares.optimum


def test_no_law_costs_more_than_the_eigenvalue_says():
    rng = np.random.default_rng(0)
    for ratio, offsets in ((5.0, 2), (30.0, 3), (200.0, 4)):
        caps = np.geomspace(1.3, ratio * 1.5, 4 * offsets)
        caps = np.minimum(caps, ratio).tolist()
        bound = offset_value(ratio, caps, offsets)
        worst = 0.0
        for _ in range(400):
            atoms = int(rng.integers(1, 6))
            volumes = np.sort(np.exp(rng.uniform(0, np.log(ratio), atoms)))
            volumes[rng.random(atoms) < 0.5] *= 1 + 1e-9  # next to a cap
            volumes = np.unique(np.append(np.minimum(volumes, ratio), ratio))
            weights = rng.dirichlet(np.full(len(volumes), 0.5)) + 1e-6
            law = list(zip(volumes.tolist(), weights.tolist(), strict=True))
            worst = max(worst, drawn_cost(law, [c for c in caps if c < ratio], offsets))
        assert 0.75 * bound < worst <= bound


def test_never_to_kill_has_its_known_constant():
    for ratio in (2.0, 9.0):
        assert offset_value(ratio, [ratio], 1) == pytest.approx((1 + sqrt(ratio)) / 2)
        assert offset_value(ratio, [1.5, ratio], 1, never=1.0) == pytest.approx(
            (1 + sqrt(ratio)) / 2, rel=0.02
        )


def test_the_enclosure_is_exact_for_small_ranges_and_rises_to_v():
    value = float(best()[1])
    found = [enclosure(r) for r in (1, 1.5, 2, 2.6, 3, 4, 8, 16, 64, 10.0**4, 1e300)]
    for one in found:
        assert 1 <= one.lower <= one.upper <= min(value, one.never_kill)
    assert [one.gap for one in found[:4]] == [0.0] * 4
    assert found[2].lower == pytest.approx((1 + sqrt(2)) / 2)
    for narrow, wide in pairwise(found):
        assert narrow.lower <= wide.lower
        assert narrow.upper <= wide.upper
    assert found[-1].lower > 0.98 * value


def test_stored_laws_and_lists_enclose_what_they_are_said_to():
    for ratio, gap in ((4.0, 0.017), (8.0, 0.042), (16.0, 0.066), (64.0, 0.055)):
        low, high = stored_lower(ratio), stored_upper(ratio)
        assert low <= high <= low * (1 + gap)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        enclosure(0.5)
    with pytest.raises(ValueError, match="must not increase"):
        dual_value([0, 1, 2], [1, 0.5, 0], [1, 2], [1, 2])
    with pytest.raises(ValueError, match="fall from 1"):
        dual_value([0, 1, 2], [1, 0.5, 0.1], [1, 2], [2, 1])
    with pytest.raises(ValueError, match="whole range"):
        offset_value(4.0, [2.0, 3.0], 1)
