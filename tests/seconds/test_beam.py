"""The beam in seconds: its totals are the simulator's, and its schedules are good."""

from itertools import count
from time import perf_counter

import numpy as np
import pytest
from batches import drawn_case, least_picoseconds

from ratiolab.model import Instance
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100, BatchTime
from ratiolab.seconds import beam
from ratiolab.seconds.beam import (
    CELLS,
    CHUNK,
    COARSE,
    LARGEST,
    PORTFOLIO,
    beams,
    cells_of,
    guide_of,
    started,
)
from ratiolab.seconds.duals import parts_of
from ratiolab.seconds.order_search import Planned, search_order, timed_of, total_seconds
from ratiolab.workloads.generators import generate

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


def test_no_beam_begins_that_would_not_end_in_time():
    instance = generate("lmsys", 3, n=150, memory=2000, rate=0.3).replace(tick_seconds=0.02)
    timed, began = timed_of(instance, LLAMA2_70B_2XA100), perf_counter()
    beams(instance, LLAMA2_70B_2XA100, timed, lambda: perf_counter() - began, 1.0)
    assert perf_counter() - began < 2, "one is enough, with others at work beside it"


def test_prices_of_many_requests_have_fewer_cells_within_the_same_room():
    few, many = drawn(0), Instance("many", 9, [0] * 40_000, [1] * 40_000, [2] * 40_000)
    assert cells_of(few) == CELLS > cells_of(many) > COARSE
    assert 4 * len(many) * cells_of(many) <= LARGEST


def test_where_time_is_short_a_beam_of_one_state_ends():
    """In a time in which one of three states would not."""
    instance = generate("lmsys", 3, n=2000, memory=2000, rate=0.3).replace(tick_seconds=0.02)
    timed, clock = timed_of(instance, LLAMA2_70B_2XA100), LLAMA2_70B_2XA100
    parts = parts_of(instance, clock, refills=False, groups=1)
    guide = guide_of(instance, clock, parts, PORTFOLIO[0])
    _, _, most = started(timed, guide, PORTFOLIO[0], 3, endless)
    asked = count()
    assert (
        beams(instance, clock, timed, lambda: min(1.0, next(asked) * CHUNK / most), 1.0) is not None
    )


def test_without_time_there_is_no_beam():
    instance, clock = drawn(1), CLOCKS[0]
    assert beams(instance, clock, timed_of(instance, clock), lambda: 1.0, 1.0) is None


def test_beams_of_few_requests_grow_no_wider_than_memory_allows() -> None:
    four = Instance("four", 9, [0, 0, 0, 0], [3, 1, 4, 1], [2, 6, 3, 5])
    timed = timed_of(four, LLAMA2_70B_2XA100)
    assert beams(four, LLAMA2_70B_2XA100, timed, lambda: 0.0, 1.0) is not None


@pytest.mark.parametrize("n", [150, 20_000])
def test_a_beam_asks_for_the_time_after_each_thousand_states_however_many_wait(n):
    """So it ends in time: a thousand states take a moment."""
    instance = generate("lmsys", 3, n=n, memory=2000, rate=20).replace(tick_seconds=0.02)
    clock = LLAMA2_70B_2XA100
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    guide, calls = guide_of(instance, clock, parts, PORTFOLIO[0]), count()
    total, _, states = started(timed, guide, PORTFOLIO[0], 10, lambda: next(calls) / 3)
    assert total == np.inf
    assert next(calls) == 4
    assert 3 * CHUNK <= states < 3 * (CHUNK + 10)


def test_a_log_of_starts_that_is_compacted_tells_the_same_schedule(monkeypatch):
    instance, clock = drawn(1), CLOCKS[0]
    timed, parts = timed_of(instance, clock), parts_of(instance, clock, refills=False, groups=1)
    guide = guide_of(instance, clock, parts, PORTFOLIO[0])
    total, starts, states = started(timed, guide, PORTFOLIO[0], 10, endless)
    assert states > 40 * len(instance)
    monkeypatch.setattr(beam, "CHUNK", 1)
    again = started(timed, guide, PORTFOLIO[0], 10, endless)
    assert (total, states) == (again[0], again[2])
    assert starts.tolist() == again[1].tolist()
