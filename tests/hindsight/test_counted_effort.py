"""Without a time limit a solve counts its effort: what it finds does not depend on any clock."""

import pytest
from clock import let_readings_take

from ratiolab.hindsight import solve
from ratiolab.workloads.generators import generate

KINDS = [("jaillet-model-1", {"n_least": 12, "n_most": 12}), ("uniform", {"n": 450, "memory": 60})]
LONG = [("jaillet-model-1", {"n_least": 17, "n_most": 17}), ("uniform", {"n": 900, "memory": 200})]


def answers(kind, settings, monkeypatch):
    """Return what a solve finds under a clock that stands nearly still, and one that races."""
    instance = generate(kind, 3, None, **settings)
    for seconds_a_reading in (1e-9, 1e4):
        with monkeypatch.context() as patched:
            let_readings_take(seconds_a_reading, patched)
            found = solve(instance)
        stages = [(s.name, s.lower, s.upper, s.nodes, s.note) for s in found.stages]
        yield found.lower, found.upper, found.schedule.starts.tolist(), stages


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_solve_without_a_limit_finds_the_same_however_fast_the_clock(kind, settings, monkeypatch):
    slow, fast = answers(kind, settings, monkeypatch)
    assert slow == fast


@pytest.mark.long
@pytest.mark.parametrize(("kind", "settings"), LONG)
def test_a_longer_solve_without_a_limit_does_not_read_the_clock(kind, settings, monkeypatch):
    slow, fast = answers(kind, settings, monkeypatch)
    assert slow == fast
