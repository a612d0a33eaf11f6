"""Commands with several replicas."""

import json

import pytest
from command_line import run, run_json

from ratiolab.model import Instance, write_instance
from ratiolab.model.fleet import Fleet
from ratiolab.model.fleet_io import read_fleet_schedule, write_fleet
from ratiolab.model.promises import goodput, with_limits

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


@pytest.mark.parametrize(
    ("objective", "ends"),
    [("goodput", [3, 3]), ("weighted", [18, 18])],  # alone 1, 2, 2 rounds; two at a time
)
def test_solve_answers_for_weights_and_dates_of_a_fleet(capsys, big, tmp_path, objective, ends):
    proof, plan = tmp_path / "proof.json", tmp_path / "plan.json"
    asked = big, "--replicas", 2, "--slo-latency", 3
    files = "--certificate", proof, "--schedule", plan
    found = run_json(capsys, "solve", *asked, "--objective", objective, *files)
    assert [found["lower"], found["upper"]] == ends
    assert (found["replicas"], len(found["replica"])) == (2, 5)
    fleet = with_limits(Fleet(BIG, 2), latency=3)
    assert found["digest"] == fleet.digest
    schedule = read_fleet_schedule(plan, fleet)
    assert goodput(schedule.runs) == 3
    code, out, err = run(
        capsys, "solve", *asked, "--objective", objective, "--schedule", "/dev/null/x"
    )
    assert (code, "/dev/null/x: " in err) == (2, True)
    assert "optimal: optimum" in out  # a file that cannot be written does not cost the answer
    code, out, _ = run(capsys, "certify", proof, *asked)
    words = "serves a weight above" if objective == "goodput" else "has weighted latency >="
    assert (code, words in " ".join(out.split())) == (0, True)
    code, out, _ = run(capsys, "certify", proof, big, "--slo-latency", 3)
    assert (code, "digest" in out) == (1, True)


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


def test_memories_that_differ_are_solved_certified_and_simulated(capsys, big, tmp_path):
    proof, path = tmp_path / "proof.json", tmp_path / "fleet.json"
    code, _, err = run(capsys, "solve", big, "--memory", "9,7")
    assert (code, "are written 9+7" in err) == (2, True)
    code, _, err = run(capsys, "solve", big, "--memory", "9+7", "--replicas", 3)
    assert (code, "2 memories are given for 3 replicas" in err) == (2, True)
    found = run_json(capsys, "solve", big, "--memory", "9+8", "--certificate", proof)
    assert found["lower"] == found["upper"] == 18  # 1, 3, 7 rounds on the first, 2, 5 on the second
    assert found["digest"] == Fleet(BIG, 2, (9, 8)).digest != Fleet(BIG, 2).digest
    code, out, _ = run(capsys, "certify", proof, big, "--memory", "9+8")
    assert (code, "proven" in out) == (0, True)
    code, out, _ = run(capsys, "certify", proof, big, "--memory", "8+9")
    assert (code, "digest" in out) == (1, True)
    write_fleet(Fleet(BIG, 2, (9, 7)), path)
    stated = run_json(capsys, "solve", path)
    assert stated["lower"] == stated["upper"] == 19  # 3, 7 and 1, 3, 5: two fit the first one alone
    assert run_json(capsys, "solve", path, "--backend", "pulp")["upper"] == 19
    code, _, err = run(capsys, "simulate", path, "--policy", "svf")
    assert (code, "exceeds memory 7 of replica 1" in err) == (2, True)
    asked = big, "--memory", "9+10", "--policies", "svf", "--router", "jsq,central"
    compared = run_json(capsys, "compare", *asked, "--current", "svf")
    assert compared["memories"] == [9, 10]
    assert compared["optimum"][0] / 5 <= min(row["values"]["mean"] for row in compared["rows"])
    code, _, err = run(capsys, "compare", *asked, "--current", "svf", "--slo", "latency=9")
    assert (code, "the largest for all" in " ".join(err.split())) == (2, True)


LOG = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:{second // 4:02}.{second % 4},{10 + second},{1 + second}\n"
    for second in range(40)
)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    return tmp_path / "log.csv"


def test_evaluate_says_what_dispatch_at_once_costs(capsys, log, tmp_path):
    clock = "--clock", "llama2-70b-2xa100", "--memory", 120
    routers = "--replicas", 3, "--router", "jsq,least-kv,central", "--runs", 2
    routers += "--policies", "fcfs,svf"
    report = tmp_path / "report.html"
    found = run_json(capsys, "evaluate", log, *clock, *routers, "--json", "--report", report)
    assert found["replicas"] == 3
    assert {row["router"] for row in found["rows"]} == {"jsq", "least-kv", "central"}
    assert all(row["ratio"] >= 1 for row in found["rows"])
    assert set(found["price_of_dispatch_at_once"]) == {row["policy"] for row in found["rows"]}
    assert "Latency of requests behind central" in report.read_text()
    code, out, _ = run(capsys, "evaluate", log, *clock, *routers)
    assert code == 0
    assert "Dispatch at once costs" in out


