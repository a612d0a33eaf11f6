"""Evaluations: who stands where, what switching saves, and what a log says of its own engine."""

import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from command_line import ended_with
from drawn_logs import drawn

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.observed import fitted_clock, judged, observed_service
from ratiolab.evaluation.result import GIVEN
from ratiolab.evaluation.saving import bootstrap
from ratiolab.evaluation.service import METRICS, Slo
from ratiolab.hindsight import bracket
from ratiolab.model import Instance, write_instance
from ratiolab.online import Policy, Simulation, make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request
from ratiolab.workloads.traces import Trace, instance_from_trace

THREE = Instance("three", 30, [0, 0, 2], [3, 1, 2], [20, 9, 4])
CLOCK = BatchTime(fixed=0.02, prefill=0.0002, decode=0.0005, kv=0.000002)


@pytest.fixture(scope="module")
def made():
    instance = instance_from_trace(drawn(), memory=2500, rounds_per_second=1000)
    return evaluate(
        instance,
        [make(key) for key in ("rr", "fcfs", "alpha-beta-clearing", "svf", "h-sf")],
        clock=CLOCK,
        slo=Slo(ttft=5, tpot=0.1),
        runs=3,
    )


def test_rows_are_sorted_and_those_that_know_everything_stand_apart(made):
    values = [row.value(made.metric) for row in made.rows]
    assert values == sorted(values)
    assert {row.name for row in made.knowing} == {"svf", "h-sf"}
    assert {row.name for row in made.deployable} == {"rr", "fcfs", "alpha-beta-clearing"}
    assert made.rows[0].knows_everything


def test_every_ratio_is_to_a_bound_that_no_row_beats(made):
    for row in made.rows:
        for metric in made.metrics:
            assert made.ratio(row, metric) >= 1 - 1e-9
    assert made.ratio(made.rows[0]) < 10


def test_the_advice_names_the_rule_what_gets_worse_and_what_is_nearly_as_good():
    instance = instance_from_trace(drawn(200, 1.0), memory=2000, rounds_per_second=1000)
    policies = [make(key) for key in ("rr", "vllm-fcfs", "fcfs", "svf")]
    made = evaluate(instance, policies, clock=CLOCK, current="rr", load=False)
    best, other = made.deployable[:2]
    mean = METRICS["mean"]
    assert {best.name, other.name} == {"fcfs", "vllm-fcfs"}
    headline, judgement, told, drawbacks, enclosed = made.advice
    assert judgement == made.judgement
    assert (headline, enclosed) == (made.headline, made.enclosed)
    assert told.startswith(f"The rule of {best.name}: ")
    near = other.value(mean) <= 1.01 * best.value(mean)
    assert (f"Nearly as good: {other.name} (" in told) == near
    for metric in made.metrics[1:]:
        worse = best.value(metric) > 1.01 * made.row("rr").value(metric)
        assert (f"{metric.title} " in drawbacks) == worse
    assert made.to_dict()["drawbacks"] == drawbacks


def test_goodput_counts_what_meets_the_objective_and_larger_is_better():
    instance = instance_from_trace(drawn(), memory=2500, rounds_per_second=1000)
    policies = [make("rr"), make("fcfs")]
    made = evaluate(
        instance, policies, clock=CLOCK, metric="goodput", slo=Slo(tpot=0.1), load=False
    )
    first, second = (row.value(made.metric) for row in made.rows)
    assert 1 >= first >= second >= 0
    assert made.metric.key == "goodput"


def test_policies_that_never_end_or_make_no_sense_do_not_hide():
    instance = Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    made = evaluate(instance, preemption="recompute")
    assert dict(made.skipped)["a-min"] == "not made for --preemption recompute"
    assert "--predict" in dict(made.skipped)["sjf"]
    assert len(made.rows) > 8


