"""A certificate proves what is said beside it, or the words say what it does not prove."""

from dataclasses import replace

import pytest

from ratiolab.hindsight import certified, solve, solve_promises
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.model import Instance

# HiGHS proves it at the root; the bounds before it are below
EQUAL = Instance("equal", 7, [0] * 8, [1] * 8, [3] * 8)


def test_what_rests_on_a_solver_is_said_beside_what_the_certificate_proves():
    found = solve(EQUAL)
    assert (found.lower, found.lower_source) == (64, "HiGHS")
    assert found.certified == 52
    assert found.headline == (
        "optimum 64 (proved: HiGHS; certificate proves >= 52, 64 rests on HiGHS)"
    )
    assert "; certificate" not in solve(EQUAL, method="certified").headline


@pytest.mark.parametrize(("objective", "sign"), [("weighted", ">="), ("goodput", "<=")])
def test_what_rests_on_a_solver_is_said_of_promises_too(objective, sign):
    found = solve_promises(EQUAL.replace(deadline=[6] * 8), objective)
    weaker = replace(found, source="HiGHS", certificate=replace(found.certificate, bound=7))
    bound = found.upper if objective == "goodput" else found.lower
    assert f"; certificate proves {sign} 7, {bound} rests on HiGHS" in weaker.headline
    whole = replace(weaker, certificate=replace(found.certificate, bound=bound))
    assert "rests on" not in whole.headline


@pytest.mark.parametrize("method", ["auto", "ip"])
def test_a_certificate_is_found_for_what_only_a_solver_has_proved(method):
    found = solve(EQUAL, method=method)
    proven = certified(found)
    assert found.certified < proven.certified == proven.lower == 64
    assert certify(proven.certificate, EQUAL) == 64
    assert proven.is_exact
    assert proven.stages[: len(found.stages)] == found.stages
    assert certified(proven) is proven


def test_nothing_is_tried_again_after_ctrl_c_or_without_time():
    found = solve(EQUAL)
    stopped = replace(found, interrupted=True)
    assert certified(stopped) is stopped
    spent = replace(found, seconds=9.0, options=replace(found.options, time_limit=5.0))
    assert certified(spent) is spent
