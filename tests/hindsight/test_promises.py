"""Weighted latency and goodput: solvers against enumeration, bounds never beyond the optimum."""

import itertools
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, run_json
from drawn import in_two
from mutations import HEAD
from promised_instances import promised
from test_mutated_files import changed_copies

from ratiolab.hindsight import solve, solve_promises
from ratiolab.hindsight.certificates.certificate import PromiseCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.certify_promises import certify_promises
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.objective import Objective
from ratiolab.hindsight.relaxation.growth import exact_value, in_runs, promised_bounds
from ratiolab.model import FormatError, Instance, Schedule, write_instance
from ratiolab.model.feasibility import fleet_violations, is_feasible, violations
from ratiolab.model.fleet import Fleet, FleetSchedule, runs_of
from ratiolab.model.promises import goodput, has_dates

TRAP = Instance("trap", 4, [0, 0], [1, 1], [3, 3], first_by=[2, 2])
"""Two requests of which one is in time without evictions, and both when one is evicted."""


OBJECTIVES = ("goodput", "weighted")


def subject(seed: int, most: int = 6) -> Instance | Fleet:
    """Return an instance, or a fleet of two replicas or three."""
    instance = promised(seed, most)
    return Fleet(instance, 1 + seed % 3) if seed % 3 else instance


def requests(one: Instance | Fleet) -> Instance:
    return one.instance if isinstance(one, Fleet) else one


def objectives(one: Instance | Fleet) -> list[str]:
    return [name for name in OBJECTIVES if name == "weighted" or has_dates(requests(one))]


def feasible(schedule: Schedule | FleetSchedule) -> bool:
    return not (fleet_violations if isinstance(schedule, FleetSchedule) else violations)(schedule)


def enumerated(one: Instance | Fleet, names: list[str]) -> dict[str, int]:
    """The optima over all vectors of starts and of replicas, literally."""
    instance, aims = requests(one), {name: Objective.of(requests(one), name) for name in names}
    values = {name: list[int]() for name in names}
    end = int(instance.arrival.max() + instance.output.sum())
    ranges = [range(a, end + 1) for a in instance.arrival.tolist()]
    replicas = range(one.replicas if isinstance(one, Fleet) else 1)
    for starts in itertools.product(*ranges):
        for place in itertools.product(replicas, repeat=len(instance)):
            if isinstance(one, Fleet):
                schedule = FleetSchedule.from_starts(one, place, starts)
            else:
                schedule = Schedule.from_starts(one, starts)
            if feasible(schedule):
                for name, aim in aims.items():
                    values[name].append(aim.value(schedule))
    return {name: (max if name == "goodput" else min)(own) for name, own in values.items()}


def test_enumeration_by_shares_is_enumeration_of_all_starts_and_replicas() -> None:
    tried = 0
    for seed in range(12):
        one = subject(seed, most=3 if seed % 3 == 0 else 2)
        for objective, optimum in enumerated(one, objectives(one)).items():
            found = solve_promises(one, objective, method="brute")
            assert found.upper == found.lower == optimum, seed
            tried += 1
    assert tried >= 20


def enclosed(one: Instance | Fleet) -> None:
    for objective in objectives(one):
        optimum = solve_promises(one, objective, method="brute").upper
        for options in ({}, {"backend": "pulp"}):
            found = solve_promises(one, objective, **options)
            assert (found.lower, found.upper) == (optimum, optimum), found.headline
            assert feasible(found.schedule)
            assert Objective.of(requests(one), objective).value(found.schedule) == optimum
        proof = found.certificate
        assert certify_promises(proof, one) == proof.bound
        assert proof.bound >= optimum if objective == "goodput" else proof.bound <= optimum


@pytest.mark.parametrize("seed", range(12))
def test_both_programs_find_the_optimum_and_no_certificate_is_beyond_it(seed: int) -> None:
    enclosed(subject(seed))


@pytest.mark.long
def test_both_programs_find_the_optimum_of_many() -> None:
    for seed in range(12, 100):
        enclosed(subject(seed))


