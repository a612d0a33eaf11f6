"""`study` and `reproduce` as a user calls them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import run

STUDY = """
[study]
name = "mine"
seeds = 3
[[workload]]
kind = "uniform"
n = 5
[[policy]]
key = "a-min"
[quick]
seeds = 1
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(STUDY)
    return "mine.toml"


def test_the_example_that_is_printed_is_a_study(capsys, file):
    code, out, _ = run(capsys, "study")
    assert code == 0
    Path("example.toml").write_text(out)
    code, out, _ = run(capsys, "study", "example.toml", "--quick", "--workers", "1")
    # 2 intervals, 1 seed: 3 policies, and a bound
    assert (code, out) == (0, "example/example.csv: 8 rows of 8 cells\n")


def test_a_study_writes_its_tables_and_says_where(capsys, file):
    code, out, _ = run(capsys, "study", file, "--workers", "1")
    assert (code, out) == (0, "mine/mine.csv: 3 rows of 3 cells\n")
    assert len(pd.read_csv("mine/mine.csv")) == 3
    code, out, _ = run(
        capsys, "study", file, "--quick", "--workers", "1", "--out", "other", "--json"
    )
    assert code == 0
    told = {"study": "mine", "cells": 1, "rows": 1, "table": "other/mine.csv"}
    assert json.loads(out).items() >= told.items()


def test_reproduce_without_a_name_lists_the_experiments(capsys):
    code, out, _ = run(capsys, "reproduce", "--json")
    assert code == 0
    listed = json.loads(out)["experiments"]
    assert "chen2025" in [entry["name"] for entry in listed]
    assert all(entry["source"] for entry in listed)
    code, out, _ = run(capsys, "reproduce")
    assert code == 0
    assert "chen2025" in out
