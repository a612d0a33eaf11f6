"""Weighted latency and goodput of fleets: solvers against enumeration, bounds never beyond it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from promised_instances import promised

from ratiolab.hindsight import solve_promises
from ratiolab.hindsight.certificates.certificate import PromiseCertificate
from ratiolab.hindsight.certificates.certify import CertificateError
from ratiolab.hindsight.certificates.certify_promises import certify_promises
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.fleets.solve import solve_fleet
from ratiolab.hindsight.objective import Objective
from ratiolab.hindsight.relaxation.growth import exact_value, in_runs
from ratiolab.hindsight.relaxation.promised import promised_bounds
from ratiolab.model import Instance
from ratiolab.model.feasibility import fleet_violations
from ratiolab.model.fleet import Fleet, FleetSchedule, runs_of
from ratiolab.model.promises import goodput, has_dates, weighted_latency

OBJECTIVES = ("goodput", "weighted")


def fleet_of_seed(seed: int, most: int = 6) -> Fleet:
    return Fleet(promised(seed, most), 2 + seed % 2)


def objectives(fleet: Fleet) -> list[str]:
    return [name for name in OBJECTIVES if name == "weighted" or has_dates(fleet.instance)]


def enumerated(fleet: Fleet, objective: str) -> int:
    """The optimum over all vectors of starts and of replicas, literally."""
    instance, best = fleet.instance, None
    end = int(instance.arrival.max() + instance.output.sum())
    ranges = [range(a, end + 1) for a in instance.arrival.tolist()]
    places = list(itertools.product(range(fleet.replicas), repeat=len(fleet)))
    for starts in itertools.product(*ranges):
        for place in places:
            schedule = FleetSchedule.from_starts(fleet, place, starts)
            if fleet_violations(schedule):
                continue
            measure = goodput if objective == "goodput" else weighted_latency
            value = measure(schedule.runs)
            if best is None or (value > best if objective == "goodput" else value < best):
                best = value
    assert best is not None
    return best


def test_enumeration_by_shares_is_enumeration_of_all_starts_and_replicas() -> None:
    tried = 0
    for seed in range(12):
        fleet = Fleet(promised(seed, most=2), 2)
        for objective in objectives(fleet):
            found = solve_promises(fleet, objective, method="brute")
            assert found.upper == found.lower == enumerated(fleet, objective), seed
            tried += 1
    assert tried >= 20


def enclosed(fleet: Fleet) -> None:
    for objective in objectives(fleet):
        optimum = solve_promises(fleet, objective, method="brute").upper
        for options in ({}, {"backend": "pulp"}):
            found = solve_promises(fleet, objective, **options)
            assert (found.lower, found.upper) == (optimum, optimum), found.headline
            assert isinstance(found.schedule, FleetSchedule)
            assert not fleet_violations(found.schedule)
            assert Objective.of(fleet.instance, objective).value(found.schedule) == optimum
        proof = found.certificate
        assert certify_promises(proof, fleet) == proof.bound
        assert proof.bound >= optimum if objective == "goodput" else proof.bound <= optimum


@pytest.mark.parametrize("seed", range(9))
def test_both_programs_find_the_optimum_and_no_certificate_is_beyond_it(seed: int) -> None:
    enclosed(fleet_of_seed(seed))


@pytest.mark.long
def test_both_programs_find_the_optimum_on_many_fleets() -> None:
    for seed in range(9, 100):
        enclosed(fleet_of_seed(seed))


def test_any_prices_prove_a_bound_that_no_fleet_schedule_passes() -> None:
    """Random prices of memory and of a growth row; credits are those of one memory."""
    for seed in range(40):
        fleet, rng = fleet_of_seed(seed), np.random.default_rng(seed)
        instance, replicas = fleet.instance, fleet.replicas
        rows = [(int(rng.integers(1, 6)), int(rng.integers(1, 4)))]
        width = int(rng.integers(1, 4))
        whole = rng.integers(0, 9, (2, 12)) * (rng.random((2, 12)) < 0.6)
        proof = in_runs(whole, width, int(instance.arrival.min()), 16, rows)
        for name in objectives(fleet):
            aim = Objective.of(instance, name)
            value = exact_value(instance, whole, 16, width, rows, replicas * instance.memory, aim)
            cost = -(-value // 16)
            bound = aim.of_cost(max(0, cost) if aim.dropping else cost)
            claim = PromiseCertificate(
                *(instance.name, fleet.digest, bound, name, value, proof), replicas=replicas
            )
            assert certify_promises(claim, fleet) == bound
            optimum = solve_promises(fleet, name, method="brute").upper
            assert bound >= optimum if aim.dropping else bound <= optimum
            with pytest.raises(CertificateError, match=f"bound {bound - 1} is claimed"):
                certify_promises(replace(claim, bound=bound - 1), fleet)


def test_what_prices_prove_of_one_replica_is_false_for_the_fleet() -> None:
    refuted = dict.fromkeys(OBJECTIVES, 0)
    for seed in range(40):
        fleet = fleet_of_seed(seed)
        for name in objectives(fleet):
            aim = Objective.of(fleet.instance, name)
            *_, of_one = promised_bounds(fleet.instance, aim)
            optimum = solve_promises(fleet, name, method="brute").upper
            beyond = of_one.bound < optimum if aim.dropping else of_one.bound > optimum
            refuted[name] += beyond
    assert min(refuted.values()) >= 5, refuted


def test_a_certificate_holds_for_its_number_of_replicas_alone(tmp_path) -> None:
    fleet = Fleet(promised(4), 2)
    claim = solve_promises(fleet, "weighted").certificate
    write_certificate(claim, tmp_path / "proof.json")
    again = read_certificate(tmp_path / "proof.json")
    assert isinstance(again, PromiseCertificate)
    assert again == claim
    assert again.replicas == 2
    for other in (fleet.instance, Fleet(fleet.instance, 3)):
        with pytest.raises(CertificateError, match="digest"):
            certify_promises(again, other)
    with pytest.raises(CertificateError, match="3 replicas are claimed, not 2"):
        certify_promises(replace(again, replicas=3), fleet)


def test_unit_weights_are_the_total_latency_of_the_fleet() -> None:
    for seed in range(6):
        bare = Fleet(promised(seed).without_promises(), 2)
        assert solve_promises(bare, "weighted").upper == solve_fleet(bare).upper


def test_a_crowd_has_a_certified_interval_with_feasible_schedules() -> None:
    rng = np.random.default_rng(2)
    n = 150
    output, prompt = rng.integers(1, 20, n), rng.integers(0, 30, n)
    arrival = np.sort(rng.integers(0, 60, n))
    dates = {"deadline": arrival + output + rng.integers(0, 30, n)}
    crowd = Instance("crowd", 60, arrival, prompt, output, weight=rng.integers(1, 4, n), **dates)
    fleet = Fleet(crowd, 3)
    for objective in OBJECTIVES:
        found = solve_promises(fleet, objective, method="certified")
        assert isinstance(found.schedule, FleetSchedule)
        assert not fleet_violations(found.schedule)
        value = Objective.of(crowd, objective).value(found.schedule)
        assert value == (found.lower if objective == "goodput" else found.upper)
        assert found.lower <= found.upper
        assert certify_promises(found.certificate, fleet) == found.certificate.bound
        assert found.gap < 0.4
        assert found.to_dict()["replicas"] == 3
    late = runs_of(found.schedule).starts
    assert len(late) == n
