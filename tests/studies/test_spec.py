"""Study files: what sweeps make of them, and how mistakes are named."""

from pathlib import Path

import pytest

from ratiolab.model import FormatError, Instance, Schedule, write_instance
from ratiolab.papers import experiments
from ratiolab.studies import Cell, read_study
from ratiolab.studies.tasks.optimum import held_back, optimum

SMALL = """
[study]
name = "small"
seeds = 3
[[workload]]
kind = "uniform"
n = [4, 8]
[[policy]]
key = "a-min"
ties = ["random", "worst"]
[[policy]]
key = "h-sf"
[quick]
seeds = 1
[quick.workload]
n = [4]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_a_grid_has_a_cell_for_every_combination_in_the_order_of_the_file(tmp_path):
    study = read_study(written(tmp_path, SMALL))
    assert len(study.cells) == 2 * 3 * (2 + 1)
    assert len({cell.id for cell in study.cells}) == len(study.cells)
    first, last = study.cells[0], study.cells[-1]
    assert (first["workload.n"], first.seed, first["policy.ties"]) == (4, 0, "random")
    assert (last["workload.n"], last.seed, last["policy"]) == (8, 2, "h-sf")
    assert study.cells[1].instance() is first.instance()  # neighbours share it


def test_quick_changes_what_its_table_says_and_nothing_else(tmp_path):
    path = written(tmp_path, SMALL)
    full, quick = read_study(path), read_study(path, quick=True)
    assert len(quick.cells) == 3
    assert {cell.id for cell in quick.cells} <= {cell.id for cell in full.cells}


def test_a_policy_may_name_the_workloads_that_it_is_run_on(tmp_path):
    two = SMALL.replace("n = [4, 8]", 'n = 4\nlabel = "one"\n[[workload]]\nkind = "equal"\nn = 4')
    limited = two.replace('key = "h-sf"', 'key = "h-sf"\nworkloads = "one"')
    cells = read_study(written(tmp_path, limited)).cells
    where = {(cell["policy"], cell["workload.label"]) for cell in cells}
    assert where == {("a-min", "one"), ("a-min", "equal"), ("h-sf", "one")}
    assert {cell.id for cell in cells} < {c.id for c in read_study(written(tmp_path, two)).cells}
    with pytest.raises(FormatError, match=r"\[\[policy\]\] 2: workloads 'two' is unknown; "):
        read_study(written(tmp_path, limited.replace('= "one"\n[quick', '= "two"\n[quick')))


def test_a_workload_may_name_clocks_and_tasks_that_it_is_for(tmp_path):
    head = 'seeds = 1\nclock = ["unit", "llama3-1b-l4"]\ntasks = ["simulate", "bound"]'
    two = SMALL.replace("seeds = 3", head).replace(
        "n = [4, 8]", 'n = 4\n[[workload]]\nkind = "equal"\nn = 4\nlabel = "one"'
    )
    limits = 'label = "one"\nclocks = "unit"\ntasks = ["simulate"]'
    limited = two.replace('label = "one"', limits)
    cells = read_study(written(tmp_path, limited)).cells
    one = [cell for cell in cells if cell["workload.label"] == "one"]
    assert {(cell["task"], cell["clock"]) for cell in one} == {("simulate", "unit")}
    assert len(one) == 3  # policies
    assert len(cells) == 3 + 2 * 3 + 1
    assert {cell.id for cell in cells} < {c.id for c in read_study(written(tmp_path, two)).cells}
    for name in ("clocks", "tasks"):
        with pytest.raises(FormatError, match=rf"\[\[workload\]\] 2: {name} 'no' is unknown; "):
            read_study(written(tmp_path, two.replace('label = "one"', f'{name} = "no"')))


def test_the_identity_is_what_is_computed_not_where_files_are_or_what_it_is_called():
    fields = {"task": "simulate", "workload": "uniform", "workload.n": 4, "seed": 0}
    assert Cell(fields).id == Cell(dict(reversed(fields.items())), Path("elsewhere")).id
    assert Cell(fields).id == Cell(fields | {"workload.label": "mine"}).id
    assert Cell(fields).id != Cell(fields | {"workload.n": 5}).id


def test_traces_and_instances_are_found_beside_the_file_or_where_traces_are(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_instance(Instance("two", 9, [0, 0], [1, 2], [3, 4]), data / "two.json")
    (data / "t.csv").write_text("num_prefill_tokens,num_decode_tokens\n3,4\n5,6\n")
    text = (
        '[study]\nname = "files"\n[[workload]]\ninstance = "two.json"\npredict = "exact"\n'
        '[[workload]]\ntrace = "t.csv"\nmemory = 50\narrivals = "zero"\n[[policy]]\nkey = "sjf"\n'
    )
    text = text.replace('arrivals = "zero"', 'arrivals = "zero"\npredict = "exact"')
    path = written(tmp_path, text)
    instances = [cell.instance() for cell in read_study(path, traces=data).cells]
    assert [instance.output.tolist() for instance in instances] == [[3, 4], [4, 6]]
    assert all(instance.predicted is not None for instance in instances)
    before = [cell.id for cell in read_study(path, traces=data).cells]
    (data / "t.csv").write_text("num_prefill_tokens,num_decode_tokens\n3,4\n5,7\n")
    after = [cell.id for cell in read_study(path, traces=data).cells]
    assert before[0] == after[0]
    assert before[1] != after[1]
    with pytest.raises(FormatError, match=r"\[\[workload\]\] 1: instance 'two.json': is no"):
        read_study(path)


def test_a_policy_of_ones_own_is_found_beside_the_file(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from ratiolab.online.policies.h_sf import HSF\nclass Mine(HSF):\n    name = 'mine'\n"
    )
    text = SMALL.replace('key = "h-sf"', 'key = "mine.py:Mine"')
    cell = read_study(written(tmp_path, text)).cells[-1]
    assert cell.policy().name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = 3", "seeds = 0", "[study] seeds 0 must be how many, 1 to"),
        ("seeds = 3", "seeds = [1, -1]", "[study] seeds[1] -1 must be at least 0"),
        ("seeds = 3", "seeds = 3\ntasks = []", "[study] tasks [] must have at least 1 item"),
        ("seeds = 3", "seed = 3", "[study] unknown key 'seed'; known are name, tasks"),
        ('name = "small"', 'name = "a/b"', "[study] name 'a/b' must match pattern '^[A-Za-z0-9_-]"),
        ("seeds = 3", 'tasks = "fly"', "[study] tasks 'fly' must be one of simulate"),
        ("seeds = 3", 'preemption = "kill"', "[study] preemption 'kill' must be one of restart"),
        ("seeds = 3", 'clock = "sun"', "[study] clock 'sun' must be unit, llama2"),
        ("seeds = 3", 'clock = "no.csv"', "no.csv: No such file"),
        ('key = "h-sf"', 'key = "h-sf"\npreemption = 1', "[[policy]] 2: preemption 1 must be one"),
        ("seeds = 3", 'preemption = "swap"', "[[policy]] 1: policy a-min: preemption 'swap' must"),
        ("n = [4, 8]", "n = [4, 0]", "[[workload]] 1: n 0 must be between 1 and"),
        ("n = [4, 8]", "n = []", "[[workload]] 1: n [] must have at least one value"),
        ("n = [4, 8]", "n = [[4]]", "[[workload]] 1: n [[4]] must be a number, a string"),
        ("n = [4, 8]", "n = [4, 4]", "stands there twice"),
        ("n = [4, 8]", "n = 4\nm = 5", "[[workload]] 1: unknown setting 'm' for kind 'uniform'"),
        ("n = [4, 8]", 'n = 4\npredict = "x"', "[[workload]] 1: predictions 'x' must be one of"),
        ('kind = "uniform"', "", "[[workload]] 1: must have one of kind, trace, instance"),
        ('kind = "uniform"', 'kind = "u"', "[[workload]] 1: kind 'u' is unknown; did you mean"),
        ('key = "h-sf"', 'key = "hsf"', "[[policy]] 2: policy 'hsf' is unknown"),
        ('key = "h-sf"', "", "[[policy]] 2: key is missing"),
        ('"worst"]', '"w"]', "[[policy]] 1: policy a-min: parameter ties 'w' must be one of"),
        ('key = "h-sf"', 'key = "rr"\nbatch = 2.7', "parameter batch 2.7 must be of type int"),
        ("[quick.workload]", "[options]\nx = 1\n[quick.workload]", "[options] unknown key 'x'"),
        ("n = [4]", "m = [4]", "[quick.workload] m changes nothing: no workload states it"),
        ("[quick]", "[fast]", "unknown key 'fast'; known are study, workload"),
        ("[[policy]]", "[[policy]", "line 8"),
    ],
)
def test_mistakes_name_file_field_value_and_rule(tmp_path, old, new, message):
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new))
    with pytest.raises(FormatError) as error:
        read_study(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


EXPERIMENT = experiments()["exact-ratios"]


def test_rows_of_a_cell_are_exact():
    cell = EXPERIMENT.study(quick=True).cells[0]
    rows = optimum(cell)
    assert [row["policy"] for row in rows] == ["mc-sf", "svf"]
    for row in rows:
        assert row["opt_lower"] == row["opt_upper"] <= row["total_latency"]


def test_a_request_is_held_back_when_it_fits_to_its_end_and_waits():
    two = Instance("two", 5, [0, 0], [1, 1], [2, 3])
    # started together they would hold 3 + 3 at time 2; a round apart 3 + 2
    assert held_back(Schedule.from_starts(two, [0, 1])) == 0
    assert held_back(Schedule.from_starts(two, [0, 2])) == 1 / 2
    roomy = two.replace(memory=9)
    assert held_back(Schedule.from_starts(roomy, [0, 1])) == 1 / 2
