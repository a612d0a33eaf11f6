"""Costs of windows: right on tiny instances, whatever is left out, and a help to the layers."""

import numpy as np
import pytest
from test_pruning_rules import one_worse, optimum, random_prices
from tiny_instances import tiny
from window_ways import Ways

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certificate import WindowCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.prices import Prices
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.layers import walk, window_kernels, windows
from ratiolab.hindsight.layers.beam import beam
from ratiolab.model import Instance, Schedule

EVERY = tuple(part / 8 for part in range(8, -1, -1))


@pytest.fixture(autouse=True)
def windows_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "PARTS", EVERY)


def passed(instance: Instance, prices: Prices, best: Schedule, width: int) -> windows.Pass:
    return windows.window_pass(instance, prices, best.total_latency + 1, width=width)


def test_costs_are_the_least_over_all_ways() -> None:
    """Two codes that share only prices: this one walks, that one tries everything."""
    compared = positive = 0
    for seed in range(160):
        instance = tiny(seed, most=3, longest=3)
        prices = random_prices(instance, seed)
        found = passed(instance, prices, optimum(instance), 10_000)
        assert found.exact
        ways = Ways(instance, prices)
        ceiling = optimum(instance).total_latency * prices.denominator - ways.value
        for time, cost in found.windows.proven:
            assert cost == min(ways.least(time), ceiling + 1)  # more is not of interest
            compared += 1
            positive += cost > 0
    assert compared > 500
    assert positive > 200


@pytest.mark.parametrize("width", [1, 3, 10_000])
def test_no_window_claims_more_than_an_optimal_schedule_pays(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(walk, "ROOM", 2)
    monkeypatch.setattr(walk, "LEAST_ROOM", 3)
    for seed in range(400):
        instance = tiny(seed, most=6, longest=6)
        prices = random_prices(instance, seed)
        if seed % 4 == 3:
            prices = cut_bound(instance, rounds=1).certificate.prices
        best = optimum(instance)
        found = passed(instance, prices, best, width)
        assert found.lower <= best.total_latency, seed
        ways = Ways(instance, prices)
        for time, cost in found.windows.proven:
            assert cost <= ways.of_schedule(tuple(best.starts.tolist()), time), seed


def test_layers_that_look_through_windows_keep_the_optimum() -> None:
    helped = 0
    for seed in range(1_500):
        instance = tiny(seed, most=6, longest=6)
        best = optimum(instance)
        prices = random_prices(instance, seed)
        seen = passed(instance, prices, best, 1 + seed % 50).windows
        known = one_worse(best)
        result = beam(instance, prices, known, windows=seen)
        assert result.exhausted
        assert result.schedule.total_latency == best.total_latency, seed
        helped += result.states < beam(instance, prices, known).states
    assert helped > 100


def test_dominance_without_the_costs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were less memory alone enough to be better, costs would come out too high."""
    genuine = window_kernels.settle

    def careless(bound, count, job, age, prompt, output, later, words, settled):  # type: ignore[no-untyped-def]
        genuine(bound, count, job, age, prompt, output, later, words, settled)
        settled[:] = -settled

    monkeypatch.setattr(window_kernels, "settle", careless)
    wrong = 0
    for seed in range(300):
        instance = tiny(seed, most=6, longest=6)
        best = optimum(instance)
        found = passed(instance, random_prices(instance, seed), best, 10_000)
        wrong += found.lower > best.total_latency
    assert wrong > 0


def test_a_solve_proves_windows_that_the_checker_accepts() -> None:
    instance = drawn(18, 3)
    prices = cut_bound(instance, rounds=12).certificate
    result = solve(instance, method="beam", node_limit=1)
    said: list[windows.Pass] = []
    windows.window_pass(instance, prices.prices, result.upper, width=3_000, proved=said.append)
    assert said[-1].lower > prices.bound
    named = instance.name, instance.digest
    for found in said[4], said[-1]:  # one of them has not reached time 0 yet
        proven = found.windows.needed
        claim = WindowCertificate(*named, found.lower, prices.value, prices.prices, proven)
        assert certify(claim, instance) == found.lower


def drawn(n: int, seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(1, 6, n)
    return Instance("drawn", 40, [0] * n, prompt, rng.integers(1, 41 - prompt))


def test_too_much_memory_is_refused() -> None:
    instance = Instance("wide", 128, [0, 0], [1, 1], [2, 3])
    prices = cut_bound(instance, rounds=1).certificate.prices
    with pytest.raises(ValueError, match="memory 128 exceeds 127"):
        windows.window_pass(instance, prices, 9, width=10)


def test_a_pass_that_is_stopped_is_not_exact() -> None:
    instance = drawn(12, 1)
    prices = cut_bound(instance, rounds=4).certificate.prices
    result = windows.window_pass(instance, prices, 10**6, width=10_000, stop=lambda: True)
    assert not result.exact
    assert len(result.windows.proven) == 1
