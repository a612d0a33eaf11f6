"""The forecast answers as a literal search over rounds does."""

import numpy as np
import pytest

from ratiolab.model.footprint import held
from ratiolab.online.forecast import Forecast
from ratiolab.online.view import NEVER


def literally_fits(memory, running, prompt, length, now):
    """(5), at every round; who has outlived its believed end at `now` ends in the next round."""
    for time in range(now + 1, now + length + 1):
        tokens = held(prompt, time - now)
        for other_prompt, start, believed in running:
            if time <= max(start + believed, now + 1):
                tokens += held(other_prompt, time - start)
        if tokens > memory:
            return False
    return True


def literal_earliest(memory, running, prompt, length, now):
    """The first fitting round before the next believed end; who would run on is kept running."""
    ends = [start + believed for _, start, believed in running if start + believed > now]
    horizon = min(ends, default=now + memory + 1)
    for start in range(now, horizon):
        if literally_fits(memory, running, prompt, length, start):
            return start
    return None


def random_state(seed):
    """Requests come and go in a forecast and, beside it, in a list."""
    rng = np.random.default_rng(seed)
    memory = int(rng.integers(6, 60))
    forecast, running, now = Forecast(memory), {}, int(rng.integers(0, 5))
    for request in range(int(rng.integers(1, 14))):
        if running and rng.random() < 0.4:
            gone = int(rng.choice(list(running)))
            forecast.remove(gone)
            del running[gone]
        prompt, length = int(rng.integers(0, 5)), int(rng.integers(1, 9))
        entries = [(*entry,) for entry in running.values()]
        used = sum(held(p, now + 1 - start) for p, start, _ in entries)
        if used + held(prompt, 1) <= memory:
            forecast.add(request, prompt, now, length)
            running[request] = (prompt, now, length)
        assert (len(forecast), request in forecast) == (len(running), request in running)
        now += int(rng.integers(0, 3))
        while sum(held(p, now + 1 - start) for p, start, _ in running.values()) > memory:
            gone = next(iter(running))
            forecast.remove(gone)
            del running[gone]
    return memory, forecast, list(running.values()), now, rng


@pytest.mark.parametrize("block", range(10))
def test_earliest_is_the_first_round_of_a_literal_search(block):
    kinds = {"now": 0, "later": 0, "ask again": 0, "never": 0}
    for seed in range(60 * block, 60 * block + 60):
        memory, forecast, running, now, rng = random_state(seed)
        ends = [start + believed for _, start, believed in running if start + believed > now]
        assert forecast.tokens_next(now) == sum(held(p, now + 1 - k) for p, k, _ in running)
        assert not forecast.overflows(now)
        for _ in range(8):
            prompt = int(rng.integers(0, 6))
            length = int(rng.integers(1, memory + 2))  # some would not fit alone
            answer = forecast.earliest(prompt, length, now)
            expected = literal_earliest(memory, running, prompt, length, now)
            assert forecast.fits(prompt, length, now) == (expected == now)
            if expected is not None:
                assert answer == expected
                kinds["now" if expected == now else "later"] += 1
            elif answer == NEVER:
                kinds["never"] += 1
                later = range(now, now + 3 * memory)
                assert not any(literally_fits(memory, running, prompt, length, k) for k in later)
            else:
                assert answer == min(ends)
                kinds["ask again"] += 1
    assert min(kinds.values()) > 0, kinds


def test_an_outlived_request_counts_in_the_next_round_only():
    # Two tokens at round 2 by the outlived one, and one by the newcomer: 3 fit, 2 do not. At
    # round 3 it is believed gone, so that the newcomer's two are alone.
    for memory, fits in ((3, True), (2, False)):
        forecast = Forecast(memory)
        forecast.add(0, 0, 0, 1)
        assert forecast.fits(0, 2, 1) is fits


def test_what_does_not_fit_alone_never_fits():
    forecast = Forecast(5)
    assert forecast.earliest(1, 4, now=7) == 7
    assert forecast.earliest(1, 5, now=7) == NEVER
