"""A policy from a user's file runs under the same barrier, and errors name the file."""

import json
import subprocess

import pytest
from command_line import COMMAND, run

from ratiolab.model import Instance, write_instance
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

RUDE = """
import os, sys
from ratiolab.online import Decision, Policy

class Own(BaseException): pass

class Rude(Policy):
    name = "rude"
    def start(self, setting, rng):
        def decide(view):
            self.say()
            return Decision(sorted(view.waiting)[:1] if not view.running else [])
        return decide
    def say(self): raise SystemExit(7)

class Generator(Rude):
    def say(self): raise GeneratorExit("boo")

class OwnError(Rude):
    def say(self): raise Own("boo")

class AtStart(Rude):
    def start(self, setting, rng): sys.exit(7)

class AtInit(Rude):
    def __init__(self): sys.exit(7)

class Property(Rude):
    @property
    def ties(self): sys.exit(7)

class Loud(Rude):
    def say(self):
        print("from print")
        os.write(1, b"from a descriptor\\n")
"""


@pytest.fixture
def rude(tmp_path):
    write_instance(PAIR, tmp_path / "pair.json")
    (tmp_path / "rude.py").write_text(RUDE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("Rude", 14, "SystemExit: 7"),
        ("Generator", 17, "GeneratorExit: boo"),
        ("OwnError", 20, "Own: boo"),
        ("AtStart", 23, "SystemExit: 7"),
        ("AtInit", 26, "SystemExit: 7"),
        ("Property", 30, "SystemExit: 7"),
    ],
)
def test_whatever_a_policy_raises_is_one_line_and_a_code_of_its_own(rude, capsys, name, line, what):
    key = f"{rude / 'rude.py'}:{name}"
    code, out, err = run(capsys, "simulate", rude / "pair.json", "--policy", key)
    assert (code, out) == (1, "")
    assert err == f"ratiolab: {rude / 'rude.py'}, line {line}: {what}\n"


@pytest.mark.long
def test_what_a_policy_raises_in_another_process_is_one_line_too(rude):
    for name, what in (("Rude", "SystemExit: 7"), ("OwnError", "Own: boo")):
        key = f"fcfs,{rude / 'rude.py'}:{name}"
        words = ["compare", str(rude / "pair.json"), "--policies", key, "--workers", "2"]
        found = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
        assert found.returncode == 1
        assert found.stderr.endswith(f": {what}\n")
        assert len(found.stderr.splitlines()) == 1


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_policy_prints_stays_out_of_the_json(rude, workers):
    key = f"fcfs,{rude / 'rude.py'}:Loud"
    words = ["compare", str(rude / "pair.json"), "--policies", key, "--workers", str(workers)]
    found = subprocess.run([*COMMAND, *words, "--json"], capture_output=True, text=True, check=True)
    assert len(json.loads(found.stdout)["policies"]) == 2
    assert "from print" in found.stderr
    assert "from a descriptor" in found.stderr


def test_what_a_policy_prints_stays_out_of_the_json_of_this_process(rude, capsys):
    key = f"{rude / 'rude.py'}:Loud"
    code, out, err = run(capsys, "simulate", rude / "pair.json", "--policy", key, "--json")
    assert code == 0
    assert json.loads(out)["runs"]
    assert "from print" in err


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    return str(tmp_path / "mine.py")


def test_it_runs_like_any_other(own):
    run = simulate(PAIR, make(f"{own}:OneByOne"))
    assert run.schedule.starts.tolist() == [4, 0]
    assert run.schedule.total_latency == 10


def test_its_parameters_are_read_by_type(own):
    assert make(f"{own}:OneByOne", {"reverse": "false"}).reverse is False
    with pytest.raises(ValueError, match="must be of type bool"):
        make(f"{own}:OneByOne", {"reverse": "perhaps"})


def test_the_barrier_holds_for_it(own):
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
def test_what_is_no_policy_is_named(own, name, message):
    with pytest.raises(ValueError, match=message):
        make(f"{own}:{name}")


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        make(f"{tmp_path}/none.py:X")
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(ValueError, match="the file fails: ZeroDivisionError"):
        make(f"{tmp_path}/broken.py:X")
