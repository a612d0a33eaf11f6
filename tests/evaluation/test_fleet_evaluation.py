"""Evaluations of several replicas: bounds hold, prices and advice follow from the rows."""

import json

import numpy as np
import pytest

from ratiolab.evaluation.fleets import evaluate_fleet, fleet_bound
from ratiolab.evaluation.service import METRICS, Slo
from ratiolab.hindsight import solve_promises
from ratiolab.model import Instance
from ratiolab.model.fleet import Fleet
from ratiolab.model.promises import goodput, with_limits
from ratiolab.online import make
from ratiolab.online.clock import CLOCKS
from ratiolab.online.fleets.loop import simulate_fleet
from ratiolab.report.fleet_report import charts, write_fleet_report

rng = np.random.default_rng(1)
OUTPUT, PROMPT = rng.integers(1, 25, 80), rng.integers(0, 30, 80)
FLEET = Fleet(Instance("x", 60, rng.integers(0, 40, 80), PROMPT, OUTPUT, tick_seconds=0.05), 3)
ROUTERS = ("jsq", "round-robin", "central")


@pytest.fixture(scope="module")
def made():
    return evaluate_fleet(FLEET, ["fcfs", "svf"], ROUTERS, preemption="restart", runs=3)


def test_every_pair_has_a_row_that_no_bound_exceeds(made):
    pairs = {(row.policy.name, row.router.name) for row in made.rows}
    assert pairs == {(p, r) for p in ("fcfs", "svf") for r in ROUTERS}
    for row in made.rows:
        random = row.policy.uses_randomness or row.router.randomized
        assert len(row.services) == (3 if random else 1)
        for metric in made.metrics:
            assert row.value(metric) >= made.bounds[metric.key] * (1 - 1e-12)
    values = [row.value(made.metric) for row in made.rows]
    assert values == sorted(values)


def test_a_row_is_the_mean_over_seeds_of_its_runs(made):
    runs = [simulate_fleet(FLEET, "svf", "jsq", seed=s, preemption="restart") for s in range(3)]
    mean = np.mean([run.per_request["latency"].mean() for run in runs])
    row = made.row("svf", "jsq")
    assert row.value(METRICS["mean"]) == pytest.approx(mean)
    low, high = row.ends(METRICS["mean"])
    assert low <= mean <= high


def test_the_price_of_dispatch_at_once_is_the_best_such_router_over_the_central_queue(made):
    for policy, (router, price) in made.price.items():
        once = {r: made.row(policy, r).value(made.metric) for r in ("jsq", "round-robin")}
        central = made.row(policy, "central").value(made.metric)
        assert router == min(once, key=once.get)
        assert price == pytest.approx(once[router] / central - 1)


def test_advice_names_the_router_in_use_and_what_is_better(made):
    first, *rest = made.advice
    best = next(row for row in made.rows if row.policy.name == "fcfs")
    now = made.row("fcfs", "jsq")
    assert ("No router here serves fcfs better" in first) == (best is now)
    assert best.router.name in first
    assert "at most" in rest[0]
    assert "the best schedule of 3 replicas" in rest[0]
    assert any("Dispatch at once costs svf" in line for line in rest)
    ahead = next(line for line in rest if "The best policy behind jsq is svf" in line)
    assert "knows every output length" in ahead
    assert made.situation[0].startswith("80 requests arrive over 39 rounds, 2.05 a round")
    assert json.dumps(made.to_dict())


def test_bounds_in_seconds_are_those_of_a_machine_of_that_speed():
    clock = CLOCKS["llama2-70b-2xa100"]
    made = evaluate_fleet(FLEET, ["fcfs"], ["least-kv"], clock=clock, runs=1)
    [row] = made.rows
    for metric in made.metrics:
        assert row.value(metric) >= made.bounds[metric.key] * (1 - 1e-12)
    more = [
        fleet_bound(METRICS["mean"], Fleet(FLEET.instance, r), clock, "restart") for r in (2, 9)
    ]
    assert more[0] > more[1]


@pytest.mark.parametrize("clock", [None, "llama2-70b-2xa100"])
def test_goodput_stays_below_the_bound_and_advice_says_what_serves_more(clock):
    slo = Slo(latency=40 if clock is None else 0.8)
    options = {"clock": clock, "preemption": "restart", "slo": slo, "metric": "goodput"}
    made = evaluate_fleet(FLEET, ["fcfs", "svf"], ["round-robin", "central"], runs=1, **options)
    promise, bound = made.promise, made.bounds["goodput"]
    for row in made.rows:
        assert row.value(made.metric) <= bound < 1
        assert made.ratio(row) >= 1
    assert promise.bound == round(bound * len(FLEET))
    assert promise.served <= promise.bound
    assert promise.current == "fcfs behind round-robin"
    values = [row.value(made.metric) for row in made.rows]
    assert values == sorted(values, reverse=True)
    assert any("points more" in line for line in made.advice)
    if clock is None:  # a closer bound on schedules without evictions
        promised = with_limits(FLEET, latency=slo.latency)
        best = solve_promises(promised, "goodput", method="certified").lower
        assert best <= promise.calm <= promise.bound
        svf = simulate_fleet(promised, "svf", "central", preemption="restart")
        assert goodput(svf.schedule.runs) <= promise.calm


@pytest.mark.parametrize("kind", ["html", "md"])
def test_a_report_has_a_chart_for_each_router(made, tmp_path, kind):
    path = tmp_path / f"report.{kind}"
    write_fleet_report(made, str(path), log=["Layout: none."])
    text = path.read_text()
    assert list(charts(made)) == [
        "routers",
        *(f"latency-{row}" for row in dict.fromkeys(row.router.name for row in made.rows)),
    ]
    for router in ROUTERS:
        assert f"Latency of requests behind {router}" in text
    assert made.advice[0] in text or kind == "html"
    if kind == "md":
        assert len(list(tmp_path.glob("*.png"))) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"routers": []}, "routers is empty"),
        ({"routers": ["jqs"]}, "router 'jqs'"),
        ({"metric": "goodput"}, "needs --slo"),
        ({"policies": ["fcfs"], "preemption": "melt"}, "melt"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_fleet(FLEET, **{"policies": ["fcfs"], **options})


def test_the_policy_in_use_before_a_fleet_is_known_by_its_parameters():
    fleet = Fleet(Instance("four", 9, [0] * 4, [1] * 4, [2, 3, 4, 5]), 2)
    one = make("fcfs", {"batch": 1})
    made = evaluate_fleet(fleet, [one], ["round-robin"], current="fcfs")
    assert {row.name for row in made.rows} == {"fcfs", "fcfs(batch=1)"}
    assert made.row(made.policy, "round-robin").policy == make("fcfs")
    made = evaluate_fleet(fleet, [one], ["round-robin"], current=one)
    assert [row.policy for row in made.rows] == [one]