def test_the_policy_in_use_is_known_by_its_parameters():
    one = make("fcfs", {"batch": 1})
    made = evaluate(THREE, [one, "svf"], preemption="restart", current="fcfs")
    assert {row.name for row in made.rows} == {"fcfs", "fcfs(batch=1)", "svf"}
    assert made.row(made.current).policy == make("fcfs")
    assert set(made.to_frame()["policy"]) == {row.name for row in made.rows}
    made = evaluate(THREE, ["svf", one], preemption="restart", current=one)
    assert (made.current, made.row("fcfs").policy, len(made.rows)) == ("fcfs", one, 2)


def test_the_command_takes_the_parameters_of_the_policy_in_use(tmp_path, capsys):
    file = tmp_path / "i.json"
    write_instance(THREE, file)
    asked = ["evaluate", file, "--clock", "unit", "--json", "--policies", "fcfs,svf"]
    assert ended_with(*asked, "--param", "fcfs.batch=1") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["policy"]: row["params"].get("batch") for row in rows} == {"fcfs": 1, "svf": None}


def test_an_optimum_in_numbers_is_the_word_of_the_caller():
    made = evaluate(THREE, ["fcfs"], preemption="restart", optimum=(33, 45))
    assert made.to_dict()["optimum_source"] == GIVEN
    assert made.enclosed.startswith("The caller states that the hindsight optimum is between 33")


@pytest.mark.parametrize(
    ("optimum", "message"),
    [
        ((9000, 9000), "fcfs has a total latency of 33 rounds, which is below this lower bound"),
        ((1, 5), "no schedule has a total latency of 5 rounds, as a bound proves"),
        *(
            (wrong, "must be the result of solve, or two numbers")
            for wrong in ((5, 1), (np.nan, -3), (1, np.inf), (0, 50), 3, (1,), ("a", "b"))
        ),
        (bracket(Instance("other", 9, [0], [1], [2])), "optimum is of other .* must be of three"),
    ],
)
def test_an_impossible_optimum_is_refused(optimum, message):
    with pytest.raises(ValueError, match=message):
        evaluate(THREE, ["fcfs"], preemption="restart", optimum=optimum)


@pytest.mark.parametrize("options", [{"clock": CLOCK}, {"preemption": "recompute"}])
def test_an_optimum_in_rounds_is_refused_under_other_rules(options):
    with pytest.raises(ValueError, match="optimum is in rounds and under restart"):
        evaluate(THREE, ["fcfs"], optimum=bracket(THREE), **{"preemption": "restart"} | options)


def observed_log(clock: BatchTime) -> Trace:
    """A log of an engine that serves by FCFS under a known clock."""
    trace = drawn(300, 3.0)
    instance = instance_from_trace(trace, memory=4000, rounds_per_second=10**6)
    run = simulate(instance, make("fcfs"), preemption="recompute", clock=clock)
    frame = per_request(run)
    return Trace(
        "served",
        trace.seconds,
        trace.prompt,
        trace.output,
        first=(frame["arrival"] + frame["ttft"]).to_numpy(),
        finish=frame["completion"].to_numpy(),
    )


def test_a_clock_fitted_to_a_log_predicts_it():
    log = observed_log(CLOCK)
    found = fitted_clock(log)
    assert found.explained > 0.9
    assert found.clock.fixed == pytest.approx(CLOCK.fixed, rel=0.2)
    instance = instance_from_trace(log, memory=4000, rounds_per_second=1000)
    made = evaluate(
        instance, [make("fcfs")], clock=CLOCK, observed=observed_service(log), load=False
    )
    seen = judged(log, instance, made)
    assert seen.mean == pytest.approx(made.row("fcfs").value(METRICS["mean"]), rel=0.02)
    assert seen.ratio >= 1
    assert seen.predicted == pytest.approx(seen.mean, rel=0.1)
    assert seen.refitted > 0.9
    slow = evaluate(
        instance,
        [make("fcfs")],
        clock=BatchTime(fixed=1),
        observed=observed_service(log),
        load=False,
    )
    again = judged(log, instance, slow)
    assert again.described is False
    assert np.isnan(again.ratio)
    assert "does not describe this engine" in again.lines()[1]


