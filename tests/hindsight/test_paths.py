"""Walks find the cheapest path by definition, and certificates of passes prove no more than it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mutations import outcomes
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.memory import ROOMIEST
from ratiolab.hindsight.paths import passes as passes_module
from ratiolab.hindsight.paths.passes import Back, Passes
from ratiolab.hindsight.paths.potentials import Potentials, directions
from ratiolab.hindsight.paths.proof import prove
from ratiolab.hindsight.paths.walk import MOST_STATES, walk
from ratiolab.model import Instance, Schedule

Running = tuple[tuple[int, int], ...]


class ByDefinition:
    """Costs of paths by trying all, forward; nothing is left out but what costs too much."""

    def __init__(self, potentials: Potentials, multipliers: list[int]) -> None:
        self.requests = list(potentials.instance.requests)
        self.memory = potentials.instance.memory
        self.potentials, self.multipliers = potentials, multipliers
        self.cost = potentials.costs(200)

    def weight(self, i: int, age: int, time: int) -> int:
        _, prompt, output = self.requests[i]
        late = time > self.potentials.horizon
        return 0 if late else int(self.potentials.weight[time, prompt + age, output - age])

    def fits(self, running: Running) -> bool:
        longest = max(output for _, _, output in self.requests)
        held = [
            sum(
                self.requests[i][1] + age + later
                for i, age in running
                if age + later <= self.requests[i][2]
            )
            for later in range(1, longest + 1)
        ]
        return max(held) <= self.memory

    def starts(self, running: Running, t: int, first: int = 0) -> Iterator[Running]:
        yield running
        for i in range(first, len(self.requests)):
            more = (*running, (i, 0))
            if self.requests[i][0] <= t and self.fits(more):
                yield from self.starts(more, t, i + 1)

    def least(self, limit: int, once: int) -> int:
        """The least cost of a path, or limit + 1; requests of ``once`` start exactly once."""
        layer: dict[tuple[Running, int], int] = {((), 0): 0}
        end, t, best = self.potentials.horizon, 0, limit + 1
        while layer:
            for (running, mask), cost in layer.items():
                if t >= end and not running and mask == once:
                    best = min(best, cost)
            following: dict[tuple[Running, int], int] = {}
            for (running, mask), cost in layer.items():
                if t > end and not running and mask == once:
                    continue
                for held in self.starts(running, t):
                    new = [i for i, age in held if age == 0]
                    bits = sum(1 << i for i in new if once >> i & 1)
                    if mask & bits:
                        continue
                    paid = cost + sum(int(self.cost[i, t]) - self.multipliers[i] for i in new)
                    if t + 1 <= end:
                        paid += int(self.potentials.capacity[t + 1])
                    paid -= sum(self.weight(i, age + 1, t + 1) for i, age in held)
                    if paid > limit or t > 150:
                        continue
                    aged = ((i, age + 1) for i, age in held)
                    left = tuple(sorted((i, g) for i, g in aged if g < self.requests[i][2]))
                    key = left, mask | bits
                    following[key] = min(paid, following.get(key, paid))
            if t > end:
                following = {k: v for k, v in following.items() if k != ((), k[1]) or once != k[1]}
            layer, t = following, t + 1
        return best


def small(seed: int) -> Instance:
    return tiny(seed, most=4, longest=4)


def drawn(seed: int) -> tuple[Instance, DualCertificate, Potentials, np.ndarray]:
    """A tiny instance with duals of few rounds, and multipliers lowered at random."""
    instance = small(seed)
    proven = cut_bound(instance, rounds=seed % 3).certificate
    potentials = Potentials.of(instance, proven.duals)
    rng = np.random.default_rng(seed)
    lower = potentials.unit * rng.integers(0, 3, len(instance)) * (seed % 3 > 0)
    return instance, proven, potentials, potentials.least - lower


def cheapest(seed: int) -> None:
    """Both directions, alone and joined, find the cheapest path, whoever is remembered."""
    instance, _, potentials, multipliers = drawn(seed)
    rng = np.random.default_rng(seed)
    kinds = list(instance.requests)
    chosen = [kinds[i] for i in np.flatnonzero(rng.random(len(kinds)) < 0.5)]
    once = sum(1 << i for i, kind in enumerate(kinds) if kind in chosen)
    fewer = sum(1 << i for i, kind in enumerate(kinds) if kind in chosen[:1])
    base = int(multipliers.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    forward, backward = sides = directions(potentials, multipliers, limit)
    right = ByDefinition(potentials, multipliers.tolist()).least(limit, once)
    assert right <= limit
    for side, other in (sides, (backward, forward)):
        for known in (0, fewer, once):
            first = walk(instance, other, limit, 10**6, remembered=known)
            assert first.table is not None
            joined = walk(instance, side, limit, 10**6, remembered=once, join=first.table)
            assert joined.least == right, (seed, known)
        assert first.least == right, seed
        narrow = walk(instance, side, limit, 3, remembered=once)
        assert min(narrow.left, narrow.least) <= right <= narrow.least, seed


def test_walks_find_the_cheapest_path() -> None:
    for seed in range(0, 96, 4):
        cheapest(seed)


@pytest.mark.long
def test_walks_find_the_cheapest_path_of_many() -> None:
    for seed in range(1, 2_000, 2):
        cheapest(seed)


def claims(seed: int, few: int | None = None) -> int:
    """What passes prove is accepted, a path cheaper than what is claimed is found."""
    instance, proven, potentials, multipliers = drawn(seed)
    optimum = least_latency(instance)
    passes = Passes(potentials, multipliers, proven, optimum + seed % 2, few=few)
    while not passes.closed:
        passes.go(10**6)
        made = passes.certificate()
        assert certify(made, instance) == passes.bound <= optimum, seed
        with pytest.raises(CertificateError, match="a path costs"):
            certify(replace(made, bound=made.bound + 1), instance)
    assert passes.bound == optimum, seed
    if passes.schedule is not None:
        assert passes.schedule.total_latency == optimum
    return len(passes.sets)


def test_passes_prove_the_optimum_and_the_checker_no_more() -> None:
    assert max(claims(seed) for seed in range(48)) > 1


def test_passes_that_remember_few_more_each_time_prove_the_optimum_and_no_more() -> None:
    assert max(claims(seed, few=1) for seed in range(48)) > 3


def test_all_walks_before_bound_the_next_not_the_last_of_them_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It keeps fewer states then, and proves the same."""

    def walked() -> tuple[int, list[int]]:
        states, bounds = 0, []
        for seed in range(0, 48, 4):
            instance, proven, potentials, multipliers = drawn(seed)
            passes = Passes(potentials, multipliers, proven, least_latency(instance) + 3, few=1)
            while not passes.closed:
                states += passes.go(10**6).states
            bounds.append(passes.bound)
        return states, bounds

    chained, bounds = walked()
    alone = passes_module.completions
    monkeypatch.setattr(
        passes_module, "completions", lambda *given: replace(alone(*given), before=None)
    )
    more, same = walked()
    assert chained < more
    assert bounds == same


