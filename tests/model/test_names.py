"""Names that nothing has, streams of random numbers, and Ctrl-C in compiled code."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from command_line import run

import ratiolab
from ratiolab.model.interrupts import heard
from ratiolab.model.names import nearest
from ratiolab.model.streams import Purpose, stream
from ratiolab.online import POLICIES

MINE = ratiolab.Instance("mine", 6, [0, 0], [1, 1], [2, 4])


def test_a_name_spelled_in_another_way_is_alone_the_nearest():
    assert nearest("MC_SF", POLICIES) == ["mc-sf"]
    assert nearest("volume restart", POLICIES) == ["volume-restart"]


@pytest.mark.parametrize(
    ("words", "meant", "listing"),
    [
        ("simulate {} --policy mc_sf", "mc-sf", "ratiolab policies"),
        ("compare {} --policies fcfs,srptt", "srpt", "ratiolab policies"),
        ("generate unifrm", "uniform", "ratiolab generate"),
        ("reproduce chen25", "chen2025", "ratiolab reproduce"),
        ("schema instanse", "instance", "ratiolab lab schema"),
        ("bound chen2025/theorem7", "chen2025/theorem-7", "ratiolab bound"),
        ("claims --paper chen", "chen2025", "ratiolab claims --list"),
        ("claims chen2025/theorem_4", "chen2025/theorem-4", "ratiolab claims --list"),
    ],
)
def test_every_command_names_what_may_be_meant(words, meant, listing, capsys, tmp_path):
    file = tmp_path / "mine.json"
    ratiolab.write_instance(MINE, file)
    code, out, err = run(capsys, *words.format(file).split())
    assert (code, out) == (2, "")
    assert meant in err.split("did you mean ")[1].split("?")[0].replace(" or ", ", ").split(", ")
    assert f"`{listing}`" in err


def test_keys_and_files_are_taken_where_policies_and_instances_are(tmp_path):
    file = tmp_path / "mine.json"
    ratiolab.write_instance(MINE, file)
    assert (
        ratiolab.solve(file).upper == ratiolab.solve(str(file)).upper == ratiolab.solve(MINE).upper
    )
    assert ratiolab.bracket(str(file)).upper >= ratiolab.solve(MINE).upper
    assert ratiolab.simulate(file, "fcfs").total_latency == 6
    compared = ratiolab.compare(str(file), ["fcfs", ratiolab.make_policy("mc-sf")], runs=1)
    assert {row.policy.name for row in compared.rows} == {"fcfs", "mc-sf"}
    judged = ratiolab.evaluate(file, ["svf"], preemption="restart", runs=1, load=False)
    assert [row.name for row in judged.rows] == ["fcfs", "svf"]


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: ratiolab.solve(3), "must be an Instance, or the path of its file"),
        (lambda: ratiolab.compare(MINE, ["mc_sf"]), "did you mean mc-sf"),
        (lambda: ratiolab.compare(MINE, [3]), "must be a key"),
        (lambda: ratiolab.simulate(MINE, None), "make_policy"),
        (lambda: ratiolab.certify("proof.json", MINE), "read_certificate reads its file"),
    ],
)
def test_what_is_neither_is_refused_with_the_way_to_make_one(call, rule):
    with pytest.raises(ValueError, match=rule):
        call()


PURPOSES = get_args(Purpose)
CODE = Path(__file__).parents[2] / "ratiolab"


def test_streams_of_different_purposes_seeds_and_numbers_differ():
    given = [
        (seed, purpose, *which)
        for seed in (0, 1)
        for purpose in PURPOSES
        for which in ((), (0,), (1,))
    ]
    drawn = {tuple(stream(*each).integers(2**62, size=2).tolist()) for each in given}
    assert len(drawn) == len(given)


def test_what_a_purpose_draws_is_pinned():
    """It depends on its own word alone, so a new purpose changes none of these."""
    drawn = {purpose: int(stream(7, purpose).integers(1000)) for purpose in PINNED}
    assert drawn == PINNED
    assert int(stream(7, "instance").integers(1000)) == int(np.random.default_rng(7).integers(1000))


PINNED = {"instance": 944, "predictions": 342}


@pytest.mark.parametrize(
    ("given", "rule"),
    [((0, "weather"), "unknown"), ((-1, "ties"), "at least"), ((0, "ties", -1), "at least")],
)
def test_no_stream_without_a_known_purpose_and_a_seed(given, rule):
    with pytest.raises(ValueError, match=rule):
        stream(*given)


MAKES = re.compile(
    r"default_rng|RandomState|np\.random\.(seed|rand|random|normal|integers)\b|import random\b"
)
TESTS = Path(__file__).resolve().parents[1]


def test_nothing_else_makes_a_generator():
    """Neither the package, nor benchmarks, nor what several tests draw their cases with."""
    folders = CODE, TESTS / "benchmarks", TESTS / "common"
    found = [
        path.name
        for folder in folders
        for path in folder.rglob("*.py")
        if MAKES.search(path.read_text("utf-8"))
    ]
    assert found == ["streams.py"]


def fail(cause: BaseException | None) -> None:
    raise SystemError("returned a result with an exception set") from cause


def test_ctrl_c_behind_an_error_of_the_interpreter_is_raised_as_such():
    with pytest.raises(KeyboardInterrupt), heard():
        fail(KeyboardInterrupt())


@pytest.mark.parametrize("cause", [None, ValueError("other")])
def test_other_errors_of_the_interpreter_pass(cause):
    with pytest.raises(SystemError), heard():
        fail(cause)
