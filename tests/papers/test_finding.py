"""Rules that judge findings: each on both sides of its limit, and the words of a finding."""

import pytest

from ratiolab.papers.finding import (
    Finding,
    above,
    alike,
    at_least,
    at_most,
    below,
    between,
    every,
    findings_table,
    higher,
    in_settings,
    inside,
    largest,
    least,
    lower,
    named,
    near,
    same_factor,
    within,
)
from ratiolab.papers.runs import Ratio

CASES = [
    (at_most(2), [1, 2], [1, 2.1], None),
    (at_least(2), {"a": 2, "b": 3}, {"a": 1.9, "b": 3}, None),
    (below(2), 1.9, 2, None),
    (above(2), 2.1, 2, None),
    (between(0.4, 0.6), (0.4, 0.6), (0.4, 0.7), None),
    (within(2), 18, 18.1, 9),
    (near(0.5), [15, 5], [15, 4], 10),
    (alike(0.02), Ratio(1.015, 1.01, 1.02), Ratio(0.97, 0.96, 0.975), None),
    (inside(0, 1.05), [Ratio(1.01, 1, 1.05)], [Ratio(1, 1, 1), Ratio(1.2, 1.06, 1.3)], None),
    (lower(), Ratio(0.8, 0.7, 0.9), Ratio(1.1, 1.01, 1.2), None),
    (higher(), [Ratio(1.2, 1.1, 1.3)], [Ratio(1.2, 1.1, 1.3), Ratio(0.8, 0.7, 0.9)], None),
    (largest("a"), {"a": 2, "b": 1}, {"a": 1, "b": 2}, None),
    (least("a"), {"a": 1, "b": 2}, {"a": 2, "b": 1}, None),
    (every(bool), [True], [True, False], None),
    (same_factor(0.25, 0.05), Ratio(2.4, 2.25, 3), Ratio(2.1, 2, 2.2), 3),
    (same_factor(0.25, 0.05), Ratio(1.03, 1, 1.04), Ratio(1.06, 1.051, 1.1), 1.04),
]


@pytest.mark.parametrize(("rule", "fits", "fails", "paper"), CASES)
def test_a_rule_holds_up_to_its_limit(rule, fits, fails, paper):
    assert rule.holds(fits, paper) is True
    assert rule.holds(fails, paper) is False


@pytest.mark.parametrize(
    ("rule", "ours", "paper"),
    [
        (lower(), [Ratio(0.8, 0.7, 0.9), Ratio(0.9, 0.8, 1.0)], None),
        (higher(), Ratio(1.2, 1.0, 1.3), None),
        (alike(0.02), Ratio(1.015, 0.9, 1.1), None),
        (same_factor(0.25, 0.05), Ratio(2.4, 2, 3), 3),
        (same_factor(0.25, 0.05), Ratio(1.1, 0.9, 1.4), 1.2),
        (lower(), Ratio(0.8, float("nan"), float("nan")), None),
        (alike(0.02), Ratio(1.0, float("nan"), float("nan")), None),
    ],
)
def test_an_interval_that_crosses_the_limit_decides_nothing(rule, ours, paper):
    assert rule.holds(ours, paper) is None


@pytest.mark.parametrize(
    ("ours", "why"),
    [
        (Ratio(2, 1.5, 2.5), "same side of 1, other size"),
        (Ratio(0.8, 0.7, 0.9), "on the other side of 1"),
        (Ratio(1.2, 0.9, 1.4), "no difference beyond the interval"),
    ],
)
def test_a_factor_that_differs_says_how(ours, why):
    finding = Finding("s", 4.0, ours, same_factor(0.25, 0.05))
    assert finding.cells() == ("s", "4.00", str(ours), "not reproduced", why)
    assert Finding("s", 4.0, ours, finding.rule, otherwise="mine").cells()[-1] == "mine"


def test_findings_say_what_was_found_and_nothing_when_they_are_not_judged():
    findings = [Finding("a|b", "1", "2", verdict) for verdict in (True, False, None)]
    lines = findings_table(findings).splitlines()
    words = ["holds", "not reproduced", "undecided"]
    assert [line.split(" | ")[3] for line in lines[2:]] == words
    assert not any(word in findings_table(findings, judged=False) for word in (*words, "verdict"))
    assert lines[2].startswith("| a\\|b | 1 | 2 |")


def test_words_of_a_finding_depend_on_its_verdict():
    yes, no = (
        Finding("s", 9, ours, within(2, "{:.1f}"), "always", otherwise="if not; ")
        for ours in (10, 30)
    )
    assert yes.cells() == ("s", "9", "10.0", "holds", "always")
    assert no.cells() == ("s", "9", "30.0", "not reproduced", "if not; always")
    assert Finding("s", "9", 10, at_most(1), said="so").cells()[2] == "so"
    assert named({"a": 1.0, "b": 2.5}, "{:.1f}") == "a 1.0, b 2.5"


def test_a_statement_that_settings_disagree_on_is_undecided_and_says_where():
    below, above, across = Ratio(0.8, 0.7, 0.9), Ratio(1.2, 1.1, 1.3), Ratio(1, 0.9, 1.1)

    def found(one: Ratio, other: Ratio) -> Finding:
        return in_settings("x", "lower", {"a": one, "b": other}, lower())

    assert found(below, below).verdict == "holds"
    assert found(above, across).verdict == "not reproduced"
    assert found(below, above).verdict == "undecided"
    assert found(below, above).cells()[-1] == "holds: a; fails: b"
    assert found(across, across).cells()[2:] == (
        "1.00 (0.90 to 1.10); 1.00 (0.90 to 1.10)",
        "undecided",
        "the intervals cross the limit",
    )