@in_two(18, 90)
def test_any_prices_prove_a_bound_that_no_schedule_passes(seeds: range) -> None:
    """Random prices of memory and of a growth row; credits are those of one memory."""
    for seed in seeds:
        one, rng = subject(seed), np.random.default_rng(seed)
        instance, replicas = requests(one), one.replicas if isinstance(one, Fleet) else 1
        rows = [(int(rng.integers(1, 6)), int(rng.integers(1, 4)))]
        width = int(rng.integers(1, 4))
        whole = rng.integers(0, 9, (2, 12)) * (rng.random((2, 12)) < 0.6)
        proof = in_runs(whole, width, int(instance.arrival.min()), 16, rows)
        for name in objectives(one):
            aim = Objective.of(instance, name)
            value = exact_value(instance, whole, 16, width, rows, replicas * instance.memory, aim)
            cost = -(-value // 16)
            bound = aim.of_cost(max(0, cost) if aim.dropping else cost)
            claim = PromiseCertificate(
                *(instance.name, one.digest, bound, name, value, proof), replicas=replicas
            )
            assert certify_promises(claim, one) == bound
            optimum = solve_promises(one, name, method="brute").upper
            assert bound >= optimum if aim.dropping else bound <= optimum
            with pytest.raises(CertificateError, match=f"bound {bound - 1} is claimed"):
                certify_promises(replace(claim, bound=bound - 1), one)


def test_a_certificate_of_goodput_proves_nothing_about_total_latency(tmp_path: Path) -> None:
    instance = promised(4)
    claim = solve_promises(instance, "goodput").certificate
    write_certificate(claim, tmp_path / "proof.json")
    again: Any = read_certificate(tmp_path / "proof.json")
    assert again == claim
    with pytest.raises(CertificateError, match="it bounds goodput, not total latency"):
        certify(again, instance)
    with pytest.raises(CertificateError, match="it bounds goodput, not total latency"):
        solve(instance, proven=again)
    with pytest.raises(CertificateError, match="is not that of instance"):
        certify_promises(claim, instance.without_promises())


def test_unit_weights_are_total_latency_and_weights_scale() -> None:
    for seed in range(4):
        bare = promised(seed).without_promises()
        optimum = solve(bare).upper
        assert solve_promises(bare, "weighted").upper == optimum
        heavy = bare.replace(weight=[7] * len(bare))
        assert solve_promises(heavy, "weighted").upper == 7 * optimum


def test_first_tokens_of_evicted_runs_are_said_to_be_outside_the_bound() -> None:
    result = solve_promises(TRAP, "goodput")
    assert (result.lower, result.upper, result.covers) == (1, 1, "schedules without evictions")
    both = Schedule(TRAP, [0, 1, 1], [0, 0, 3], [3, 1, 6])
    assert is_feasible(both)
    assert goodput(both) == 2


def test_equal_requests_of_unequal_weight_are_told_apart() -> None:
    twins = Instance("twins", 4, [0] * 3, [1] * 3, [3] * 3, weight=[1, 9, 3], deadline=[3, 3, 6])
    assert solve_promises(twins, "goodput", method="ip").upper == 12
    assert solve_promises(twins, "weighted", method="ip").upper == 3 * (9 + 2 * 3 + 3 * 1)


def test_goodput_without_dates_is_refused() -> None:
    with pytest.raises(ValueError, match="no request has a deadline; give the column deadline"):
        solve_promises(TRAP.without_promises(), "goodput")
    with pytest.raises(ValueError, match="objective 'best' must be weighted or goodput"):
        solve_promises(TRAP, "best")  # type: ignore[arg-type]


def test_ctrl_c_keeps_the_schedule_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> Any:
        raise KeyboardInterrupt

    instance = TRAP
    monkeypatch.setattr("ratiolab.hindsight.promises.promised_bounds", stopped)
    for objective in ("goodput", "weighted"):
        result = solve_promises(instance, objective)
        assert result.interrupted
        assert result.lower <= result.upper
        assert certify_promises(result.certificate, instance) == result.certificate.bound


def test_commands_answer_with_both_ends_and_check_the_upper_bound(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, proof = tmp_path / "trap.json", tmp_path / "proof.json"
    write_instance(TRAP.without_promises(), file)
    limits = "--slo-latency", 4
    asked = "--objective", "goodput", *limits, "--certificate", proof
    found = run_json(capsys, "solve", file, *asked)
    assert (found["lower"], found["upper"], found["unreachable"]) == (1, 1, 0)
    code, out, _ = run(capsys, "certify", proof, file, *limits)
    assert code == 0
    assert "proven upper bound: no schedule of trap serves a weight above" in " ".join(out.split())
    assert run(capsys, "certify", proof, file)[0] == 1
    code, _, err = run(capsys, "solve", file, "--objective", "goodput")
    assert code == 2
    assert "--slo-latency" in err


@pytest.mark.parametrize("objective", ["goodput", "weighted"])
def test_a_changed_file_is_refused_or_proves_nothing_false(objective: Any, tmp_path: Path) -> None:
    instance, path, rng = promised(7), tmp_path / "proof.json", random.Random(3)
    optimum = solve_promises(instance, objective, method="brute").upper
    write_certificate(solve_promises(instance, objective).certificate, path)
    whole, ended = json.loads(path.read_text()), Counter[str]()
    for data in changed_copies(whole, 120, rng, head=(*HEAD, "bound")):
        path.write_text(json.dumps(data))
        try:
            claim = read_certificate(path)
            assert isinstance(claim, PromiseCertificate)
            bound = certify_promises(claim, instance)
        except (CertificateError, FormatError):
            ended["refused"] += 1
        else:
            ended["proved"] += 1
            assert bound >= optimum if claim.objective == "goodput" else bound <= optimum, data
    assert ended["refused"] > 60
    assert ended["proved"] > 0


def test_what_prices_prove_of_one_replica_is_false_for_the_fleet() -> None:
    refuted = dict.fromkeys(OBJECTIVES, 0)
    for seed in range(16):
        fleet = Fleet(promised(seed), 2)
        for name in objectives(fleet):
            aim = Objective.of(fleet.instance, name)
            *_, of_one = promised_bounds(fleet.instance, aim)
            optimum = solve_promises(fleet, name, method="brute").upper
            beyond = of_one.bound < optimum if aim.dropping else of_one.bound > optimum
            refuted[name] += beyond
    assert min(refuted.values()) >= 3, refuted


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


def test_a_crowd_has_a_certified_interval_with_feasible_schedules() -> None:
    rng = np.random.default_rng(2)
    n = 90
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