def test_each_pass_remembers_few_more_and_beyond_a_large_part_everybody() -> None:
    """Paths that repeat a request count by their rank; equal requests are remembered together."""
    instance = Instance("seven", 9, [0] * 7, [1] * 7, [2, 2, 3, 4, 5, 6, 7])
    proven = cut_bound(instance, rounds=2).certificate
    potentials = Potentials.of(instance, proven.duals)
    passes = Passes(potentials, potentials.least, proven, proven.bound + 9, few=1)
    once = tuple((0, i) for i in range(7))
    extra = {i: (9, i) for i in range(7)}
    for more, remembered in (
        ([[3]], {3}),
        ([[3, 0], [4, 4], [4]], {3, 4}),
        ([[3, 0], [4]], {0, 1, 3, 4}),
        ([[2]], {0, 1, 2, 3, 4}),
        ([[5]], set(range(7))),
    ):
        paths = [[*once, *(extra[i] for i in own)] for own in more]
        passes._learn(paths)
        assert passes.remembered == sum(1 << i for i in remembered)
    passes._learn([list(once)])
    assert passes.schedule is not None


def test_a_walk_that_is_to_be_complete_ends_at_its_most_states() -> None:
    instance, proven, potentials, multipliers = drawn(0)
    passes = Passes(potentials, multipliers, proven, least_latency(instance) + 3)
    whole = passes.go(10**6)
    assert whole.table is not None
    again = Passes(potentials, multipliers, proven, least_latency(instance) + 3)
    assert again.go(10**6, most=1).table is None
    assert again.sets == []
    assert again.bound == again.latency(0)


