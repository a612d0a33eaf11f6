"""The library of worst instances: complete, within its limits, and at least as bad as it was."""

from fractions import Fraction
from pathlib import Path

import pytest

from ratiolab.adversary.case import Case
from ratiolab.adversary.library import Entry, Target, improve, read, replay, targets
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.online import POLICIES, simulate
from ratiolab.report.worst_cases_page import page

FOLDER = Path(__file__).parents[2] / "instances" / "worst-cases"

AT_LEAST = {
    "mc-sf": Fraction(192, 150),
    "svf-prompts": Fraction(555, 110),
    "sorted-f-prompts": Fraction(185, 115),
    "gba": Fraction(333, 133),
    "gsa": Fraction(724, 129),
    "a-min-worst": 4.12,
    "a-max-worst": 7.18,
    "a-ell-worst": 6.41,
    "fcfs": 4.04,
    "mc-benchmark": 4.7,
    "mc-sf-arrivals": 3.72,
}
"""Ratios of policies without randomness that were known before the library."""

NAMES = [target.name for target in targets()]
BY_NAME = {target.name: target for target in targets()}


def test_every_policy_has_a_target_and_no_name_stands_twice():
    promised = {key for key, policy in POLICIES.items() if policy.reads}
    assert {target.policy for target in targets()} == set(POLICIES) - promised
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_has_an_instance_within_its_limits_that_says_how_to_replay_it(name):
    target, instance = BY_NAME[name], read(BY_NAME[name], FOLDER)
    if instance is None:
        pytest.skip(f"not searched: ratiolab worst-cases --only {name} --evaluations 2000")
    assert target.limits.allow(Case.of_instance(instance))
    assert instance.source == f"{target.command} --start instances/worst-cases/{name}.json"


@pytest.mark.parametrize("name", AT_LEAST)
def test_ratios_are_at_least_those_known_before(name):
    target, instance = BY_NAME[name], read(BY_NAME[name], FOLDER)
    cost = simulate(instance, target.make(), seed=1).total_latency
    assert Fraction(cost, tiny_optimum(instance).latency) >= AT_LEAST[name]


def test_the_library_is_improved_only_by_what_is_worse(tmp_path):
    improve(tmp_path, 60, only=["fcfs"])
    target = Target("fcfs")
    first = replay(target, read(target, tmp_path))
    assert first.confirmed
    told = []
    improve(
        tmp_path, seconds=0.3, only=["fcfs"], tell=lambda name, found: told.append((name, found))
    )
    again = replay(target, read(target, tmp_path))
    assert again.ratio >= first.ratio
    assert told[0][0] == "fcfs"
    assert (told[0][1] is not None) == (again.ratio > first.ratio)


def test_the_page_shows_ratio_bound_and_gap():
    target = Target("mc-sf")
    instance = read(target, FOLDER)
    text = page([Entry(target, instance, (150,), 100, True)], 10)
    row = next(line for line in text.splitlines() if line.startswith("| [mc-sf]"))
    assert "| 1.5000 | 100 |" in row
    assert "proved: `ratiolab bound ours/mc-sf" in row
    assert "1 of 1 optima are confirmed" in text
    constants = text[text.index("## Published constants") :]
    assert "| gsa | 61.92, 32 with large memory" in constants
    assert "Not searched" not in text


def test_the_page_names_what_was_not_searched():
    text = page([], 10, ["svf", "gba-prompts"])
    assert "Not searched: svf, gba-prompts." in text
