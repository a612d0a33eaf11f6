"""The kept list of policies and routers."""

import json
import os
import subprocess
import sys

from command_line import run_json

from ratiolab.cli import listing
from ratiolab.online import POLICIES


def test_the_list_is_kept_until_a_source_changes(tmp_path, monkeypatch):
    source = tmp_path / "online" / "__init__.py"
    source.parent.mkdir()
    source.write_text("")
    made = iter([{"policies": [n], "routers": []} for n in range(6)])
    monkeypatch.setattr(listing, "PACKAGE", tmp_path)
    monkeypatch.setattr(listing, "_made", lambda: next(made))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert [listing.listed()["policies"] for _ in range(2)] == [[0], [0]]
    source.write_text("policy = 1")
    assert [listing.listed()["policies"] for _ in range(2)] == [[1], [1]]
    (kept,) = source.parent.rglob("list.json")
    for n, broken in enumerate(("{", "[1]", "{}")):
        kept.write_text(broken)
        assert [listing.listed()["policies"] for _ in range(2)] == [[2 + n], [2 + n]]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept.unlink()
    assert listing.listed()["policies"] == [5]
    assert not kept.exists()


def modules_of(*words):
    """Return what a command prints and the modules that it loads."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ratiolab", *words],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout, {line.split("|")[-1].strip() for line in run.stderr.splitlines()}


def test_a_kept_list_loads_neither_policies_nor_numpy(capsys):
    assert [each["policy"] for each in run_json(capsys, "policies")["policies"]] == [*POLICIES]
    for _ in range(2):  # the first may have to make the list
        printed, modules = modules_of("policies", "--json")
    assert "ratiolab.cli.listing" in modules
    assert {"numpy", "ratiolab.model", "ratiolab.online"}.isdisjoint(modules)
    assert len(json.loads(printed)["policies"]) == len(POLICIES)


def test_a_short_simulation_loads_no_library_but_numpy(ec1):
    printed, modules = modules_of("simulate", ec1, "--policy", "mc-sf", "--runs", "2")
    assert "mean TEL 12" in printed
    assert {"numba", "pandas", "scipy", "highspy", "matplotlib"}.isdisjoint(modules)
