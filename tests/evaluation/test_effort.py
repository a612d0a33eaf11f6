"""Both ends of the best schedule within an effort, and what switching saves."""

import json

import numpy as np
import pytest
from command_line import ended_with

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.evaluation.saving import BLOCKS, Saving, saved
from ratiolab.evaluation.service import Service, Slo, metric_of
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.io import read_certificate
from ratiolab.model import write_instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA2_70B_2XA100
from ratiolab.seconds import beam
from ratiolab.seconds.both_ends import both_ends
from ratiolab.seconds.order_search import total_seconds
from ratiolab.workloads.generators import generate

KEYS = ("fcfs", "swf")


@pytest.fixture(scope="module")
def busy():
    return generate("lmsys", 3, n=60, memory=2000, rate=2.0).replace(tick_seconds=0.02)


def made(instance, **options):
    policies = [make(key) for key in KEYS]
    return evaluate(instance, policies, clock=LLAMA2_70B_2XA100, load=False, **options)


@pytest.mark.long
def test_effort_narrows_the_interval_from_both_ends_and_says_it_in_a_sentence(busy):
    plain, worked = made(busy), made(busy, effort=10)
    assert worked.enclosure[0] > plain.enclosure[0]
    assert worked.enclosure[1] <= plain.enclosure[1]
    assert certify(worked.certificate, busy) / 10**12 / len(busy) == worked.bounds["mean"]
    assert worked.to_dict()["best_schedule"] == list(worked.enclosure)
    words = worked.advice[1]
    assert words.startswith("The best possible schedule has a mean latency of ")
    least = worked.row("fcfs").value(worked.metric) / worked.enclosure[1]
    assert f"at least {least:.2f} times as much" in words
    assert plain.certificate is None
    assert plain.answer == ""


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_keeps_both_ends_as_far_as_they_were_found(busy):
    search = both_ends(
        busy, LLAMA2_70B_2XA100, "recompute", search=1e6, bound=1e6, tell=interrupted
    )
    assert search.interrupted
    assert certify(search.certificate, busy) / 10**12 < total_seconds(search.run)


def test_after_ctrl_c_the_command_says_what_it_keeps(busy, tmp_path, capsys, monkeypatch):
    write_instance(busy, tmp_path / "log.json")
    monkeypatch.setattr("ratiolab.seconds.both_ends.wait", interrupted)
    asked = ("evaluate", tmp_path / "log.json", "--clock", "llama2-70b-2xa100", "--json")
    assert ended_with(*asked, "--policies", "fcfs,swf") == 130
    out, err = capsys.readouterr()
    low, high = json.loads(out)["best_schedule"]
    assert 0 < low < high
    assert "both ends of the best schedule are those found so far" in err


def test_the_command_writes_a_certificate_that_certify_proves(busy, tmp_path, capsys):
    write_instance(busy, tmp_path / "log.json")
    asked = ("evaluate", tmp_path / "log.json", "--clock", "llama2-70b-2xa100", "--json")
    asked += ("--policies", "fcfs,swf", "--certificate", tmp_path / "c.json")
    assert ended_with(*asked) == 0
    low, high = json.loads(capsys.readouterr().out)["best_schedule"]
    claim = read_certificate(tmp_path / "c.json")
    assert certify(claim, busy) / 10**12 / len(busy) == pytest.approx(low)
    assert low < high
    assert ended_with(*asked, "--effort", 0) == 2


@pytest.mark.parametrize(("most", "said"), [(59, True), (60, False)])
def test_a_log_that_is_too_long_for_beams_is_told(most, said, busy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(beam, "MOST_REQUESTS", most)
    write_instance(busy, tmp_path / "log.json")
    asked = ("evaluate", tmp_path / "log.json", "--clock", "llama2-70b-2xa100")
    assert ended_with(*asked, "--policies", "fcfs", "--effort", 0.2) == 0
    assert ("a search takes up to" in capsys.readouterr().out) == said


def service(latency: np.ndarray) -> Service:
    return Service(latency, latency / 2, latency / 3)


def judged(latencies: dict[str, list[np.ndarray]], key: str = "mean") -> Saving:
    """Judge the switch from ``old`` to what is best on all requests."""
    metric = metric_of(key, Slo(latency=5.0))
    services = {name: [service(each) for each in own] for name, own in latencies.items()}
    values = {n: np.mean([metric.value(s) for s in own]) for n, own in services.items()}
    best = (max if metric.larger_is_better else min)(values, key=lambda name: values[name])
    order = np.arange(len(latencies["old"][0]))
    return saved(metric, "old", best, services, order, None)


def fixed_choice(before: np.ndarray, after: np.ndarray, rng: np.random.Generator) -> float:
    """Return the lower end for a policy as if nobody had chosen it: plain block bootstrap."""
    sums = [np.array([b.sum() for b in np.array_split(each, BLOCKS)]) for each in (before, after)]
    drawn = rng.multinomial(BLOCKS, np.full(BLOCKS, 1 / BLOCKS), 500)
    return float(np.quantile(1 - (drawn @ sums[1]) / (drawn @ sums[0]), 0.025))


@pytest.mark.parametrize("key", ["mean", "p99", "goodput"])
def test_twenty_equal_policies_are_no_reason_to_switch(key):
    """Twenty policies with latencies of one law: the best of them is so by luck alone."""
    rng = np.random.default_rng(5)
    honest = naive = 0
    for _ in range(25):
        latencies = {f"p{i}": [rng.exponential(4.0, 400)] for i in range(20)}
        latencies["old"] = [rng.exponential(4.0, 400)]
        found = judged(latencies, key)
        honest += found.low > 0
        best = min(latencies, key=lambda name: latencies[name][0].mean())
        naive += fixed_choice(latencies["old"][0], latencies[best][0], rng) > 0
    assert honest <= 2
    assert naive >= 5  # the interval of a fixed policy claims it far more often than in 2.5 %


def test_a_policy_that_is_better_is_chosen_again_and_its_saving_is_covered():
    rng = np.random.default_rng(7)
    base = rng.exponential(4.0, 2000)
    noise = {f"p{i}": [base * rng.uniform(0.9, 1.1, 2000)] for i in range(10)}
    found = judged({"old": [base], "good": [0.8 * base * rng.uniform(0.9, 1.1, 2000)], **noise})
    assert found.again == 1
    assert found.low < 0.2 < found.high
    assert found.low > 0.15
    assert found.held_out == pytest.approx(found.relative, abs=0.01)


@pytest.mark.parametrize("requests", [1, 2])
def test_too_few_requests_judge_nothing(requests):
    found = judged({"old": [np.full(requests, 4.0)], "new": [np.full(requests, 2.0)]})
    assert found.relative == 0.5
    if requests == 1:
        assert found.low == -np.inf
