"""Replicas whose memories differ: bounds, certificates and optima against every schedule."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ratiolab.hindsight.bounds import BOUNDS, Slots, fleet_lower_bound
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.dual_feasible import names
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.fleets.solve import solve_fleet
from ratiolab.hindsight.promises import solve_promises
from ratiolab.hindsight.relaxation.growth import exact_value, growth_bounds
from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.fleet import Fleet
from tests.common.fleet_oracle import (
    held_growth_rows,
    least_fleet_latency,
    tiny_unequal_fleet,
)


def fleets(count: int, seed: int, most: int = 5) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return [tiny_unequal_fleet(rng, most) for _ in range(count)]


def test_bounds_and_schedules_lie_around_the_optimum_and_certificates_prove_them():
    """The claim one higher is refused."""
    tight = 0
    for fleet in fleets(500, seed=1):
        optimum = least_fleet_latency(fleet)
        found = solve_fleet(fleet, method="cuts")
        assert found.lower <= optimum <= found.upper
        require_feasible_fleet(found.schedule)
        proofs = [found.certificate]
        if len(fleet) < 4:
            proofs += [*growth_bounds(fleet), cut_bound(fleet).certificate]
        for proof in proofs:
            assert certify(proof, fleet) == proof.bound <= optimum
            with pytest.raises(CertificateError):
                certify(replace(proof, bound=proof.bound + 1), fleet)
        tight += found.lower == optimum
    assert tight > 350


def test_the_optimum_by_shares_and_by_both_programs_is_that_of_every_start():
    for number, fleet in enumerate(fleets(120, seed=2, most=4)):
        optimum = least_fleet_latency(fleet)
        assert require_feasible_fleet(tiny_fleet_optimum(fleet)).total_latency == optimum
        solved = [solve_fleet(fleet), solve_fleet(fleet, method="ip")]
        if number < 10:
            solved.append(solve_fleet(fleet, backend="pulp"))
        for found in solved:
            assert (found.lower, found.upper) == (optimum, optimum)


def test_formulas_bound_the_optimum_with_every_function():
    better = 0
    for fleet in fleets(150, seed=3):
        optimum, instance = least_fleet_latency(fleet), fleet.instance
        most, least = instance.memory, min(fleet.memories)
        assert least_fleet_latency(Fleet(instance, fleet.replicas)) <= optimum
        if (instance.prompt + instance.output).max() <= least < most:
            small = Fleet(instance.replace(memory=least), fleet.replicas)
            assert least_fleet_latency(small) >= optimum
        largest, _ = fleet_lower_bound(Fleet(instance, fleet.replicas))
        for name in names(instance.memory):
            slots = Slots.of(instance, fleet.memories, name)
            found = max(bound(instance, slots).value for bound in BOUNDS)
            assert found <= optimum
            better += found > largest.value
    assert better > 20


def test_growth_rows_bound_the_optimum_for_any_prices():
    rng = np.random.default_rng(4)
    for fleet in fleets(100, seed=4):
        instance, optimum = fleet.instance, least_fleet_latency(fleet)
        room, begin = sum(fleet.memories), int(fleet.instance.arrival.min())
        for _ in range(4):
            row = int(rng.integers(1, instance.memory + 1)), int(rng.integers(1, 4))
            prices = rng.integers(0, 3, (2, int(rng.integers(1, 6)))) * rng.integers(0, 2, (2, 1))
            unit = int(rng.integers(2, 20))
            value = exact_value(instance, prices, unit, 1, [row], room)
            ends = tuple(begin + k + 1 for k in range(prices.shape[1]))
            token, growth = (tuple(each.tolist()) for each in prices)
            duals = GrowthDuals(unit, begin, ends, token, (row,), (growth,))
            claim = fleet.name, fleet.digest, -(-value // unit), value, duals
            proof = GrowthCertificate(*claim, replicas=fleet.replicas)
            assert certify(proof, fleet) == proof.bound <= optimum


def test_growth_rows_hold_for_schedules_and_need_the_credit_of_the_largest():
    """The control: with the credit of the smallest memory some schedules exceed them."""
    rows = [
        held_growth_rows(tiny_fleet_optimum(fleet), Fraction(min(fleet.memories)))
        for fleet in fleets(200, seed=5)
    ]
    tight, refuted = map(sum, zip(*rows, strict=True))
    assert refuted > 5
    assert tight > 5


def test_other_objectives_are_refused_with_what_to_do_instead():
    fleet = Fleet(Instance("two", 9, [0, 0], [5, 2], [2, 2], weight=[2, 1]), 2, (9, 7))
    with pytest.raises(ValueError, match="the smallest memory for all"):
        solve_promises(fleet, "weighted")
