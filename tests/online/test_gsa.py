"""Geometric slices with staggered starts: slots, kills, memory."""

import pytest
from drawn import drawn

from ratiolab.model import Instance
from ratiolab.model.footprint import volume
from ratiolab.online import make, simulate
from ratiolab.online.policies.gsa import GSA
from ratiolab.testing import assert_lawful


def runs_of(instance, policy):
    return [(run.request, run.start, run.stop) for run in simulate(instance, policy).schedule.runs]


def test_slices_double():
    # Slots of 1/4 round each: both start. Request 0 gets 1, 2 and 4 rounds; 3 are enough.
    instance = Instance("two", 4, [0, 0], [0, 0], [3, 1])
    assert runs_of(instance, GSA()) == [(0, 0, 1), (1, 0, 1), (0, 1, 3), (0, 3, 6)]


def test_starts_of_a_phase_are_spaced_so_that_memory_is_full():
    # Phase 0: slots of 1/3 round, from 0 on: three at round 0, the last at round 1, until 4/3.
    # Phase 1: ages 1 and 2 fill M: one a round, from 4/3, 7/3, 10/3 and 13/3 on.
    instance = Instance("equal", 3, [0] * 4, [0] * 4, [2] * 4)
    assert runs_of(instance, GSA()) == [
        (0, 0, 1), (1, 0, 1), (2, 0, 1), (0, 1, 3), (3, 1, 2), (1, 2, 4), (2, 3, 5), (3, 4, 6),
    ]  # fmt: skip


def test_late_arrivals_go_before_those_of_later_phases():
    # At round 1 request 0 is killed and 1 arrives: it goes first, into all 4 tokens, and the slice
    # of 2 rounds waits for it.
    instance = Instance("late", 4, [0, 1], [0, 3], [2, 1])
    assert runs_of(instance, GSA()) == [(0, 0, 1), (1, 1, 2), (0, 2, 4)]


@pytest.mark.parametrize("base", [1.3, 2.0, 5.0])
def test_it_obeys_the_laws_of_a_policy(base):
    for seed in range(25):
        assert_lawful(GSA(base), drawn(seed, most_requests=6), seed)


def test_a_run_lasts_the_slice_of_its_phase_unless_it_ends():
    for seed in range(100):
        instance = drawn(seed)
        runs = list(simulate(instance, GSA()).schedule.runs)
        for i in range(len(instance)):
            most = instance.memory - int(instance.prompt[i])
            lasted = [run.stop - run.start for run in runs if run.request == i]
            slices = [min(2**k, most) for k in range(len(lasted))]
            assert lasted == [*slices[:-1], int(instance.output[i])]


@pytest.mark.long
def test_staggered_starts_come_close_to_what_the_volume_needs_and_common_peaks_do_not():
    """Equal requests without prompt whose length is their last slice.

    A phase of slice c needs n c (c + 1) / 2M rounds at least, n c**2 / M if all peak together.
    """
    memory, length, n = 640, 64, 4000
    instance = Instance("equal", memory, [0] * n, [0] * n, [length] * n)
    staggered = simulate(instance, GSA()).schedule.makespan
    together = simulate(
        instance.replace(lower=[1] * n), make("kill-restart", {"base": 2, "offset": "none"})
    ).schedule.makespan
    slices = [2**k for k in range(7)]
    least = sum(n * volume(0, c) for c in slices) / memory
    assert least <= staggered <= 1.15 * least  # whole rounds cost an eighth
    assert together >= sum(n * c * c for c in slices) / memory
    assert together > 1.7 * staggered


@pytest.mark.parametrize("base", [1.0, float("nan"), float("inf")])
def test_a_base_that_does_not_grow_is_refused(base):
    with pytest.raises(ValueError, match="base"):
        GSA(base)


def test_it_is_asked_at_events_not_for_tokens():
    instance = Instance("long", 400_000, [0, 5, 9], [7] * 3, [100_000, 200_000, 300_000])
    assert simulate(instance, GSA()).decisions <= 6 * 20  # a start and a kill for 20 slices
