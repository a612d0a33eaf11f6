"""The stage of the labelling loop: when it declines, and the turns of the search beside it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from relaxed_schedules import many

from ratiolab.hindsight import search
from ratiolab.hindsight.certificates.certificate import dual_certificate
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.loop import Loop
from ratiolab.hindsight.params import LabellingParams, SolveParams, TurnParams
from ratiolab.hindsight.result import SolveOptions
from ratiolab.hindsight.search import Turns
from ratiolab.hindsight.stages import Labelling
from ratiolab.hindsight.state import Callbacks, SolveState

SILENT = Callbacks(lambda found: None, lambda *shown: None)


def begun(limit: float | None = 600.0, **limits: int) -> SolveState:
    """Return a solve of 40 requests that has duals of cuts."""
    instance = many(40)
    options = SolveOptions("auto", time_limit=limit, threads=1, steps=1)
    state = SolveState(instance, replace(options, **limits))
    state.duals = cut_bound(instance, rounds=1).certificate
    return state


@pytest.mark.parametrize("limits", [{}, {"steps": 0}, {"memory_limit": 4_000}])
def test_the_search_has_turns_unless_it_is_not_wanted_or_memory_is_limited(
    limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []
    monkeypatch.setattr(
        Loop, "run", lambda self: turns.append(isinstance(self.around.search, Turns))
    )
    state = begun(**limits)
    Labelling(part=1.0)(state, SILENT)
    state.helped = True
    Labelling(part=1.0)(state, SILENT)
    assert turns == [not limits, False]


class Clock:
    """Steps of a search that take half a second; the fifth finds a better schedule."""

    def __init__(self, state: SolveState, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.made = 0.0, 0
        self.population = SimpleNamespace(best=9)
        monkeypatch.setattr(SolveState, "seconds", property(lambda _: self.now))
        monkeypatch.setattr(search, "SearchBeside", lambda *given: self)
        self.turns = Turns(state, lambda: False)

    def step(self) -> None:
        self.now, self.made = self.now + 0.5, self.made + 1
        self.population.best = 8 if self.made >= 5 else 9


def test_the_search_has_its_share_of_all_time_and_less_once_it_finds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = begun()
    state.params = SolveParams(turns=TurnParams(share=0.5, share_late=0.1, patience=10))
    clock = Clock(state, monkeypatch)
    clock.now = 8.0
    clock.turns()
    assert clock.made * 0.5 == pytest.approx(0.5 * clock.now, abs=0.5)
    while clock.made <= 2 * 5 + 10:
        clock.now += 1.0
        clock.turns()
    made, spent = clock.made, clock.turns.spent
    clock.now = 10 * spent - 1.0
    clock.turns()
    assert clock.made == made
    clock.now += 5.0
    clock.turns()
    assert clock.made == made + 1


def test_without_a_limit_of_time_turns_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    state = begun(None)
    state.params = SolveParams(turns=TurnParams(turn=10, turn_late=3, patience=10))
    clock, lengths = Clock(state, monkeypatch), []
    for _ in range(4):
        before = clock.made
        clock.turns()
        lengths.append(clock.made - before)
    assert lengths == [10, 10, 3, 3]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"params": SolveParams(labelling=LabellingParams(most_requests=39))}, "more than 39"),
        ({"duals": None}, "no duals of cuts"),
        ({"duals": dual_certificate(many(40), Duals(10**9, (0,) * 9, (), ()), 1)}, "no duals"),
        ({"instance": many(40).replace(memory=128)}, "memory 128 > 127"),
        ({"options": SolveOptions("auto", memory_limit=351)}, "no room for labels"),
    ],
)
def test_the_stage_says_why_it_declines(change: dict[str, object], note: str) -> None:
    state = begun()
    for name, value in change.items():
        setattr(state, name, value)
    assert note in Labelling(part=1.0)(state, SILENT).note
