"""Bounds and certificates of fleets against every schedule of tiny ones."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ratiolab.hindsight.bounds import (
    BOUNDS,
    Slots,
    best_lower_bound,
    fleet_lower_bound,
    mean_busy_time,
)
from ratiolab.hindsight.certificates.certificate import (
    CellCertificate,
    FormulaCertificate,
    GrowthCertificate,
)
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.dual_feasible import dual_feasible, names
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.fleets.solve import solve_fleet
from ratiolab.hindsight.promises import solve_promises
from ratiolab.hindsight.relaxation.growth import exact_value, growth_bounds
from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.files import FormatError
from ratiolab.model.fleet import Fleet
from tests.common.fleet_oracle import (
    held_growth_rows,
    least_fleet_latency,
    tiny_fleet,
    tiny_unequal_fleet,
)

BIG = Fleet(Instance("big", 9, [0] * 5, [5] * 5, [2, 3, 1, 4, 2]), 2)


def fleets(count: int, seed: int, most: int = 5) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return [tiny_fleet(rng, most) for _ in range(count)]


@pytest.mark.parametrize("memory", [*range(1, 25), 36, 60])
def test_dual_feasible_functions_never_fall_and_keep_their_cap(memory):
    """The most that fits is found by the unbounded knapsack."""
    for name in names(memory):
        f = dual_feasible(name, memory)
        values = [f(x) for x in range(memory + 1)]
        assert values == sorted(values)
        assert values[0] == 0
        most = [0] * (memory + 1)
        for room in range(1, memory + 1):
            most[room] = max(values[x] + most[room - x] for x in range(1, room + 1))
            assert most[room] <= values[room]  # the cap of a smaller memory
        assert values[memory] == f.cap


@pytest.mark.parametrize("name", ["rounding-0", "rounding-6", "threshold-6", "threshold-0", "x"])
def test_names_of_no_function_are_refused(name):
    with pytest.raises(ValueError, match="is none for memory 10"):
        dual_feasible(name, 10)


def test_a_function_of_a_smaller_cap_is_no_bound():
    """The control: with half of its cap the identity exceeds the optimum."""
    refuted = 0
    for fleet in fleets(40, seed=4):
        slots = Slots.of(fleet.instance, fleet.memories)
        half = slots._replace(capacity=max(1, slots.capacity // 2))
        optimum = tiny_fleet_optimum(fleet).total_latency
        refuted += mean_busy_time(fleet.instance, half).value > optimum
    assert refuted > 5


def test_cuts_bound_the_optimum_and_nearly_reach_it():
    total = reached = 0
    for fleet in fleets(60, seed=7):
        optimum = tiny_fleet_optimum(fleet).total_latency
        found = cut_bound(fleet)
        assert certify(found.certificate, fleet) == found.lower <= optimum
        total, reached = total + optimum, reached + found.lower
    assert reached >= 0.99 * total


def test_certificates_of_fleets_are_read_back_and_hold_for_their_number_alone(tmp_path):
    instance, path = BIG.instance, tmp_path / "proof.json"
    bound, function = fleet_lower_bound(BIG)
    claim = BIG.name, BIG.digest, bound.value, bound.source
    proofs = [
        FormulaCertificate(*claim, replicas=2, function=function),
        cut_bound(BIG).certificate,
        list(growth_bounds(BIG))[-1],
    ]
    assert function != "identity"
    for proof in proofs:
        write_certificate(proof, path)
        assert read_certificate(path) == proof
        assert certify(proof, BIG) == proof.bound
        text = path.read_text()
        assert '"replicas": 2' in text
        for other in (instance, Fleet(instance, 3)):
            with pytest.raises(CertificateError, match="digest"):
                certify(proof, other)
            with pytest.raises(CertificateError, match="replicas are claimed"):
                certify(replace(proof, digest=other.digest), other)
        path.write_text(text.replace('"replicas": 2', '"replicas": 3'))
        with pytest.raises((FormatError, CertificateError), match=r"check|3 replicas are"):
            certify(read_certificate(path), BIG)


def test_a_bound_of_one_replica_claimed_for_two_is_refused():
    instance = BIG.instance
    bound = best_lower_bound(instance)
    false = FormulaCertificate(BIG.name, BIG.digest, bound.value, bound.source, replicas=2)
    with pytest.raises(CertificateError, match="is claimed"):
        certify(false, BIG)
    growth = list(growth_bounds(instance))[-1]
    with pytest.raises(CertificateError, match="the duals prove"):
        certify(replace(growth, digest=BIG.digest, replicas=2), BIG)


def test_searches_over_one_memory_are_refused_for_several():
    cells = CellCertificate(BIG.name, BIG.digest, 1, (), 0, replicas=2)
    with pytest.raises(CertificateError, match="is for one replica"):
        certify(cells, BIG)


def unequal_fleets(count: int, seed: int, most: int = 5) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return [tiny_unequal_fleet(rng, most) for _ in range(count)]


def test_bounds_and_schedules_lie_around_the_optimum_and_certificates_prove_them():
    """The claim one higher is refused."""
    tight = 0
    for fleet in unequal_fleets(40, seed=1):
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
    assert tight > 27


def test_the_optimum_by_shares_and_by_both_programs_is_that_of_every_start():
    for number, fleet in enumerate(unequal_fleets(30, seed=2, most=4)):
        optimum = least_fleet_latency(fleet)
        assert require_feasible_fleet(tiny_fleet_optimum(fleet)).total_latency == optimum
        solved = [solve_fleet(fleet), solve_fleet(fleet, method="ip")]
        if number < 6:
            solved.append(solve_fleet(fleet, backend="pulp"))
        for found in solved:
            assert (found.lower, found.upper) == (optimum, optimum)


def test_formulas_bound_the_optimum_with_every_function():
    better = 0
    for fleet in unequal_fleets(80, seed=3):
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
    for fleet in unequal_fleets(100, seed=4):
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
        for fleet in unequal_fleets(60, seed=5)
    ]
    tight, refuted = map(sum, zip(*rows, strict=True))
    assert refuted > 2
    assert tight > 2


def test_other_objectives_are_refused_with_what_to_do_instead():
    fleet = Fleet(Instance("two", 9, [0, 0], [5, 2], [2, 2], weight=[2, 1]), 2, (9, 7))
    with pytest.raises(ValueError, match="the smallest memory for all"):
        solve_promises(fleet, "weighted")
