"""Commands with several replicas."""

import json

import pytest
from command_line import run, run_json

from ratiolab.model import Instance, write_instance
from ratiolab.model.fleet import Fleet
from ratiolab.model.fleet_io import read_fleet_schedule, write_fleet

BIG = Instance("big", 9, [0] * 5, [5] * 5, [2, 3, 1, 4, 2])


@pytest.fixture
def big(tmp_path):
    write_instance(BIG, tmp_path / "big.json")
    return tmp_path / "big.json"


def test_solve_answers_with_an_interval_and_a_proof(capsys, big, tmp_path):
    proof, plan = tmp_path / "proof.json", tmp_path / "plan.json"
    files = "--certificate", proof, "--schedule", plan
    found = run_json(capsys, "solve", big, "--replicas", 2, "--json", *files)
    assert found["lower"] == found["upper"] == 18  # one at a time each: 1, 3, 7 and 2, 5
    assert found["replicas"] == 2
    schedule = read_fleet_schedule(plan, Fleet(BIG, 2))
    assert schedule.total_latency == 18
    code, out, _ = run(capsys, "certify", proof, big, "--replicas", 2)
    assert (code, "proven" in out) == (0, True)
    for replicas in (1, 3):
        code, out, _ = run(capsys, "certify", proof, big, "--replicas", replicas)
        assert (code, "digest" in out) == (1, True)
    changed = json.loads(proof.read_text()) | {"replicas": 3}
    proof.write_text(json.dumps(changed))
    code, out, err = run(capsys, "certify", proof, big, "--replicas", 2)
    assert code in (1, 2)
    assert "check" in err or "3 replicas are claimed" in out


def test_a_fleet_file_states_its_replicas(capsys, big, tmp_path):
    write_fleet(Fleet(BIG, 2), tmp_path / "fleet.json")
    stated = run_json(capsys, "solve", tmp_path / "fleet.json", "--json")
    asked = run_json(capsys, "solve", big, "--replicas", 2, "--json")
    assert (stated["upper"], stated["digest"]) == (asked["upper"], asked["digest"])


def test_one_replica_is_solved_as_an_instance(capsys, big):
    """Byte for byte, but for the seconds."""

    def shown(*options: object) -> dict[str, object]:
        data = run_json(capsys, "solve", big, "--json", *options)
        del data["seconds"]
        data["stages"] = [{**stage, "seconds": 0} for stage in data["stages"]]
        return data

    assert json.dumps(shown("--replicas", 1)) == json.dumps(shown())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "x.png"), "--plot is for one replica"),
        (("--threads", "2"), "--threads is for one replica"),
        (("--method", "dp"), "not for several replicas"),
        (("--replicas", "0"), "--replicas"),
    ],
)
def test_what_is_for_one_replica_is_refused_by_name(capsys, big, options, message):
    code, _, err = run(capsys, "solve", big, "--replicas", 2, *options)
    assert code == 2
    assert message in err