@pytest.mark.parametrize("clock", ["llama2-70b-2xa100", "unit"])
def test_evaluate_counts_the_misses_that_no_scheduler_of_the_fleet_avoids(
    capsys, log, tmp_path, clock
):
    limit = "latency=1.2" if clock != "unit" else "latency=20"
    asked = "--clock", clock, "--memory", 90, "--replicas", 2, "--router", "jsq,central"
    asked = *asked, "--policies", "fcfs,svf", "--runs", 1, "--slo", limit, "--metric", "goodput"
    report = tmp_path / "report.md"
    found = run_json(capsys, "evaluate", log, *asked, "--report", report)
    told = found["goodput"]
    assert told["in_time"] <= told["bound"] < 40
    assert told["unavoidable_misses"] == 40 - told["bound"]
    assert found["bounds"]["goodput"] == told["bound"] / 40
    assert all(row["values"]["goodput"] <= found["bounds"]["goodput"] for row in found["rows"])
    code, out, _ = run(capsys, "evaluate", log, *asked)
    first = f"In time under fcfs behind jsq: {told['in_time']} of 40; no schedule serves more than"
    assert (code, first in " ".join(out.split())) == (0, True)
    assert first in report.read_text()


def test_compare_puts_policies_and_routers_beside_the_optimum(capsys, big):
    options = "--policies", "fcfs,svf", "--replicas", 2, "--runs", 2, "--json"
    found = run_json(capsys, "compare", big, *options)
    assert found["optimum"] == [18, 18]
    assert found["bounds"]["mean"] == 18 / 5
    central = [r for r in found["rows"] if (r["policy"], r["router"]) == ("svf", "central")]
    assert central[0]["ratio"] == 1


def test_simulate_runs_a_router(capsys, big):
    options = "--policy", "fcfs", "--replicas", 2, "--router", "central", "--runs", 2, "--json"
    found = run_json(capsys, "simulate", big, *options)
    assert [r["outcome"] for r in found["runs"]] == ["complete"] * 2
    assert found["runs"][0]["total_latency"] == 20  # in order of arrival: 2, 3, 3, 7, 5
    code, out, _ = run(capsys, "simulate", big, "--policy", "svf", "--replicas", 2)
    assert (code, "behind round-robin" in " ".join(out.split())) == (0, True)


def test_simulate_tells_the_weight_in_time_of_a_fleet_and_its_bound(capsys, big):
    asked = "simulate", big, "--policy", "edf", "--replicas", 2, "--slo-latency", 3
    found = run_json(capsys, *asked)
    assert [run["goodput"] for run in found["runs"]] == [found["goodput"]["mean"]]
    assert found["goodput"]["mean"] <= found["goodput"]["bound"] == 3
    assert found["goodput"]["unreachable"] == [3]
    code, out, _ = run(capsys, *asked)
    assert (code, out.startswith("in time: weight ")) == (0, True)
    code, _, err = run(capsys, *asked, "--clock", "llama3-8b-a100", "--tick-seconds", 1)
    assert (code, "evaluate --slo" in err) == (2, True)


@pytest.mark.parametrize("replicas", [(), ("--replicas", 2)], ids=["one", "two"])
def test_a_proof_of_unavoidable_misses_is_about_what_trace_cuts_from_the_log(
    capsys, tmp_path, replicas
):
    rows = [f"{k // 20},{500 + 31 * k % 400},{20 + 7 * k % 90}" for k in range(120)]
    log, cut, proof = (tmp_path / name for name in ("log.csv", "cut.json", "proof.json"))
    log.write_text("\n".join(["arrived_at,num_prefill_tokens,num_decode_tokens", *rows]))
    asked = ("--memory", 3000, "--clock", "llama3-8b-a100", "--slo", "ttft=0.5,latency=2")
    asked += ("--policies", "fcfs", "--effort", 0, "--certificate", proof, *replicas)
    code, out, _ = run(capsys, "evaluate", log, *asked)
    assert code == 0
    words = " ".join(out.split())
    most = int(words.split("no schedule serves more than ")[1].split()[0])
    assert most < 120
    assert f"proves that no schedule serves more than {most} requests in time" in words
    assert "ratiolab trace --rounds-per-second 1000 -o FILE" in words
    cutting = "--memory", 3000, "--rounds-per-second", 1000, "-o", cut
    assert run(capsys, "trace", log, *cutting)[0] == 0
    code, out, _ = run(capsys, "certify", proof, cut, *replicas)
    assert code == 0
    words = " ".join(out.split())
    assert f"serves more than {most} of 120 requests with TTFT <= 0.5 s and latency <= 2" in words
    assert run(capsys, "certify", proof, cut, "--memory", 3001, *replicas)[0] == 1


@pytest.mark.parametrize(
    "options",
    [
        *(("--search", "1"), ("--certificate", "x.json")),
        *(("--report", "x.pdf"), ("--router", "jqs")),
    ],
)
def test_evaluate_refuses_what_is_for_one_replica(capsys, big, options):
    base = "--clock", "unit", "--policies", "fcfs", "--replicas", 2
    code, _, err = run(capsys, "evaluate", big, *base, *options)
    assert code == 2
    assert options[0] in err or "jqs" in err or "x.pdf" in err
