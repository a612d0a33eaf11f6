"""Baselines: what they may run, and that they pin something."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import ended_with

from ratiolab.baseline import read_baseline
from ratiolab.model import Instance, write_instance

POLICY = """
from pathlib import Path
from ratiolab.online.policies.sorted_f import SortedF
Path(__file__).with_name("was-run").touch()
class Mine(SortedF):
    name = "mine"
"""


def write(folder: Path, entries: list[dict[str, Any]]) -> Path:
    write_instance(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), folder / "ec1.json")
    path = folder / "baseline.json"
    path.write_text(json.dumps({"format": "ratiolab-baseline/1", "entries": entries}))
    return path


def pinned(policy: str) -> dict[str, Any]:
    return {"kind": "ratio", "instance": "ec1.json", "policy": policy}


def test_a_policy_file_is_run_only_when_that_is_allowed(tmp_path, capsys):
    (tmp_path / "policy.py").write_text(POLICY)
    baseline = write(tmp_path, [pinned("policy.py:Mine")])
    assert ended_with("check", baseline, "--update") == 1
    assert "allow it with --allow-policy-files" in capsys.readouterr().out
    assert not (tmp_path / "was-run").exists()
    assert ended_with("check", baseline, "--update", "--allow-policy-files") == 0
    assert (tmp_path / "was-run").exists()


@pytest.mark.parametrize("place", ["{folder}/policy.py:Mine", "../policy.py:Mine"])
def test_a_policy_file_stands_below_the_baseline(place, tmp_path):
    (tmp_path / "policy.py").write_text(POLICY)
    folder = tmp_path / "below"
    folder.mkdir()
    (entry,) = read_baseline(write(folder, [pinned(place.format(folder=tmp_path))]))
    with pytest.raises(ValueError, match="must be below the folder of the baseline"):
        entry.compute(folder, allow_policy_files=True)
    assert not (tmp_path / "was-run").exists()


def test_a_tolerance_is_relative_also_for_small_values(tmp_path):
    (entry,) = read_baseline(
        write(tmp_path, [{"kind": "rayleigh", "upper": 2, "value": 1e-12, "tolerance": 0.01}])
    )
    assert entry.drift(2e-12) is not None
    assert entry.drift(1.001e-12) is None


def at_most(policy: str, **more: Any) -> dict[str, Any]:
    return {"kind": "ratio-at-most", "instance": "ec1.json", "policy": policy, **more}


def test_an_improvement_never_fails_and_update_tightens(tmp_path, capsys):
    baseline = write(tmp_path, [at_most("mc-sf", value="3/2"), at_most("mc-sf", value="9/10")])
    good, bad = read_baseline(baseline)
    assert good.drift(good.compute(tmp_path)) is None
    assert bad.drift(bad.compute(tmp_path)) is not None  # the optimum itself is above 9/10
    assert bad.drift("stalled") is not None
    assert ended_with("check", baseline) == 1
    assert ended_with("check", baseline, "--update") == 0
    assert [entry.value for entry in read_baseline(baseline)] == ["1", "1"]
    assert ended_with("check", baseline) == 0
    capsys.readouterr()


def test_update_prints_every_value_that_it_changes_old_and_new(tmp_path, capsys):
    entries = [at_most("mc-sf", value="3/2"), pinned("mc-sf") | {"value": {"cost": "13"}}]
    baseline = write(tmp_path, [*entries, at_most("fcfs", value="5")])
    assert ended_with("check", baseline, "--update") == 0
    said = capsys.readouterr().out
    new = [entry.value for entry in read_baseline(baseline)]
    for entry, old, now in zip(
        read_baseline(baseline), ("3/2", "{'cost': '13'}", "5"), new, strict=True
    ):
        assert f"changed {entry}: {old} -> {now}" in said
    assert "updated: 3 values changed" in said
    assert ended_with("check", baseline, "--update") == 0
    assert "updated: 0 values changed" in capsys.readouterr().out


def test_the_bound_of_a_theorem_is_pinned_and_no_update_moves_it(tmp_path, capsys):
    baseline = write(tmp_path, [])
    baseline.unlink()
    words = ["ratio-at-most", "instance=ec1.json", "policy=mc-sf"]
    assert ended_with("baseline", "add", baseline, *words, "at-most=7/3") == 0
    (entry,) = read_baseline(baseline)
    assert (entry.at_most, entry.value) == ("7/3", "1")
    # worse than it was, and within the bound: that holds
    baseline.write_text(baseline.read_text().replace('"value": "1"', '"value": "1/2"'))
    assert ended_with("check", baseline) == 0
    assert ended_with("check", baseline, "--update") == 0
    assert "1/2 -> 1" in capsys.readouterr().out
    # a bound that is broken stays, and stays broken
    broken = baseline.read_text().replace('"7/3"', '"1"').replace("mc-sf", "a-max")
    baseline.write_text(broken)
    assert ended_with("check", baseline, "--update") == 1
    assert "must be at most 1, is " in capsys.readouterr().out
    assert baseline.read_text() == broken
    for wrong, word in (("value=3", "at-most=3"), ("at-most=x", "fraction"), ("at-most=1/2", "1")):
        assert ended_with("baseline", "add", baseline, *words, wrong) == 2
        assert word in capsys.readouterr().err
    worse = [*words[:2], "policy=a-max"]
    assert ended_with("baseline", "add", baseline, *worse, "at-most=1") == 2
    assert ended_with("baseline", "add", baseline, "ratio", *words[1:], "at-most=3") == 2
    assert baseline.read_text() == broken


def test_an_entry_without_a_value_pins_nothing_and_fails(tmp_path):
    for entry in read_baseline(write(tmp_path, [at_most("mc-sf"), at_most("fcfs", value="x")])):
        assert entry.drift(entry.compute(tmp_path)) is not None


def test_all_entries_are_judged_when_one_cannot_be(tmp_path, capsys, monkeypatch):
    gone = pinned("fcfs") | {"instance": "gone.json"}
    bound = {"kind": "bound", "name": "chen2025/theorem-7", "lower": 1, "upper": 4}
    baseline = write(tmp_path, [gone, bound | {"value": "1"}, bound | {"value": "7/6"}])
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert ended_with("check", baseline) == 1
    said = capsys.readouterr()
    assert "entry 0: cannot be computed: " in said.out
    assert "was 1, is 7/6" in said.out
    assert "3 entries, 1 drifted, 1 failed" in said.out
    assert said.err.count("::error file=") == 2


def test_entries_are_added_listed_and_explained(tmp_path, capsys):
    baseline = write(tmp_path, [])
    baseline.unlink()
    words = ["instance=ec1.json", "policy=mc-sf", "runs=1"]
    assert ended_with("baseline", "add", baseline, "ratio-at-most", *words) == 0
    assert ended_with("baseline", "add", baseline, "rayleigh", "upper=2") == 0
    assert ended_with("baseline", "add", baseline, "rayleigh", "upper=2") == 2
    assert "is pinned already" in capsys.readouterr().err
    assert [entry.kind for entry in read_baseline(baseline)] == ["ratio-at-most", "rayleigh"]
    assert ended_with("baseline", "list", baseline, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["entries"]) == 2
    assert ended_with("baseline", "explain", baseline, 0) == 0
    assert "a smaller ratio never fails" in capsys.readouterr().out
    assert ended_with("baseline", "explain", baseline, 2) == 2
    for wrong in (["odd"], ["bound", "value=1", "name=x"], ["bound", "nam=x"], ["ratio", "policy"]):
        assert ended_with("baseline", "add", baseline, *wrong) == 2
