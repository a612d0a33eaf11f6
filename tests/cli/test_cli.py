"""The commands as a user calls them: tables, JSON, errors in one line, exit codes."""

import json
from typing import Any, get_args

import pytest
from command_line import EC1, run, run_json

from ratiolab.cli.groups import Judged
from ratiolab.model import (
    Instance,
    Preemption,
    Schedule,
    read_instance,
    read_schedule,
    violations,
    write_instance,
)


def test_solve_gives_the_optimum_and_its_schedule(capsys, ec1, tmp_path):
    data = run_json(capsys, "solve", ec1, "--schedule", str(tmp_path / "s.json"))
    assert (data["status"], data["upper"], data["lower"]) == ("optimal", 12, 12)
    assert {"instance", "lower_source", "starts", "seconds"} <= set(data)
    schedule = read_schedule(tmp_path / "s.json", EC1)
    assert schedule.total_latency == 12
    assert violations(schedule) == []
    assert violations(Schedule.from_starts(EC1, data["starts"])) == []
    code, out, _ = run(capsys, "solve", ec1, "--backend", "pulp")
    assert code == 0
    assert "optimum 12" in out


def test_simulate_reports_every_run(capsys, ec1):
    arguments = ("simulate", ec1, "--policy", "a-min", "--runs", "3", "--seed", "4")
    data = run_json(capsys, *arguments)
    assert [r["seed"] for r in data["runs"]] == [4, 5, 6]
    assert data["mean_tel"] == pytest.approx(sum(r["tel"] for r in data["runs"]) / 3)
    for key in ("tel", "makespan", "evictions", "completions"):
        assert key in data["runs"][0]
    assert data["params"] == {"ties": "random", "bound": "certified", "victim": "smallest"}
    worst = run_json(capsys, *arguments, "--param", "ties=worst")
    assert worst["params"]["ties"] == "worst"
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "mean TEL" in out


def test_simulate_keeps_tokens_when_asked(capsys, tmp_path):
    file = tmp_path / "two.json"
    write_instance(Instance("two", 5, [0, 0], [1, 1], [3, 3]), file)
    arguments = ("simulate", str(file), "--policy", "fcfs", "--preemption")
    found = {kind: run_json(capsys, *arguments, kind) for kind in get_args(Preemption)}
    assert [data["preemption"] for data in found.values()] == list(found)
    # request 1 leaves with one token at round 1 and is back at round 3, for three or for two
    assert [data["runs"][0]["tel"] for data in found.values()] == [3 + 6, *[3 + 5] * 3]
    assert [data["runs"][0]["wasted_tokens"] for data in found.values()] == [1, 1, 0, 1]
    code, _, err = run(capsys, *arguments, "kill")
    assert code == 2
    assert err.strip().endswith("preemption 'kill' must be one of restart, recompute, swap, pause")


def test_compare_prints_ratios_and_draws(capsys, ec1, tmp_path):
    picture = tmp_path / "p.png"
    data = run_json(capsys, "compare", ec1, "--runs", "2", "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert data["optimum"]["upper"] == 12
    rows = {row["policy"]: row for row in data["policies"]}
    assert rows["mc-sf"]["ratio"] == [1.0, 1.0]
    assert rows["a-max"]["ratio"][0] >= 1
    assert "sjf" in [s["policy"] for s in data["skipped"]]
    code, out, _ = run(capsys, "compare", ec1, "--policies", "mc-sf,h-sf", "--show", "h-sf")
    assert code == 0
    assert "optimum 12" in out


def test_an_instance_made_from_the_command_line_can_be_made_again(capsys, tmp_path):
    file = tmp_path / "g.json"
    said = run_json(capsys, "generate", "uniform", "--seed", "3", "--set", "n=5", "-o", str(file))
    assert said["requests"] == 5
    instance = read_instance(file)
    again = run(capsys, *instance.source.split()[1:])[1]
    assert json.loads(again)["output"] == instance.output.tolist()


def test_a_trace_becomes_an_instance(capsys, tmp_path):
    (tmp_path / "t.csv").write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        "2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109"
    )
    file = tmp_path / "i.json"
    options = ("--memory", "1000", "--block", "16", "--predict", "overlap:0.5", "-o", str(file))
    said = run_json(capsys, "trace", str(tmp_path / "t.csv"), *options)
    assert (said["requests"], said["memory"]) == (2, 62)
    instance = read_instance(file)
    assert instance.output.tolist() == [3, 7]
    assert instance.lower.tolist() == [2, 4]


