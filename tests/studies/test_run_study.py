"""Running studies: what was finished stays, and nothing depends on how it was computed."""

import json
from pathlib import Path

import pytest

from ratiolab.hindsight.labelling import weights
from ratiolab.model import Instance
from ratiolab.studies import Cell, Study, read_study
from ratiolab.studies.cell import Value
from ratiolab.studies.run import compute, run_study
from ratiolab.studies.store import Store
from ratiolab.studies.tasks import TASKS, Task, bounds

TEXT = """
[study]
name = "small"
tasks = ["simulate", "bound"]
seeds = 3
[[workload]]
kind = "chen-rough"
n = [10, 30]
memory = 2000
[[policy]]
key = "a-min"
[[policy]]
key = "svf"
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return read_study(path)


def files(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.iterdir() if path.is_file()}


def test_results_do_not_depend_on_workers_or_on_what_was_there_before(study, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    run_study(study, one, workers=1)
    for cell in study.cells[1::2]:  # finished before, in another order
        two.save(cell, compute((cell, TASKS[str(cell["task"])]))[1])
    run_study(study, two, workers=2)
    assert files(one) == files(two)
    assert {"small.csv", "small.json"} <= set(files(one))


def test_a_finished_cell_is_not_computed_again_and_a_broken_one_is(study, tmp_path, monkeypatch):
    store = Store(tmp_path / "s")
    run_study(study, store, workers=1)
    before = files(store)
    store.path(study.cells[0]).write_text("{ half of")
    other = json.loads(store.path(study.cells[1]).read_text())
    store.path(study.cells[2]).write_text(json.dumps(other))  # a cell under another's name
    computed: list[Cell] = []

    def watched(work: tuple[Cell, Task]) -> object:
        computed.append(work[0])
        return compute(work)

    monkeypatch.setattr("ratiolab.studies.run.compute", watched)
    seen: list[tuple[int, int]] = []
    run_study(study, store, workers=1, advance=lambda done, cells: seen.append((done, cells)))
    assert computed == [study.cells[0], study.cells[2]]
    assert seen == [(16, 18), (17, 18), (18, 18)]
    assert files(store) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"total_latency": ', '"total_latency": 1'),
        ('"rows": [', '"rows": [3, '),
        ('"rows": [', '"rows": [{"total_latency": [1]}, '),
        ('"version": "', '"version": "1'),
        ('"cell": {', '"cell": [], "cells": {'),
    ],
)
def test_a_damaged_cell_is_computed_again(old, new, study, tmp_path):
    store, cell = Store(tmp_path / "s"), study.cells[0]
    store.save(cell, compute((cell, TASKS["simulate"]))[1])
    whole = store.path(cell).read_text()
    assert store.load(cell) is not None
    assert old in whole
    store.path(cell).write_text(whole.replace(old, new, 1))
    assert store.load(cell) is None


@pytest.mark.parametrize(
    "task", ["bound", pytest.param("bracket", marks=pytest.mark.long), "enclosure"]
)
def test_ctrl_c_in_a_bound_ends_the_study_and_stores_no_weak_bound(
    task: str, study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    sizes = {"n_least": 11, "n_most": 11, "memory_least": 30, "memory_most": 30}
    fields = {"task": task, "workload": "jaillet-model-1", "option.rounds": 1}
    fields["option.steps"] = 10 + len(task)  # tasks share what a process has computed with as many
    fields |= {"option.beam": 2, "option.walks": 100}
    fields |= {f"workload.{name}": value for name, value in sizes.items()}
    first, second = (Cell(fields | {"seed": seed}) for seed in (8, 9))
    store = Store(tmp_path / "s")
    run_study(Study("one", (first,)), store, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr("ratiolab.hindsight.stages.improved_schedule", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_study(Study("two", (first, second)), store, workers=1)
    assert store.missing(Study("two", (first, second))) == [second]
    run_study(Study("two", (first, second)), store, workers=1)  # nothing weak was cached


@pytest.mark.long
def test_an_enclosure_is_closer_than_a_bound_and_the_same_when_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"workload": "chen-rough", "workload.n": 401, "workload.memory": 2000}
    fields |= {"seed": 1, "option.steps": 100}
    (plain,), (both,), (again,) = (
        compute((Cell(fields | {"task": task}), TASKS[task]))[1]
        for task in ("bound", "enclosure", "enclosure")
    )
    assert both == again
    assert plain["opt_lower"] <= both["opt_lower"] <= both["opt_upper"] < plain["opt_upper"]
    run = Cell(fields | {"task": "simulate", "policy": "a-min", "policy.ties": "random"})
    assert {row["instance"] for row in (plain, both)} == {run.instance().digest}

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    store, cell = Store(tmp_path / "s"), Cell(fields | {"task": "enclosure"})
    monkeypatch.setattr("ratiolab.hindsight.stages.growth_bounds", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(Study("one", (cell,)), store, workers=1)
    assert store.load(cell) is None


def test_a_failing_cell_is_named_and_the_others_are_kept(study, tmp_path):
    bad = Cell({**study.cells[0].fields, "policy": "sjf"} | {"seed": 99})
    bad = Cell({k: v for k, v in bad.fields.items() if not k.startswith("policy.")})
    with pytest.raises(ValueError, match=r"seed=99 policy=sjf: .* has no column 'predicted'"):
        run_study(Study("bad", (*study.cells[:3], bad)), Store(tmp_path / "s"), workers=1)
    assert Store(tmp_path / "s").missing(study) == list(study.cells[3:])


def test_a_run_that_never_ends_is_a_row_with_its_outcome(tmp_path):
    from ratiolab.model import write_instance

    # each needs 8 of 10 tokens alone: admitted together they overflow and are cleared for ever
    write_instance(Instance("loop", 10, [0, 0], [1, 1], [7, 7]), tmp_path / "loop.json")
    (tmp_path / "s.toml").write_text(
        '[study]\nname = "loop"\n[[workload]]\ninstance = "loop.json"\n'
        '[[policy]]\nkey = "alpha-protection"\nalpha = 0.1\n[[policy]]\nkey = "h-sf"\n'
    )
    frame = run_study(read_study(tmp_path / "s.toml"), Store(tmp_path / "s"), workers=1)
    assert frame["outcome"].tolist() == ["looping", "complete"]
    assert frame["total_latency"].isna().tolist() == [True, False]


def test_a_study_runs_under_each_semantics_and_each_clock(tmp_path):
    (tmp_path / "profile.csv").write_text(
        "seconds,prefill_tokens,decoding_requests,kv_tokens\n1,0,0,0\n2,1,0,0\n3,0,2,0\n1.5,0,0,5\n"
    )
    (tmp_path / "s.toml").write_text(
        '[study]\nname = "clocks"\nclock = ["unit", "llama2-70b-2xa100", "profile.csv"]\n'
        'preemption = ["restart", "swap"]\n'
        '[[workload]]\nkind = "chen-rough"\nn = 40\nmemory = 1500\n'
        '[[policy]]\nkey = "h-sf"\n[[policy]]\nkey = "fcfs"\npreemption = "recompute"\n'
    )
    frame = run_study(read_study(tmp_path / "s.toml"), Store(tmp_path / "s"), workers=1)
    table = frame.pivot(index="clock", columns=["policy", "preemption"], values="total_latency")
    assert list(table) == [("h-sf", "restart"), ("h-sf", "swap"), ("fcfs", "recompute")]
    assert (frame["preempted_as"] == frame["preemption"]).all()
    assert (table.loc["profile.csv"] > table.loc["unit"]).all()  # every batch takes a second
    assert frame.groupby("clock")["unit"].first().to_dict() == {
        "unit": "rounds",
        "llama2-70b-2xa100": "seconds",
        "profile.csv": "seconds",
    }


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(bounds, "STEPS", 5)


def eleven(walks: int) -> tuple[int, int]:
    """Return the bracket of eleven requests after so many questions of walks."""
    fields: dict[str, Value] = {
        "task": "bracket",
        "workload": "jaillet-model-1",
        "workload.n_least": 11,
        "workload.n_most": 11,
        "seed": 8,
        "option.steps": 1,
        "option.rounds": 1,
        "option.walks": walks,
    }
    row = TASKS["bracket"].run(Cell(fields))[0]
    lower, upper = row["opt_lower"], row["opt_upper"]
    assert isinstance(lower, int)
    assert isinstance(upper, int)
    return lower, upper


@pytest.mark.usefixtures("few_steps")
def test_walks_close_a_bracket_and_stop_after_so_many_questions():
    without, few, many = eleven(0), eleven(10), eleven(10**6)
    assert few == eleven(10)
    assert without[0] <= few[0] <= many[0] <= many[1] <= few[1] <= without[1]
    assert many[0] == many[1]
    assert without[0] < without[1]


@pytest.mark.usefixtures("few_steps")
def test_a_bracket_keeps_what_is_proven_where_tables_are_too_large_for_walks(monkeypatch):
    lower, (proven, latency) = eleven(0)[0], eleven(10**6)
    monkeypatch.setattr(weights, "MOST_CELLS", 0)
    refused = eleven(10**6)
    assert refused[0] == lower < proven
    assert latency <= refused[1]
