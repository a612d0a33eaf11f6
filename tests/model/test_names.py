"""A name that nothing has is answered by the nearest ones and the command that lists all."""

import pytest
from command_line import run

import ratiolab
from ratiolab.model.names import nearest, unknown
from ratiolab.online import POLICIES

MINE = ratiolab.Instance("mine", 6, [0, 0], [1, 1], [2, 4])


def test_a_name_spelled_in_another_way_is_alone_the_nearest():
    assert nearest("MC_SF", POLICIES) == ["mc-sf"]
    assert nearest("volume restart", POLICIES) == ["volume-restart"]


@pytest.mark.parametrize(("typed", "meant"), [("vllm", "vllm-fcfs"), ("restart", "kill-restart")])
def test_a_part_of_a_name_is_near_to_it(typed, meant):
    assert meant in nearest(typed, POLICIES)


def test_few_names_are_all_told_and_of_many_the_three_nearest():
    assert unknown("kind", "x", ["a", "b"]) == "kind 'x' is unknown; known are a, b"
    assert unknown("kind", "x", []) == "kind 'x' is unknown"
    told = unknown("policy", "sarathy", POLICIES, "ratiolab policies")
    assert "sarathi" in told
    assert len(told) < 120


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
