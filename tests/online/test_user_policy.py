"""A policy from a user's file runs under the same barrier, and errors name the file."""

from pathlib import Path

import pytest

from ratiolab.model import Instance
from ratiolab.online import InformationError, make, simulate

OWN = '''
from dataclasses import dataclass
from typing import ClassVar
from ratiolab.online import NEVER, Decision, Information, Policy

@dataclass(frozen=True)
class OneByOne(Policy):
    """One request at a time, the last that came first."""
    reverse: bool = True
    name: ClassVar[str] = "one-by-one"
    source: ClassVar[str] = "mine"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting, rng):
        def decide(view):
            order = sorted(view.waiting, reverse=self.reverse)
            return Decision(admit=() if view.running else order[:1], wake=NEVER)
        return decide

@dataclass(frozen=True)
class Peeks(OneByOne):
    def start(self, setting, rng):
        return lambda view: Decision(admit=[i for i in view.waiting if view.output[i] < 9])

@dataclass(frozen=True)
class Nameless(Policy):
    def start(self, setting, rng):
        return lambda view: Decision()

@dataclass(frozen=True)
class Idle(Policy):
    name = "idle"

@dataclass(frozen=True)
class Misinformed(Nameless):
    name = "misinformed"
    information = "everything"

@dataclass(frozen=True)
class Plain:
    name: ClassVar[str] = "plain"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting, rng):
        return lambda view: Decision()

LEVEL = 3
'''

PAIR = Instance("pair", 6, [0, 0], [1, 1], [2, 4])


@pytest.fixture
def own(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(OWN)
    return str(tmp_path / "mine.py")


def test_it_runs_like_any_other(own: str) -> None:
    run = simulate(PAIR, make(f"{own}:OneByOne"))
    assert run.schedule.starts.tolist() == [4, 0]
    assert run.schedule.total_latency == 10


def test_its_parameters_are_read_by_type(own: str) -> None:
    assert make(f"{own}:OneByOne", {"reverse": "false"}).reverse is False  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="must be of type bool"):
        make(f"{own}:OneByOne", {"reverse": "perhaps"})


def test_the_barrier_holds_for_it(own: str) -> None:
    with pytest.raises(InformationError, match="the output of request 0 is not known now"):
        simulate(PAIR, make(f"{own}:Peeks"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nobody", "has no class 'Nobody'"),
        ("LEVEL", "has no class 'LEVEL'"),
        ("Plain", "Plain must be a subclass of ratiolab.online.Policy"),
        ("Nameless", "has no 'name'"),
        ("Idle", "has no 'start'"),
        ("Misinformed", "information 'everything' must be a member of Information"),
    ],
)
def test_what_is_no_policy_is_named(own: str, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(f"{own}:{name}")


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        make(f"{tmp_path}/none.py:X")
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(ValueError, match="the file fails: ZeroDivisionError"):
        make(f"{tmp_path}/broken.py:X")
