"""The examples of CONTRIBUTING.md, executed as they stand there."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ratiolab.papers
from ratiolab.cli.commands import app
from ratiolab.model.files import Content
from ratiolab.papers import all_claims, experiments, papers
from ratiolab.testing import assert_lawful
from ratiolab.theory import bound_catalogue
from ratiolab.workloads.generators import generate
from ratiolab.workloads.logs import columns_of
from ratiolab.workloads.tables import read_tables

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", TEXT, re.DOTALL))
ENTRY = re.findall(r"<!-- entry: \S+ -->\n```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the files of the examples, and let the papers be found there, too."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    found = [*ratiolab.papers.__path__, str(tmp_path / "ratiolab/papers")]
    monkeypatch.setattr(ratiolab.papers, "__path__", found)
    for folder in ("claims", "experiments"):
        (tmp_path / "ratiolab/papers/example2026" / folder / "__init__.py").write_text("")
    _forget()
    yield tmp_path
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for found in (papers, all_claims, experiments):
        found.cache_clear()
    for module in [name for name in sys.modules if "example2026" in name]:
        del sys.modules[module]


def test_the_policy_is_lawful(checkout: Path) -> None:
    path = "ratiolab/online/policies/lcfs.py"
    policy = ratiolab.make_policy(f"{checkout / path}:LCFS")
    for seed in range(3):
        assert_lawful(policy, generate("uniform", seed, n=6, memory=12, upper=6))


def test_the_layout_reads_a_log(checkout: Path, tmp_path: Path) -> None:
    content = (checkout / "ratiolab/workloads/layouts/example_server.py").read_text()
    found: dict[str, Any] = {}
    exec(content, found)
    row = {"received_at": 5.0, "usage": {"input": 3, "output": 4}, "ttft_ms": 250, "shard": 1}
    text = json.dumps([{**row, "sent_at": 6.0, "state": "ok"}, {**row, "state": "lost"}])
    (table,) = read_tables(Content("log", text.encode(), ""))
    assert found["LAYOUT"].fits(table.columns)
    read = columns_of(table, found["LAYOUT"])
    assert (read.prompt.tolist(), read.times["first"].tolist()) == ([3], [0.25])
    assert read.dropped == {"not served ('lost' 1)": 1}


def test_the_bound_has_a_value() -> None:
    (entry,) = ENTRY
    bound = eval(entry, vars(bound_catalogue))
    assert bound.expression(1, 4, 0) == 4


def test_the_claim_gets_its_verdict_and_the_control_another(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["claims", "example2026/theorem-1"])
    assert result.exit_code == 0, result.output
    (claim,) = ratiolab.claims(paper="example2026")
    assert claim.check(claim.control).verdict is claim.control_verdict


def test_the_experiment_writes_its_page(checkout: Path) -> None:
    out = checkout / "results"
    command = ["reproduce", "example2026", "--workers", "1", "--out", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    page = (out / "example2026.md").read_text()
    assert "Mean latency of 20 requests" in page
    assert "| FCFS / MC-SF, mean latency | above 1 |" in page
