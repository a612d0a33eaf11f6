"""The beam in seconds: its totals are the simulator's, and its schedules are good."""

import numpy as np
import pytest
from batches import drawn_case, least_picoseconds

from ratiolab.model import Instance
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.seconds.beam import (
    PORTFOLIO,
    guide_of,
    started,
)
from ratiolab.seconds.duals import parts_of
from ratiolab.seconds.order_search import Planned, search_order, timed_of, total_seconds

CLOCKS = (
    BatchTime(fixed=0.02, prefill=0.001, decode=0.0005, tick=0.05),
    BatchTime(fixed=0.02, prefill=0.001, decode=0.0005, kv=0.0001, tick=0.4),
    BatchTime(fixed=1, tick=1),
)


def endless() -> float:
    """Return that no time is used."""
    return 0.0


def drawn(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(2, 90)), int(rng.integers(20, 100))
    prompt, output = rng.integers(1, memory // 2, (2, n))
    return Instance("drawn", memory, np.sort(rng.integers(0, 60, n)), prompt, output)


@pytest.mark.parametrize("seed", range(24))
def test_the_simulator_confirms_the_schedule_of_a_beam(seed):
    instance, clock = drawn(seed), CLOCKS[seed % len(CLOCKS)]
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    setting = PORTFOLIO[seed % len(PORTFOLIO)]
    guide = guide_of(instance, clock, parts, setting)
    total, starts, _ = started(timed, guide, setting, 10, endless)
    run = simulate(instance, Planned(tuple(starts.tolist())), clock=clock)
    found = (total - timed.due.sum(dtype=float)) / PICOSECONDS
    assert total_seconds(run) == pytest.approx(found, rel=1e-9)


def beamed(instance: Instance, clock: BatchTime, states: int, settings: int) -> float:
    """The least total latency of beams with the first settings, seconds."""
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    totals = [
        started(timed, guide_of(instance, clock, parts, setting), setting, states, endless)[0]
        for setting in PORTFOLIO[:settings]
    ]
    return (min(totals) - timed.due.sum(dtype=float)) / PICOSECONDS


def test_wide_beams_find_the_best_schedules_of_a_few_requests():
    """But for those that let a request wait that fits."""
    best, found = 0, 0.0
    for seed in range(40):
        instance, clock = drawn_case(seed)
        best += least_picoseconds(instance, clock, evictions=False)
        found += beamed(instance, clock, 100, 4)
    assert best / PICOSECONDS - 1e-6 <= found <= 1.02 * best / PICOSECONDS


def test_beams_are_better_than_the_policies_that_a_search_begins_with():
    shares = []
    for seed in range(12):
        instance, clock = drawn(seed), CLOCKS[seed % len(CLOCKS)]
        keys = ("swf", "swf-fit")
        policies = [total_seconds(simulate(instance, make(key), clock=clock)) for key in keys]
        shares.append(beamed(instance, clock, 30, 4) / min(policies))
        assert total_seconds(search_order(instance, clock, 0.5)) <= min(policies)
    assert np.mean(shares) < 0.96
