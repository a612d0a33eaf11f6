"""Evaluations of policies of one's own: their parameters, their mistakes, other processes."""

import json
from pathlib import Path

import pytest
from command_line import ended_with
from drawn_logs import drawn

from ratiolab.model import write_instance
from ratiolab.workloads.traces import instance_from_trace

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


def test_processes_and_parameters_change_nothing_but_what_they_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
def test_a_policy_that_fails_is_one_line_with_its_place(
    workers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
def test_mistakes_come_before_the_work(
    command: str,
    words: tuple[str, str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "i.json"
    write_instance(instance_from_trace(drawn(10), memory=2500, rounds_per_second=1000), file)
    assert ended_with(command, file, "--clock", "unit", "--policies", "fcfs,svf", *words) == 2
    assert message in capsys.readouterr().err