def test_a_checker_may_keep_more_states_than_a_walk_that_finds() -> None:
    """It compares states in its own way, so that it may keep more of them."""
    assert effort.most_kept() >= 1.6 * MOST_STATES
    with effort.allowing(effort.LONG_CHECK):
        assert effort.most_kept() >= 1.6 * MOST_STATES * ROOMIEST
        assert effort.most_states() == effort.ROOMIEST * effort.MOST_STATES
    with effort.allowing(45):
        assert effort.most_kept() == 1.5 * effort.MOST_KEPT
    with effort.allowing(1):
        assert effort.most_kept() == effort.MOST_KEPT


def test_the_same_sets_remembered_in_both_directions_prove_the_optimum_and_no_more() -> None:
    """The checker of passes that alternate: certificates of those back, read as such."""
    for seed in range(0, 48, 3):
        instance, proven, potentials, multipliers = drawn(seed)
        optimum, everyone = least_latency(instance), 2 ** len(instance) - 1
        passes = Passes(potentials, multipliers, proven, optimum, (0, everyone))
        while not passes.closed:
            passes.go(10**6)
        made = replace(passes.certificate(), bound=optimum, passes=(0, everyone))
        for back in (False, True):
            assert certify(replace(made, back=back), instance) == optimum
            with pytest.raises(CertificateError, match="a path costs"):
                certify(replace(made, back=back, bound=optimum + 1), instance)


@pytest.mark.long
@pytest.mark.parametrize("few", [None, 1])
def test_passes_prove_the_optimum_of_many(few: int | None) -> None:
    for seed in range(48, 1_200):
        claims(seed, few)


@pytest.fixture(scope="module")
def nine() -> tuple[Instance, PathCertificate]:
    """An instance with the certificate of its optimum, for which requests are remembered."""
    rng = np.random.default_rng(2)
    prompt = rng.integers(1, 4, 9)
    output = [int(rng.integers(1, 16 - s)) for s in prompt]
    instance = Instance("nine", 16, [0] * 9, prompt, output)
    duals = cut_bound(instance, rounds=3).certificate
    best, made = [duals.bound + 30], []

    def found(schedule: Schedule | None, certificate: PathCertificate | None) -> None:
        if schedule is not None:
            best[0] = min(best[0], schedule.total_latency)
        if certificate is not None:
            made.append(certificate)

    prove(instance, duals, lambda: best[0], lambda: False, found)
    assert made[-1].bound == best[0] > duals.bound
    assert made[-1].passes[-1] > 0
    assert certify(made[-1], instance) == best[0]
    return instance, made[-1]


def test_every_changed_number_is_detected(
    tmp_path: Path, nine: tuple[Instance, PathCertificate]
) -> None:
    """With check digits made anew, proofs of no more than the optimum are all that passes."""
    instance, made = nine
    path = tmp_path / "c.json"
    write_certificate(made, path)
    assert read_certificate(path) == made
    names = ("bound", "value", "memory", "tables", "cuts", "unit", "multipliers", "passes")
    found = list(outcomes(path, made, instance, names, range(0, 40, 20)))
    assert all(bound is None or bound <= made.bound for _, bound in found)
    assert sum(bound is None for _, bound in found) > len(found) // 2


