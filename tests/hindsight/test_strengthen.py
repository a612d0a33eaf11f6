"""Fixing and cuts leave every schedule that is as good as the known one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import least_latency, optimal_schedule

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.cuts.strengthen import strengthen
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.params import ProgramParams, SolveParams
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.hindsight.schedules.heuristics import best_list_schedule
from ratiolab.model import Instance, violations
from ratiolab.testing import instances

NOT_EASY = SolveParams(program=ProgramParams(easy_entries=0))
"""No program is tried before cuts."""


def satisfied(program: object, counts: np.ndarray) -> bool:
    """Rows and column bounds, literally."""
    p = program
    activity = np.zeros(p.shape[0], np.int64)  # type: ignore[attr-defined]
    for j in np.flatnonzero(counts):
        for e in range(p.indptr[j], p.indptr[j + 1]):  # type: ignore[attr-defined]
            activity[p.indices[e]] += p.values[e] * counts[j]  # type: ignore[attr-defined]
    return bool(
        (activity >= p.row_lower).all()  # type: ignore[attr-defined]
        and (activity <= p.row_upper).all()  # type: ignore[attr-defined]
        and (counts <= p.upper).all()  # type: ignore[attr-defined]
    )


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@given(
    instances(max_requests=4, max_memory=9, predictions=False),
    st.integers(0, 6),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_the_optimum_and_the_known_schedule_stay_solutions(
    instance: Instance, rounds: int, price_horizon: int, horizon: int
) -> None:
    known = best_list_schedule(instance)
    proof = cut_bound(instance, horizon=price_horizon, rounds=rounds).certificate
    program = build(instance, last_starts(instance, known.total_latency), horizon)
    strong = strengthen(program, proof, known.total_latency)
    assert (strong.upper <= program.upper).all()
    for schedule in (known, optimal_schedule(instance)):
        assert satisfied(strong, strong.counts(schedule.starts))


@settings(max_examples=150, deadline=None)
@given(instances(max_requests=5, max_memory=10, predictions=False))
def test_cuts_and_program_reach_the_optimum_of_optimum(instance: Instance) -> None:
    result = solve(instance, steps=0, params=NOT_EASY)
    assert result.status == "optimal"
    assert result.upper == least_latency(instance)
    assert violations(result.schedule) == []
    assert certify(result.certificate, instance) == result.certificate.bound <= result.lower


def test_cuts_alone_give_a_certified_interval() -> None:
    instance = Instance("twelve", 20, [0] * 8, [2] * 8, [3, 4, 6, 7, 9, 11, 13, 15])
    result = solve(instance, method="cuts")
    assert result.lower_source == "configuration cuts"
    assert result.lower == certify(result.certificate, instance) <= result.upper
    assert result.is_exact or result.note.startswith("cuts ended")
    plain = solve(instance, method="ip")
    assert plain.is_exact
    assert result.lower <= plain.upper <= result.upper


@pytest.mark.long
def test_stronger_rows_and_fewer_columns_are_what_it_is_for() -> None:
    instance = Instance("twelve", 20, [0] * 8, [2] * 8, [3, 4, 6, 7, 9, 11, 13, 15])
    known = solve(instance).schedule
    proof = cut_bound(instance, horizon=known.makespan, rounds=12).certificate
    program = build(instance, last_starts(instance, known.total_latency), known.makespan)
    strong = strengthen(program, proof, known.total_latency)
    assert strong.shape[0] > program.shape[0]
    assert strong.upper.sum() < program.upper.sum() / 2


def test_methods_are_named() -> None:
    with pytest.raises(ValueError, match="'magic' must be one of auto, ip, cuts, dp, brute"):
        solve(Instance("one", 3, [0], [1], [1]), method="magic")


TWELVE = Instance("", 30, [0] * 12, [2] * 12, [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 20])


def test_ctrl_c_in_the_search_for_cuts_keeps_the_bound_and_its_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ratiolab.hindsight.cuts.master import Master

    genuine, calls = Master.solve, []

    def interrupted(self: Master, limit: float | None) -> bool:
        calls.append(self.lower)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return genuine(self, limit)

    monkeypatch.setattr(Master, "solve", interrupted)
    result = solve(TWELVE, steps=0, params=NOT_EASY)
    assert len(calls) == 3
    assert result.note == "Ctrl-C in stage cuts"
    assert result.lower == calls[-1] == certify(result.certificate, TWELVE) <= result.upper


@pytest.mark.long
def test_ctrl_c_in_the_easy_program_is_not_followed_by_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    from ratiolab.hindsight.programs import highs

    genuine = highs.solve_program

    def interrupted(*arguments: object, **named: object) -> highs.ProgramResult:
        outcome = genuine(*arguments, **named)  # type: ignore[arg-type]
        return replace(outcome, optimal=False, interrupted=True, lower=None)

    monkeypatch.setattr(highs, "solve_program", interrupted)
    easy = SolveParams(program=ProgramParams(easy_entries=10**9))
    result = solve(TWELVE, steps=0, node_limit=1000, params=easy)
    assert result.note == "Ctrl-C in stage easy program"
    assert result.stages[-1].name == "easy program"