def test_a_log_without_times_of_its_own_is_not_judged():
    with pytest.raises(ValueError, match="neither first-token nor finish times"):
        observed_service(drawn())
    with pytest.raises(ValueError, match="fitted to first-token and finish times"):
        fitted_clock(drawn())


def test_the_bootstrap_covers_the_mean_of_a_sample():
    values = np.random.default_rng(3).normal(5, 1, 100)
    low, high = bootstrap(100, lambda drawn: float(values[drawn].mean()))
    assert low < values.mean() < high
    assert high - low == pytest.approx(4 * values.std() / 10, rel=0.15)
    assert bootstrap(1, lambda drawn: 3.0) == (3.0, 3.0)


def test_the_command_evaluates_a_log_and_judges_it(tmp_path, capsys):
    log = observed_log(CLOCK).take(np.arange(60))
    columns = (log.seconds, log.prompt, log.output, log.first, log.finish)
    rows = [",".join(map(repr, row)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    file = tmp_path / "log.csv"
    file.write_text("\n".join(["ts,n_in,n_out,tok,done", *rows]))
    named = "arrival=ts,prompt=n_in,output=n_out,first=tok,finish=done"
    asked = ["evaluate", file, "--columns", named, "--memory", "4000", "--observed"]
    asked += ["--clock", "llama3-8b-a100", "--policies", "fcfs,svf"]
    assert ended_with(*asked) == 0
    out = capsys.readouterr().out
    assert "The log itself observed: mean latency" in out
    assert "The clock fitted to the log takes" in out
    assert ended_with(*asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "ratiolab-evaluation/1"
    assert {row["policy"] for row in found["rows"]} == {"fcfs", "svf", "observed"}
    assert found["observed"]["fitted_clock"]["fixed"] > 0


def test_compare_takes_the_same_clock_and_semantics(tmp_path, capsys):
    file = tmp_path / "i.json"
    write_instance(instance_from_trace(drawn(40), memory=2500, rounds_per_second=1000), file)
    asked = ["compare", file, "--clock", "llama3-8b-a100", "--preemption", "recompute", "--json"]
    assert ended_with(*asked, "--policies", "fcfs,svf") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["preemption"], found["unit"], len(found["rows"])) == ("recompute", "s", 2)
    assert {row["preemption"] for row in found["rows"]} == {"recompute"}  # what ran
    picture = tmp_path / "p.png"
    assert ended_with(*asked, "--policies", "fcfs,svf", "--plot", picture) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert ended_with(*asked, "--show", "fcfs") == 2


def test_ctrl_c_keeps_the_policies_that_had_run(tmp_path, capsys, monkeypatch):
    module = import_module("ratiolab.ratio.runs")
    simulated = module.simulate

    def stopping(instance: Instance, policy: Policy, **options: Any) -> Simulation:
        if policy.name == "svf":
            raise KeyboardInterrupt
        run: Simulation = simulated(instance, policy, **options)
        return run

    monkeypatch.setattr(module, "simulate", stopping)
    file = tmp_path / "i.json"
    write_instance(instance_from_trace(drawn(30), memory=2500, rounds_per_second=1000), file)
    asked = ["evaluate", file, "--clock", "llama3-8b-a100", "--json"]
    assert ended_with(*asked, "--policies", "rr,svf,fcfs,h-sf") == 130
    found = json.loads(capsys.readouterr().out)
    assert found["interrupted"]
    assert {row["policy"] for row in found["rows"]} == {"fcfs", "rr"}


def test_a_server_that_does_not_keep_up_tells_nothing_of_the_gpus_that_could_be_saved():
    """A short log that arrives far too fast: nearly all latency is the backlog that it leaves."""
    instance = instance_from_trace(drawn(60, 40.0), memory=2500, rounds_per_second=1000)
    made = evaluate(instance, [make("rr"), make("fcfs")], clock=CLOCK, current="rr")
    assert not made.row("rr").keeps_up
    assert made.saving.load is None
    assert "GPUs" not in made.headline
    assert "That is a burst" in made.situation[1]


OWN = """
from dataclasses import dataclass
from typing import ClassVar
from ratiolab.online.policies.greedy import Greedy

@dataclass(frozen=True)
class Last(Greedy):
    name: ClassVar[str] = "last"
    source: ClassVar[str] = "an example"
    weight: float = 1.0

    def key(self, view, request):
        return -self.weight * view.arrival[request]
"""


def test_processes_and_parameters_change_nothing_but_what_they_say(tmp_path, capsys):
    file, own = tmp_path / "i.json", tmp_path / "own.py"
    own.write_text(OWN)
    write_instance(instance_from_trace(drawn(40), memory=2500, rounds_per_second=1000), file)
    asked = ["evaluate", file, "--clock", "llama3-8b-a100", "--json", "--runs", "3"]
    asked += ["--policies", f"fcfs,alpha-beta-clearing,{own}:Last"]
    found = []
    for more in (["--workers", "1"], ["--workers", "2"]):
        assert ended_with(*asked, *more) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert ended_with(*asked, "--param", f"{own}:Last.weight=-1") == 0
    rows = {row["policy"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["last"]["params"]["weight"] == -1
    assert rows["last"]["values"] == rows["fcfs"]["values"]  # the other way round


FAILING = OWN.replace("return -self.weight * view.arrival[request]", "return 1 / 0")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_policy_that_fails_is_one_line_with_its_place(workers, tmp_path, capsys):
    file, own = tmp_path / "i.json", tmp_path / "failing.py"
    own.write_text(FAILING)
    write_instance(instance_from_trace(drawn(10), memory=2500, rounds_per_second=1000), file)
    asked = ["--clock", "unit", "--policies", f"fcfs,{own}:Last", "--workers", workers]
    assert ended_with("evaluate", file, *asked) == 1
    line = FAILING[: FAILING.index("1 / 0")].count("\n") + 1
    said = capsys.readouterr().err
    assert said == f"ratiolab: {own}, line {line}: ZeroDivisionError: division by zero\n"
    own.write_text("raise SystemExit(3)")
    assert ended_with("evaluate", file, *asked) == 2
    assert "the file fails: SystemExit: 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--param", "rr.quantum=3"), "--param 'rr' is none of --policies fcfs,svf"),
        (("--param", "quantum=3"), "--param 'quantum=3' must be POLICY.NAME=VALUE"),
        (("--param", "fcfs.x=3"), "parameter 'x' is unknown"),
        (("--report", "out.docx"), "out.docx: a report can be"),
        (("--executor", "dask="), "executor 'dask=' must be local, dask or dask=ADDRESS"),
        (("--workers", "0"), "workers 0 must be at least 1"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_mistakes_come_before_the_work(command, words, message, tmp_path, capsys):
    file = tmp_path / "i.json"
    write_instance(instance_from_trace(drawn(10), memory=2500, rounds_per_second=1000), file)
    assert ended_with(command, file, "--clock", "unit", "--policies", "fcfs,svf", *words) == 2
    assert message in capsys.readouterr().err


def test_at_the_load_that_is_told_the_metric_is_still_the_old_one():
    """The load that fcfs takes at the latency of rr is tried again."""
    instance = instance_from_trace(drawn(200, 1.0), memory=2000, rounds_per_second=1000)
    made = evaluate(instance, [make("rr"), make("fcfs")], clock=CLOCK, current="rr")
    assert made.row("rr").keeps_up
    faster = instance.replace(tick_seconds=0.001 / made.saving.load)
    again = evaluate(faster, [make("fcfs")], clock=CLOCK, load=False)
    assert again.row("fcfs").value(made.metric) <= made.row("rr").value(made.metric)
    assert made.headline.startswith("Switch from rr to fcfs: a mean latency of")
    assert "fewer GPUs" in made.headline
