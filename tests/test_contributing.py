"""The examples of CONTRIBUTING.md, executed as they stand there."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from typer.testing import CliRunner

import ratiolab.papers
from ratiolab.cli.commands import app
from ratiolab.hindsight import bounds
from ratiolab.hindsight.certificates.certificate import FormulaCertificate
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model.files import Content
from ratiolab.papers import all_claims, experiments, paper, papers
from ratiolab.testing import assert_lawful
from ratiolab.theory import bound_catalogue
from ratiolab.workloads.generators import generate
from ratiolab.workloads.logs import columns_of
from ratiolab.workloads.tables import read_tables

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", TEXT, re.DOTALL))
(BOUND,) = re.findall(r"<!-- bound: \S+ -->\n```python\n(.*?)```", TEXT, re.DOTALL)
ENTRY = re.findall(r"<!-- entry: \S+ -->\n```python\n(.*?)```", TEXT, re.DOTALL)


certify_module = importlib.import_module("ratiolab.hindsight.certificates.certify")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Write the files of the examples, and let the papers be found there, too."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    found = [*ratiolab.papers.__path__, str(tmp_path / "ratiolab/papers")]
    monkeypatch.setattr(ratiolab.papers, "__path__", found)
    (tmp_path / "ratiolab/papers/example2026/experiments/__init__.py").write_text("")
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


def test_the_policy_is_lawful(checkout):
    path = "ratiolab/online/policies/lcfs.py"
    policy = ratiolab.make_policy(f"{checkout / path}:LCFS")
    for seed in range(3):
        assert_lawful(policy, generate("uniform", seed, n=6, memory=12, upper=6))


def test_the_layout_reads_a_log(checkout, tmp_path):
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


def test_the_lower_bound_holds_and_its_certificate_is_checked(monkeypatch):
    found = dict(vars(bounds))
    exec(BOUND, found)
    bound = found["prefix_volumes"]
    monkeypatch.setattr(certify_module, "BOUNDS", (*bounds.BOUNDS, bound))
    for seed in range(20):
        drawn = generate("uniform", seed, n=6, memory=12, upper=6)
        claimed = bound(drawn)
        assert claimed.value <= (tiny_optimum(drawn).latency or 0)
        certificate = FormulaCertificate(drawn.name, drawn.digest, claimed.value, claimed.source)
        assert ratiolab.certify(certificate, drawn) == claimed.value
    equal = ratiolab.Instance("equal", 5, [0] * 4, [4] * 4, [1] * 4)  # one after the other
    assert bound(equal).value == tiny_optimum(equal).latency == 1 + 2 + 3 + 4


def test_the_bound_has_a_value():
    (entry,) = ENTRY
    bound = eval(entry, vars(bound_catalogue))
    assert bound.expression(1, 4, 0) == 4


def test_the_claim_gets_its_verdict_and_the_control_another(checkout):
    result = CliRunner().invoke(app, ["claims", "example2026/theorem-1"])
    assert result.exit_code == 0, result.output
    (claim,) = ratiolab.claims(paper="example2026")
    assert claim.check(claim.control).verdict is claim.control_verdict


@pytest.fixture
def outside(tmp_path):
    """Write the files of the paper and the claim into a folder outside the package."""
    for name, content in FILES.items():
        if "/example2026/" in name and "/experiments/" not in name:
            path = tmp_path / "example2026" / name.split("/example2026/")[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    yield tmp_path / "example2026"
    paper._outside.pop("example2026", None)
    _forget()


def test_the_same_files_are_a_paper_outside_the_package(outside):
    page = outside.parent / "verdicts.md"
    words = ["claims", "--path", str(outside), "--page", str(page), "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [claim["id"] for claim in found["claims"]] == ["example2026/theorem-1"]
    assert found["controls"] == {"example2026/theorem-1": "false"}
    assert "### example2026/theorem-1" in page.read_text()
    assert "Author (2026), arXiv 2601.00001v1" in page.read_text()
    # in Python, beside the papers of the package
    assert ratiolab.add_paper(outside).key == "example2026"
    assert len(ratiolab.claims("example2026")) == 1
    assert {"chen2025", "example2026"} <= set(papers())


def test_claims_of_a_paper_may_be_a_folder_of_modules(outside):
    (outside / "claims").mkdir()
    (outside / "claims.py").rename(outside / "claims/theorem_1.py")
    (outside / "claims/__init__.py").write_text("")
    result = CliRunner().invoke(app, ["claims", "--path", str(outside), "--json"])
    found = json.loads(result.stdout)
    assert [claim["id"] for claim in found["claims"]] == ["example2026/theorem-1"]


def test_a_control_that_gets_the_verdict_of_the_claim_is_told(outside):
    file = outside / "claims.py"
    file.write_text(file.read_text().replace('control="a-max"', 'control="mc-sf"'))
    result = CliRunner().invoke(app, ["claims", "--path", str(outside)])
    assert result.exit_code == 1
    assert "its control gets holds, not false" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("file", "content", "rule"),
    [
        ("__init__.py", "PAPER = 3", "PAPER must be a Paper with the key 'example2026'"),
        ("claims.py", "", "has no claims"),
        ("claims.py", "\n1 / 0", "claims.py, line 2: ZeroDivisionError"),
        ("claims.py", "def (", "claims.py, line 1: SyntaxError"),
        ("claims.py", "raise SystemExit(7)", "claims.py, line 1: SystemExit: 7"),
    ],
)
def test_a_mistake_in_a_paper_outside_is_one_line_with_its_place(
    outside: Path, file: str, content: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (outside / file).write_text(content)
    code, out, err = run(capsys, "claims", "--path", outside)
    assert (code, out) == (2, "")
    assert rule in err
    assert len(err.splitlines()) == 1
    assert "example2026" not in papers() or not ratiolab.claims("example2026")


def test_a_key_of_the_package_is_not_taken_again(outside, capsys):
    taken = outside.rename(outside.with_name("chen2025"))
    assert run(capsys, "claims", "--path", taken)[0] == 2
    assert run(capsys, "claims", "--path", outside)[0] == 2
    assert len(ratiolab.claims("chen2025")) > 40


def test_a_recheck_says_what_was_verified(capsys):
    code, out, _ = run(capsys, "claims", "--recheck", "chen2025/theorem-7-printed")
    assert code == 0
    statement, verdict, verified = out.splitlines()
    assert statement.endswith("Algorithm 6 keeps to the memory.")
    assert verdict == "verdict: false"
    assert (
        verified
        == "witness verified, without any solver: round 2 needs 12 tokens, but the memory holds 8"
    )


def test_the_experiment_writes_its_page(checkout):
    out = checkout / "results"
    command = ["reproduce", "example2026", "--workers", "1", "--out", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    page = (out / "example2026.md").read_text()
    assert "Mean latency of 20 requests" in page
    assert "| FCFS / MC-SF, mean latency | above 1 |" in page
