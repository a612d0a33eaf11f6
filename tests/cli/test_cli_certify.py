"""`solve --certificate` writes what `certify` proves; what proves less exits with code 1."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from oracle import least_latency

from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.hindsight.certificates.certificate import FormulaCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import Instance, read_instance, read_schedule, violations, write_instance
from ratiolab.online.clock import BatchTime
from ratiolab.seconds.certified_bound import seconds_certificate

FIVE = Instance("five", 9, [0, 0, 1, 1, 2], [1, 2, 1, 3, 2], [4, 5, 2, 3, 4])


@pytest.fixture
def five(tmp_path):
    write_instance(FIVE, tmp_path / "five.json")
    return tmp_path / "five.json"


@pytest.mark.long
@pytest.mark.parametrize("method", ["auto", "ip", "cuts", "dp"])
def test_a_written_certificate_is_proven(capsys, five, tmp_path, method):
    proof = tmp_path / "proof.json"
    code, out, _ = run(capsys, "solve", five, "--certificate", proof, "--method", method, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    assert found["lower"] <= least_latency(FIVE) <= found["upper"]
    code, out, _ = run(capsys, "certify", proof, five, "--json")
    assert code == 0
    claim = json.loads(out)
    assert claim["proven"]
    assert claim["claimed"] == found["certified"] <= found["lower"]
    code, out, _ = run(capsys, "certify", proof, five)
    assert (code, out) == (
        0,
        f"proven: every schedule of five has latency >= {found['certified']}\n",
    )


def test_the_line_says_what_rests_on_a_solver_and_a_written_certificate_proves_the_rest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    equal, proof = tmp_path / "equal.json", tmp_path / "proof.json"
    write_instance(Instance("equal", 7, [0] * 8, [1] * 8, [3] * 8), equal)
    code, out, _ = run(capsys, "solve", equal)
    assert code == 0
    assert "certificate proves >= 52, 64 rests on HiGHS" in out
    code, out, _ = run(capsys, "solve", equal, "--certificate", proof)
    assert code == 0
    assert "rests on" not in out
    assert f"{proof}: proves >= 64" in out.replace("\n", "")
    assert run(capsys, "certify", proof, equal)[0] == 0


def test_a_solve_without_a_program_says_so_before_it_begins(capsys, five, monkeypatch):
    monkeypatch.setattr("ratiolab.hindsight.stages.MOST_REQUESTS", 4)
    told = "5 requests, more than 4: no integer program, but schedules and bounds by a fixed effort"
    code, _, err = run(capsys, "solve", five)
    assert code == 0
    assert told in err
    assert told not in run(capsys, "solve", five, "--time-limit", "5")[2]
    assert told not in run(capsys, "solve", five, "--method", "ip")[2]


def test_an_attack_writes_the_instance_the_proof_and_the_schedule_of_its_ratio(capsys, tmp_path):
    files = [tmp_path / name for name in ("worst.json", "proof.json", "schedule.json")]
    options = ("--requests", "8", "--memory", "12", "--evaluations", "20")
    code, out, _ = run(
        capsys, "attack", "--policy", "fcfs", *options, "-o", files[0],
        "--certificate", files[1], "--schedule", files[2], "--json",
    )  # fmt: skip
    assert code == 0
    optimum = json.loads(out)["optimum"]
    instance = read_instance(files[0])
    schedule = read_schedule(files[2], instance)
    assert violations(schedule) == []
    assert schedule.total_latency == optimum[1]
    assert certify(read_certificate(files[1]), instance) == optimum[0]


def test_a_file_that_is_no_certificate_is_bad_input(capsys, five):
    code, out, err = run(capsys, "certify", five, five)
    assert (code, out) == (2, "")
    assert "must be 'ratiolab-certificate/1'" in err
    assert err.count("\n") == 1


def test_progress_streams_what_gets_better_as_json_lines(capsys, tmp_path):
    tight = Instance("tight", 30, [0] * 9, [2] * 9, [3, 4, 6, 7, 9, 11, 13, 15, 20])
    write_instance(tight, tmp_path / "tight.json")
    code, out, err = run(capsys, "solve", tmp_path / "tight.json", "--progress", "--json")
    assert code == 0
    found = json.loads(out)
    told = [json.loads(line) for line in err.splitlines()]
    assert {"seconds", "stage", "lower", "upper", "nodes"} == set(told[0])
    assert [now["lower"] for now in told] == sorted(now["lower"] for now in told)
    assert [now["upper"] for now in told] == sorted((now["upper"] for now in told), reverse=True)
    assert told[0]["stage"] == "orders"
    names = [stage["name"] for stage in found["stages"]]
    assert names[0] == "bounds"
    assert {now["stage"] for now in told} <= set(names)
    assert found["stages"][-1]["upper"] == found["upper"]
    code, out, err = run(capsys, "solve", tmp_path / "tight.json", "--memory-limit", 100)
    assert (code, out, err) == (2, "", "ratiolab: memory_limit 100 must be at least 400\n")


def test_a_bound_in_seconds_names_what_it_assumes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a tick of its own an instance has many bounds, one for each tick."""
    far = Instance("far", 6, [0, 1000], [2, 2], [4, 4])
    write_instance(far, tmp_path / "far.json")
    for tick in (0.004, 1.0):
        claim = seconds_certificate(far, BatchTime(fixed=1, tick=tick))
        write_certificate(claim, tmp_path / "proof.json")
        code, out, _ = run(capsys, "certify", tmp_path / "proof.json", tmp_path / "far.json")
        assert code == 0
        assert f"a tick of the arrivals lasts {tick:g} s" in out.replace("\n", " ")
        _, out, _ = run(capsys, "certify", tmp_path / "proof.json", tmp_path / "far.json", "--json")
        assumed = {"preemption": "restart", "clock": [1, 0, 0, 0], "tick_seconds": tick}
        assert json.loads(out)["assumed"] == assumed


@pytest.mark.parametrize("replicas", [0, 2])
def test_a_claim_about_other_replicas_is_refused(
    capsys: pytest.CaptureFixture[str], five: Path, tmp_path: Path, replicas: int
) -> None:
    bound = best_lower_bound(FIVE)
    claim = FormulaCertificate("five", FIVE.digest, bound.value, bound.source)
    write_certificate(claim, tmp_path / "proof.json")
    data = json.loads((tmp_path / "proof.json").read_text()) | {"replicas": replicas}
    (tmp_path / "proof.json").write_text(json.dumps(data))
    code, out, err = run(capsys, "certify", tmp_path / "proof.json", five)
    assert code in (1, 2)
    assert "replicas" in out + err
