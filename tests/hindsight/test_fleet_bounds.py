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
from ratiolab.hindsight.relaxation.growth import exact_value, growth_bounds
from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible_fleet
from ratiolab.model.files import FormatError
from ratiolab.model.fleet import Fleet
from tests.common.fleet_oracle import held_growth_rows, least_fleet_latency, tiny_fleet

BIG = Fleet(Instance("big", 9, [0] * 5, [5] * 5, [2, 3, 1, 4, 2]), 2)


def fleets(count: int, seed: int, most: int = 5) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return [tiny_fleet(rng, most) for _ in range(count)]


def test_the_optimum_by_shares_is_that_of_every_start_on_every_replica():
    for fleet in fleets(120, seed=1):
        schedule = require_feasible_fleet(tiny_fleet_optimum(fleet))
        assert schedule.total_latency == least_fleet_latency(fleet)


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


def test_sums_of_a_function_are_those_over_all_ages():
    rng = np.random.default_rng(2)
    for memory in (7, 30, 10**9):
        for name in names(memory):
            f = dual_feasible(name, memory)
            output = rng.integers(1, 6, 9)
            prompt = rng.integers(0, memory - 5, 9)
            sizes, moments = f.sums(prompt, output)
            ages = [range(1, o + 1) for o in output.tolist()]
            pairs = list(zip(prompt.tolist(), ages, strict=True))
            assert sizes == [sum(f(s + g) for g in own) for s, own in pairs]
            assert moments == [sum(g * f(s + g) for g in own) for s, own in pairs]


def test_formulas_bound_the_optimum_of_every_tiny_fleet():
    better = 0
    for fleet in fleets(150, seed=3):
        optimum = tiny_fleet_optimum(fleet).total_latency
        instance, plain = fleet.instance, 0
        for name in names(instance.memory):
            slots = Slots.of(instance, fleet.memories, name)
            found = max(bound(instance, slots).value for bound in BOUNDS)
            plain = found if name == "identity" else plain
            assert found <= optimum
            better += found > plain
        best, _ = fleet_lower_bound(fleet)
        assert plain <= best.value <= optimum
    assert better > 50


def test_a_function_of_a_smaller_cap_is_no_bound():
    """The control: with half of its cap the identity exceeds the optimum."""
    refuted = 0
    for fleet in fleets(40, seed=4):
        slots = Slots.of(fleet.instance, fleet.memories)
        half = slots._replace(capacity=max(1, slots.capacity // 2))
        optimum = tiny_fleet_optimum(fleet).total_latency
        refuted += mean_busy_time(fleet.instance, half).value > optimum
    assert refuted > 5


def test_growth_rows_bound_the_optimum_for_any_prices():
    """Random prices of memory and of a growth row; each bound is checked in Python integers."""
    rng = np.random.default_rng(5)
    positive = 0
    for fleet in fleets(80, seed=5):
        instance, optimum = fleet.instance, tiny_fleet_optimum(fleet).total_latency
        for _ in range(4):
            row = int(rng.integers(1, instance.memory + 1)), int(rng.integers(1, 4))
            prices = rng.integers(0, 3, (2, int(rng.integers(1, 6)))) * rng.integers(0, 2, (2, 1))
            unit = int(rng.integers(2, 20))
            value = exact_value(instance, prices, unit, 1, [row], sum(fleet.memories))
            ends = tuple(int(instance.arrival.min()) + k + 1 for k in range(prices.shape[1]))
            token, growth = (tuple(row.tolist()) for row in prices)
            duals = GrowthDuals(unit, ends[0] - 1, ends, token, (row,), (growth,))
            claim = fleet.name, fleet.digest, -(-value // unit), value, duals
            certificate = GrowthCertificate(*claim, replicas=fleet.replicas)
            assert certify(certificate, fleet) <= optimum
            positive += certificate.bound > int(instance.output.sum())
    assert positive > 5


def test_growth_rows_hold_for_schedules_and_need_the_whole_credit():
    """The right side is R m0 M; with credits of M / 2, the control, some schedules exceed it."""
    rows = [
        held_growth_rows(tiny_fleet_optimum(fleet), Fraction(fleet.instance.memory, 2))
        for fleet in fleets(120, seed=6)
    ]
    tight, refuted = map(sum, zip(*rows, strict=True))
    assert refuted > 5
    assert tight > 5


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


def test_the_identity_on_one_replica_is_the_bound_of_an_instance():
    for fleet in fleets(50, seed=8):
        instance = fleet.instance
        slots = Slots.of(instance)
        for bound in BOUNDS:
            assert bound(instance) == bound(instance, slots)
