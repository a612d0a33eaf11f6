"""Both ends of the best schedule, within a given effort, and the sentence that says them."""

import json

import pytest
from command_line import ended_with

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.io import read_certificate
from ratiolab.model import Instance, write_instance
from ratiolab.online import make
from ratiolab.online.clock import LLAMA2_70B_2XA100
from ratiolab.seconds import beam
from ratiolab.seconds.both_ends import both_ends
from ratiolab.seconds.order_search import total_seconds
from ratiolab.workloads.generators import generate

KEYS = ("fcfs", "swf")


@pytest.fixture(scope="module")
def busy() -> Instance:
    return generate("lmsys", 3, n=120, memory=2000, rate=2.0).replace(tick_seconds=0.02)


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


def test_it_is_told_how_much_of_the_time_for_both_ends_is_used(busy):
    parts: list[float] = []
    made(busy, effort=10, tell=parts.append)
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] <= 1


def test_where_nothing_waits_no_effort_is_made():
    alone = generate("lmsys", 3, n=20, memory=4000, rate=0.001).replace(tick_seconds=0.02)
    found = made(alone, effort=10)
    assert found.certificate is None
    assert "Scheduling changes nothing." in found.situation[1]


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


@pytest.mark.parametrize(("most", "said"), [(119, True), (120, False)])
def test_a_log_that_is_too_long_for_beams_is_told(most, said, busy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(beam, "MOST_REQUESTS", most)
    write_instance(busy, tmp_path / "log.json")
    asked = ("evaluate", tmp_path / "log.json", "--clock", "llama2-70b-2xa100")
    assert ended_with(*asked, "--policies", "fcfs", "--effort", 0.2) == 0
    assert ("searched without beams" in capsys.readouterr().out) == said