def test_lists_teach_what_there_is(capsys):
    assert {p["policy"] for p in run_json(capsys, "policies")["policies"]} >= {
        "mc-sf",
        "a-min",
        "fcfs",
    }
    assert {k["kind"] for k in run_json(capsys, "generate")["kinds"]} >= {
        "jaillet-model-1",
        "lmsys",
    }
    assert any(b["name"] == "chen2025/theorem-7" for b in run_json(capsys, "bound")["bounds"])
    for words in (("policies",), ("generate",), ("bound",), ("claims", "--list")):
        code, out, _ = run(capsys, *words)
        assert code == 0
        assert len(out.splitlines()) > 10
    assert run(capsys, "--version")[1].strip()


def test_formulas_and_spectra(capsys):
    bound = ("bound", "chen2025/theorem-7", "--lower", "1", "--upper", "4")
    data = run_json(capsys, *bound)
    assert data["exact"] == "7/6"
    assert set(data) == {"name", "value", "exact", "source", "assumptions"}
    assert "7/6" in run(capsys, *bound)[1]
    data = run_json(capsys, "rayleigh", "--upper", "2")
    assert (data["rho"], data["trace"]) == (pytest.approx(1.25, abs=1e-12), 1.5)
    assert {"method", "seconds"} <= set(data)
    wide = run_json(capsys, "rayleigh", "--upper", "5000")
    assert wide["trace"] == pytest.approx(sum(1 / k for k in range(1, 5001)), rel=1e-12)
    assert "rho = " in run(capsys, "rayleigh", "--upper", "3")[1]


def test_claims_as_table_data_and_page(capsys, tmp_path):
    page = tmp_path / "claims.md"
    words = ("claims", "--id", "chen2025/example-1", "--page", str(page))
    (data,) = run_json(capsys, *words)["claims"]
    assert data["verdict"] == data["expected"] == "holds"
    keys = "id source statement assumptions proof verdict scope computed witness"
    assert set(keys.split()) <= set(data)
    assert "### chen2025/example-1" in page.read_text()
    assert "holds" in run(capsys, "claims", "--id", "chen2025/example-1")[1]
    assert "holds" in run(capsys, "claims", "chen2025/example-1")[1]
    proof = run_json(capsys, "claims", "--proof", "ours/mc-sf-constant")
    assert proof["place"] == "ratiolab/papers/ours/proofs/mc_sf_constant.md"
    assert proof["text"] in run(capsys, "claims", "--proof", "ours/mc-sf-constant")[1]


def test_a_policy_that_breaks_a_rule_is_exit_code_1(capsys, ec1, monkeypatch):
    from ratiolab.online import Decision
    from ratiolab.online.policies.mc_sf import MCSF

    monkeypatch.setattr(MCSF, "start", lambda *_: lambda view: Decision(admit=(99,)))
    code, _, err = run(capsys, "simulate", ec1, "--policy", "mc-sf")
    assert code == 1
    assert "mc-sf, round 0: admits 99, which does not wait" in err


def test_check_names_every_drift_and_updates(capsys, ec1, tmp_path):
    file = tmp_path / "baseline.json"
    entries: list[dict[str, Any]] = [
        {"kind": "ratio", "instance": "ec1.json", "policy": "mc-sf", "value": None},
        {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4, "value": "7/6"},
        {"kind": "rayleigh", "upper": 2, "value": 1.3, "tolerance": 1e-12},
        {"kind": "verdict", "claim": "chen2025/example-1", "value": "holds"},
    ]
    file.write_text(json.dumps({"format": "ratiolab-baseline/1", "entries": entries}))
    code, out, _ = run(capsys, "check", str(file))
    assert code == 1
    assert "rayleigh upper=2: was 1.3, is 1.25" in out
    assert "4 entries, 2 drifted" in out
    code, out, _ = run(capsys, "check", str(file), "--update")
    assert code == 0
    data = run_json(capsys, "check", str(file))
    counts = {"entries": 4, "judged": 4}
    assert data == {**counts, "drifts": [], "failed": {}, "changes": [], "interrupted": False}
    pinned = json.loads(file.read_text())["entries"][0]["value"]
    assert pinned == {"cost": "12", "opt_lower": 12, "opt_upper": 12}


def test_many_requests_are_simulated_on_all_cores_unless_workers_says_less(monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda workers: 8 if workers == -1 else workers)
    slots = []
    for workers, requests in ((None, 999), (None, 1_000), (3, 1_000), (3, 999)):
        with Judged(workers=workers).place(requests) as place:
            slots.append(place.slots)
    assert slots == [1, 8, 3, 3]
