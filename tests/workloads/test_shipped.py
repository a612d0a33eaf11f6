"""The instance files of the repository: what they say they are, and worth solving."""

from pathlib import Path

import pytest
from regenerate import regenerate

from ratiolab.model import Schedule, read_instance, violations
from ratiolab.workloads.generators import KINDS

FOLDER = Path(__file__).parents[2] / "instances"
SMALL = sorted((FOLDER / "small").glob("*.json"))


def test_there_is_one_small_file_for_each_kind():
    assert {path.stem for path in SMALL} == set(KINDS)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_the_source_of_a_small_file_regenerates_it(path):
    instance = read_instance(path)
    assert regenerate(instance.source) == instance


def test_the_commands_of_the_readme_regenerate_the_small_files():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    commands = [line for line in readme.splitlines() if line.startswith("ratiolab generate")]
    written = dict(reversed(line.split(" -o instances/")) for line in commands)
    assert set(written) == {f"small/{path.name}" for path in SMALL}
    for name, command in written.items():
        assert regenerate(command) == read_instance(FOLDER / name)


def test_the_examples_of_chen_et_al_are_as_printed():
    one = read_instance(FOLDER / "chen2025" / "example-1.json")
    assert (one.memory, list(one.requests)) == (10, [(0, 1, 1)] * 5)
    assert (one.lower.tolist(), one.upper.tolist()) == ([1] * 5, [4] * 5)
    assert Schedule.from_starts(one, [0] * 5).total_latency == 5
    # A_max packs floor(10 / (1 + 4)) = 2 at a time
    assert Schedule.from_starts(one, [0, 0, 1, 1, 2]).total_latency == 9
    ec1 = read_instance(FOLDER / "chen2025" / "example-ec1.json")
    assert (ec1.memory, list(ec1.requests)) == (7, [(0, 1, o) for o in (1, 2, 3, 4)])
    assert not violations(Schedule.from_starts(ec1, [0, 0, 0, 2]))