def test_what_takes_too_long_to_check_is_refused(
    monkeypatch: pytest.MonkeyPatch, nine: tuple[Instance, PathCertificate]
) -> None:
    instance, made = nine
    limits = {
        "MOST_STATES": "walks take more than 0",
        "MOST_KEPT": "more than 0 states",
        "MOST_CELLS": "more than 0$",
        "MOST_PASSES": "1 to 0 passes",
        "LARGEST_SUM": "too large for walks",
        "MOST_REQUESTS": "checked up to 0",
    }
    for limit, message in limits.items():
        monkeypatch.setattr(effort, limit, 0)
        with pytest.raises(CertificateError, match=message):
            certify(made, instance)
        monkeypatch.undo()
    with pytest.raises(CertificateError, match="is too large"):
        certify(replace(made, multipliers=(10**12, *made.multipliers[1:])), instance)
    with pytest.raises(CertificateError, match="watched before"):
        certify(replace(made, passes=(*made.passes, 0)), instance)


@pytest.mark.parametrize("back", [False, True])
def test_a_check_that_ends_at_any_number_of_states_is_a_refusal_and_no_verdict(
    monkeypatch: pytest.MonkeyPatch, nine: tuple[Instance, PathCertificate], *, back: bool
) -> None:
    instance, made = nine
    refused, most = 0, 1
    while True:
        monkeypatch.setattr(effort, "MOST_STATES", most)
        try:
            assert certify(replace(made, back=back), instance) == made.bound
        except effort.TooCostlyError:
            refused, most = refused + 1, most + max(1, most // 25)
        else:
            break
    assert refused > 50


def test_a_beam_finds_schedules_and_a_wide_one_the_best() -> None:
    better = 0
    for seed in range(0, 96, 3):
        instance, proven, potentials, multipliers = drawn(seed)
        optimum = least_latency(instance)
        passes = Passes(potentials, multipliers, proven, optimum + 3)
        passes.beam(2)
        if passes.schedule is not None:
            better += passes.schedule.total_latency < optimum + 3
            assert passes.schedule.total_latency >= optimum
        passes.beam(10**6)
        assert passes.schedule is not None
        assert passes.schedule.total_latency == optimum
    assert better > 0


@pytest.mark.parametrize("seed", range(6))
def test_passes_that_begin_with_a_known_walk_back_prove_the_same_and_are_certified(
    seed: int,
) -> None:
    """One that remembers some from the start, at any target up to the one that it was made for."""
    instance, proven, potentials, multipliers = drawn(seed)
    optimum, some = least_latency(instance), 2 ** (seed % len(instance) + 1) - 1
    first = Passes(potentials, multipliers, proven, optimum + 2, (some,))
    walked = first.go(10**5)
    assert walked.table is not None
    back = Back(first.sides, walked)
    for target in range(proven.bound, optimum + 2):
        passes = Passes(potentials, multipliers, proven, target, (0, some), back)
        if passes.closed:  # what the multipliers prove is enough
            continue
        while not passes.closed:
            assert passes.go(10**5).table is not None
        assert passes.sets[0] == some
        assert passes.bound == min(target, optimum)
        assert certify(passes.certificate(), instance) == passes.bound
        everyone = Passes(potentials, multipliers, proven, target, (), back)
        everyone.beam(10**5)
        assert everyone.bound == min(target, optimum)
        assert certify(everyone.certificate(), instance) == everyone.bound
        narrow = Passes(potentials, multipliers, proven, target, (), back)
        narrow.beam(1, whole=True)
        assert narrow.bound <= optimum
