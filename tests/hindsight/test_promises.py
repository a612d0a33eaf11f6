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
from promised_instances import promised
from test_mutated_files import HEAD, changed_copies

from ratiolab.hindsight import solve, solve_promises
from ratiolab.hindsight.certificates.certificate import PromiseCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.certify_promises import certify_promises
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.objective import Objective
from ratiolab.hindsight.relaxation.growth import exact_value, in_runs
from ratiolab.model import FormatError, Instance, Schedule, write_instance
from ratiolab.model.feasibility import is_feasible
from ratiolab.model.promises import goodput, weighted_latency

TRAP = Instance("trap", 4, [0, 0], [1, 1], [3, 3], first_by=[2, 2])
"""Two requests of which one is in time without evictions, and both when one is evicted."""


def enumerated(instance: Instance, objective: str) -> int:
    """Return the optimum over all vectors of starts in a short horizon, late ones one by one."""
    end = int(instance.arrival.max() + instance.output.sum())
    best = None
    ranges = [range(a, end + 1) for a in instance.arrival.tolist()]
    for starts in itertools.product(*ranges):
        schedule = Schedule.from_starts(instance, starts)
        if is_feasible(schedule):
            if objective == "goodput":
                best = max(best or 0, goodput(schedule))
            else:
                value = weighted_latency(schedule)
                best = value if best is None else min(best, value)
    assert best is not None
    return best


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_by_requests_is_enumeration_of_all_starts(seed: int) -> None:
    instance = promised(seed, most=3)
    for objective in ("goodput", "weighted"):
        result = solve_promises(instance, objective, method="brute")
        assert result.is_exact
        assert result.upper == enumerated(instance, objective)


def enclosed(instance: Instance) -> None:
    for objective in ("goodput", "weighted"):
        optimum = solve_promises(instance, objective, method="brute").upper
        for options in ({}, {"backend": "pulp"}):
            found = solve_promises(instance, objective, **options)
            assert (found.lower, found.upper) == (optimum, optimum), found.headline
            assert Objective.of(instance, objective).value(found.schedule) == optimum
        proof = found.certificate
        assert certify_promises(proof, instance) == proof.bound
        assert proof.bound >= optimum if objective == "goodput" else proof.bound <= optimum


@pytest.mark.parametrize("seed", range(9))
def test_both_programs_find_the_optimum_and_no_certificate_is_beyond_it(seed: int) -> None:
    enclosed(promised(seed))


@pytest.mark.long
def test_both_programs_find_the_optimum_on_many_instances() -> None:
    for seed in range(9, 150):
        enclosed(promised(seed))


@pytest.mark.parametrize("seed", range(30))
def test_any_prices_prove_a_bound_that_no_schedule_passes(seed: int) -> None:
    """Random prices of memory and of a growth row, whose kernel and checker agree."""
    instance, rng = promised(seed), np.random.default_rng(seed)
    rows = [(int(rng.integers(1, 6)), int(rng.integers(1, 4)))]
    width = int(rng.integers(1, 4))
    whole = rng.integers(0, 9, (2, 12)) * (rng.random((2, 12)) < 0.6)
    for name in ("goodput", "weighted"):
        aim = Objective.of(instance, name)
        value = exact_value(instance, whole, 16, width, rows, objective=aim)
        cost = -(-value // 16)
        bound = aim.of_cost(max(0, cost) if name == "goodput" else cost)
        proof = in_runs(whole, width, int(instance.arrival.min()), 16, rows)
        claim = PromiseCertificate(instance.name, instance.digest, bound, name, value, proof)
        assert certify_promises(claim, instance) == bound
        optimum = solve_promises(instance, name, method="brute").upper
        assert bound >= optimum if name == "goodput" else bound <= optimum
        with pytest.raises(CertificateError, match=f"bound {bound - 1} is claimed"):
            certify_promises(replace(claim, bound=bound - 1), instance)


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
    for seed in range(6):
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


def test_the_search_keeps_only_feasible_schedules_and_the_bound_above_them() -> None:
    rng = np.random.default_rng(2)
    n = 150
    output, prompt = rng.integers(1, 20, n), rng.integers(0, 30, n)
    arrival = np.sort(rng.integers(0, 150, n))
    dates = {"deadline": arrival + output + rng.integers(0, 30, n)}
    crowd = Instance("crowd", 60, arrival, prompt, output, weight=rng.integers(1, 4, n), **dates)
    result = solve_promises(crowd, "goodput", method="certified")
    assert is_feasible(result.schedule)
    assert goodput(result.schedule) == result.lower <= result.upper
    assert result.upper == result.certificate.bound == certify_promises(result.certificate, crowd)
    first = result.stages[0].lower
    assert result.gap < 0.25
    assert result.lower > first


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
    for data in changed_copies(whole, 300, rng, head=(*HEAD, "bound")):
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
    assert ended["refused"] > 150
    assert ended["proved"] > 0
