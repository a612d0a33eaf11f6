"""Walks that merge states prove no more than is true, at any width; so do their certificates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import outcomes
from oracle import least_latency
from test_paths import drawn

from ratiolab.hindsight.certificates import certify_paths, path_merges, path_trails, path_walks
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.certificates.path_states import Layer
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import bundle, merging, proof
from ratiolab.hindsight.paths import room as rooms
from ratiolab.hindsight.paths import walk as walks
from ratiolab.hindsight.paths.completions import completions
from ratiolab.hindsight.paths.partials import Partials
from ratiolab.hindsight.paths.passes import Passes
from ratiolab.hindsight.paths.potentials import Direction, Potentials, directions
from ratiolab.hindsight.paths.room import Room
from ratiolab.model import Instance, Schedule
from ratiolab.model.footprint import IntArray

WIDTHS = (1, 2, 3, 5)


@pytest.fixture(autouse=True)
def partial_states_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """In layers of a few states, too; the checker tries no other width."""
    monkeypatch.setattr(walks, "CROWD", 1)
    monkeypatch.setattr(walks, "PARTIAL", 2)
    monkeypatch.setattr(walks, "PARTIAL_MERGED", 2)
    monkeypatch.setattr(path_walks, "CROWDED", 1)
    monkeypatch.setattr(path_walks, "MOST_PARTIAL", 2)
    monkeypatch.setattr(certify_paths, "WIDER", (1,))


def proves_no_more(seed: int) -> tuple[int, int]:
    """How often the walk of a width proves what one of any width does; and how often not.

    What completing its states costs, merged or not, loses neither the cheapest path nor the
    optimum.
    """
    instance, _, potentials, multipliers = drawn(seed)
    base = int(multipliers.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    everyone, equal, below = 2 ** len(instance) - 1, 0, 0
    for side in directions(potentials, multipliers, limit):
        true = walks.walk(instance, side, limit, 10**6).least
        for width in WIDTHS:
            found = walks.walk(instance, side, limit, width, merges=True)
            assert (found.kept is None) == (found.merged > 0)
            assert found.least <= true, (seed, width)
            equal, below = equal + (found.least == true), below + (found.least < true)
            kept = walks.walk(instance, side, limit, width, merges=True, keeps=True)
            assert (kept.least, kept.merged) == (found.least, found.merged)
            assert kept.kept is not None
            guide = completions(kept.kept)
            again = walks.walk(instance, side, limit, 10**6, guide=guide)
            assert again.least == true, (seed, width)
            some = {"guide": guide, "remembered": everyone & 0b10101}
            once = walks.walk(instance, side, limit, 10**6, **some)
            assert once.kept is not None
            guide = completions(once.kept)
            all_once = walks.walk(instance, side, limit, 10**6, guide=guide, remembered=everyone)
            assert all_once.least == limit, (seed, width)
    return equal, below


def test_a_walk_that_merges_finds_no_path_dearer_than_the_cheapest() -> None:
    counts = [proves_no_more(seed) for seed in (*range(6), 667)]
    assert sum(equal for equal, _ in counts) > 0
    assert sum(below for _, below in counts) > 0


def twelve() -> tuple[Instance, Direction, int]:
    """Twelve requests, the direction of a walk back, and a limit."""
    prompt, output = [1, 2, 3] * 4, [*range(2, 14)]
    instance = Instance("twelve", 18, [0] * 12, prompt, output)
    potentials = Potentials.of(instance, cut_bound(instance, rounds=2).certificate.duals)
    limit = 30 * potentials.unit
    return instance, directions(potentials, potentials.least, limit)[1], limit


def test_a_walk_that_merges_keeps_no_more_states_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However wide its layers may be; and it proves no more than is true."""
    instance, side, limit = twelve()
    free = walks.walk(instance, side, limit, 10**6, merges=True)
    assert not free.merged
    assert free.states > 1_000
    monkeypatch.setattr(walks, "LEAST_WIDTH", 2)
    monkeypatch.setattr(walks, "FULL", 0)
    for most in (200, 500, 1_000):
        monkeypatch.setattr(walks, "MOST_STATES", most)
        found = walks.walk(instance, side, limit, 10**6, merges=True)
        assert 0 < found.merged <= most
        assert found.states <= most + 2 * side.end
        assert found.least <= free.least


@pytest.mark.parametrize("width", [20, 10**6])
def test_a_walk_of_many_states_keeps_what_paths_need(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds the same, but is no table for others; there may be room for more if none merge."""
    instance, side, limit = twelve()
    whole = walks.walk(instance, side, limit, width, merges=True)
    assert whole.table is not None
    monkeypatch.setattr(walks, "MOST_STATES", 200)
    monkeypatch.setattr(walks, "FULL", 10**6)
    roomy = walks.walk(instance, side, limit, width, merges=True, most=10**6)
    assert (roomy.table is None) == (width == 20)
    found = walks.walk(instance, side, limit, width, merges=True, most=200)
    assert found.table is None
    assert found.kept is None
    assert (found.least, found.states) == (whole.least, whole.states)
    assert found.paths == whole.paths
    assert len(found.paths[0]) > 1


@pytest.mark.long
def test_a_walk_that_merges_finds_no_path_dearer_than_the_cheapest_of_many() -> None:
    for seed in range(6, 1_500):
        proves_no_more(seed)


def most_settled(self: Room, rows: IntArray, width: int, t: int, ahead: int) -> IntArray:
    """Merge into a state that has settled as much as the member that has settled most."""
    states = self.states
    order, edges = merging.groups(
        *(states.settled, states.tokens.view(np.uint8), rows),
        *(np.ones(8 * self.words, np.int64), width),
    )
    most = [states.settled[order[b:e]].max() for b, e in pairwise(edges)]
    nothing = np.zeros_like(self.direction.pay[0])
    tail = self.direction.tail[t + 2]
    merged: IntArray = merging.merge(states, order, edges, tail, nothing, 0)
    states.settled[merged] = most
    return merged


def test_a_merged_state_that_has_settled_as_much_as_any_member_loses_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Room, "merged", most_settled)
    with pytest.raises(AssertionError):
        list(map(proves_no_more, range(40)))


def test_a_walk_that_forgets_what_states_were_merged_of_loses_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Partials, "merged", lambda *_: None)
    with pytest.raises(AssertionError):
        list(map(proves_no_more, range(40)))


def certified(seed: int) -> Iterator[tuple[PathCertificate, Instance, int]]:
    """Certificates of merged walks back, with the optimum."""
    instance, proven, potentials, multipliers = drawn(seed)
    optimum = least_latency(instance)
    for width in WIDTHS:
        passes = Passes(potentials, multipliers, proven, optimum + 2)
        assert passes.merge(width).finished
        assert passes.bound <= optimum
        yield passes.certificate(), instance, optimum


def test_the_checker_accepts_what_is_proven_and_nothing_above_the_optimum() -> None:
    """It merges by its own rule: of these, it needs another width for few."""
    accepted = refused = 0
    for seed in range(10):
        for made, instance, optimum in certified(seed):
            try:
                assert certify(made, instance) == made.bound
                accepted += 1
            except CertificateError:
                refused += 1
            with pytest.raises(CertificateError, match="a path costs"):
                certify(replace(made, bound=optimum + 1, width=made.width or 1), instance)
    assert accepted > 10 * refused


def test_the_checker_merges_no_states_into_none() -> None:
    """A layer without states would prove any bound."""
    nothing = np.zeros(2, np.int64)
    room = Layer.room(2, 1, 2)
    with pytest.raises(ValueError, match="2 states cannot merge into 0"):
        path_merges.merged(room, np.arange(2), 0, nothing, nothing, nothing, 0, None)


def remembered(seed: int) -> Iterator[tuple[PathCertificate, Instance, int]]:
    """Certificates of passes of which the first merges states, and later ones remember more."""
    instance, proven, potentials, multipliers = drawn(seed)
    optimum = least_latency(instance)
    for width in WIDTHS:
        passes = Passes(potentials, multipliers, proven, optimum, few=2, merged=width)
        if passes.closed:  # the duals prove it
            return
        while not passes.closed:
            assert passes.go(10**6).table is not None
        assert passes.schedule is None
        assert passes.bound == optimum
        yield passes.certificate(), instance, optimum


def checked(made: PathCertificate, instance: Instance) -> bool:
    """Whether the checker accepts a certificate, and none above the optimum that it proves."""
    with pytest.raises(CertificateError, match="a path costs"):
        certify(replace(made, bound=made.bound + 1), instance)
    try:
        return certify(made, instance) == made.bound
    except CertificateError:
        return False


@pytest.mark.long
def test_the_checker_follows_passes_that_remember_more_than_one_that_merges() -> None:
    """It merges by its own rule, and all requests are remembered in the end."""
    several = 0
    for seed in range(40):
        for made, instance, _ in remembered(seed):
            assert checked(made, instance)
            several += made.width > 0 and len(made.passes) > 1
    assert several > 20


@dataclass
class Found:
    """What a proof has told by now."""

    best: int
    made: list[PathCertificate] = field(default_factory=list)

    def __call__(self, schedule: Schedule | None, certificate: PathCertificate | None) -> None:
        if schedule is not None:
            self.best = min(self.best, schedule.total_latency)
        if certificate is not None:
            self.made.append(certificate)

    def upper(self) -> int:
        return self.best


def test_few_requests_are_proven_by_walks_that_a_merged_one_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "FEW_REQUESTS", 0)
    monkeypatch.setattr(proof, "MERGED", 2)
    monkeypatch.setattr(bundle, "LEAST_GAIN", 10.0)  # what is left is for walks that remember
    several = 0
    for seed in range(30):
        instance, proven, *_ = drawn(seed)
        optimum = least_latency(instance)
        found = Found(optimum + 1)
        proof.prove(instance, proven, found.upper, lambda: False, found)
        if not found.made:  # the duals have proven it
            continue
        last = found.made[-1]
        assert found.best == last.bound == optimum
        assert checked(last, instance)
        several += last.width > 0 and len(last.passes) > 1
    assert several


@pytest.mark.parametrize("seed", [7, 24])
def test_a_proof_without_a_limit_of_time_ends_however_few_states_a_layer_may_keep(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the walk back has merged, and where walks as steps are too wide again and again."""
    monkeypatch.setattr(proof, "FEW_REQUESTS", 0)
    monkeypatch.setattr(proof, "MERGED", 2)
    instance, proven, *_ = drawn(seed)
    optimum, asked, many = least_latency(instance), count(), 20_000
    found = Found(optimum + 1)
    proof.prove(instance, proven, found.upper, lambda: next(asked) > many, found, 3)
    assert next(asked) < many
    assert all(certificate.bound <= optimum for certificate in found.made)


def test_a_checker_that_forgets_what_states_were_merged_of_loses_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(path_trails.Trail, "merged", lambda *_: None)
    made = (each for seed in range(40) for each in remembered(seed))
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):  # above the optimum
        [checked(certificate, instance) for certificate, instance, _ in made]


@pytest.mark.parametrize("made_by", [certified, remembered])
def test_every_changed_number_of_a_file_is_detected(
    made_by: Callable[[int], Iterator[tuple[PathCertificate, Instance, int]]], tmp_path: Path
) -> None:
    """With check digits made anew, proofs of no more than the optimum are all that passes."""
    made, instance, optimum = next(one for one in made_by(4) if one[0].width)
    path = tmp_path / "c.json"
    write_certificate(made, path)
    assert read_certificate(path) == made
    names = ("bound", "value", "memory", "tables", "cuts", "unit", "multipliers", "width")
    found = list(outcomes(path, made, instance, names, range(0, 40, 20)))
    assert all(bound is None or bound <= optimum for _, bound in found)
    assert sum(bound is None for _, bound in found) > len(found) // 2


@pytest.mark.long
def test_the_checker_accepts_nothing_above_the_optimum_of_many() -> None:
    for seed in range(10, 600):
        for made, instance, optimum in certified(seed):
            with pytest.raises(CertificateError, match="a path costs"):
                certify(replace(made, bound=optimum + 1, width=made.width or 1), instance)


def many(n: int) -> Instance:
    rng = np.random.default_rng(n)
    prompt, output = rng.integers(1, 4, n), rng.integers(1, 5, n)
    return Instance("many", 9, np.sort(rng.integers(0, n, n)), prompt, output)


def test_a_walk_takes_more_requests_than_a_word_has_bits() -> None:
    """Cost of its path: U times latency and, for each request, its multiplier times 1 - starts."""
    instance = many(70)
    duals = cut_bound(instance, rounds=1).certificate
    potentials = Potentials.of(instance, duals.duals)
    passes = Passes(potentials, potentials.least, duals, 2 * duals.bound)
    walked = passes.merge(10**5)
    assert not walked.merged
    assert walked.paths
    starts = np.zeros(70, np.int64)
    for start, i in walked.paths[0]:
        assert start >= instance.arrival[i]
        starts[i] += 1
    assert starts[64:].any()
    served = instance.output - instance.arrival
    latency = sum(start + int(served[i]) for start, i in walked.paths[0])
    cost = potentials.unit * latency + int((potentials.least * (1 - starts)).sum())
    assert cost == passes.base + walked.least


@pytest.mark.long
def test_bounds_for_more_requests_than_a_word_has_bits_rise_and_are_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(certify_paths, "WIDER", (2,))  # it merges other states than the walk
    instance, made = many(70), []
    duals = cut_bound(instance, rounds=1).certificate

    def found(schedule: object, certificate: PathCertificate | None) -> None:
        if certificate is not None:
            made.append(certificate)

    proof.prove(instance, duals, lambda: 2 * duals.bound, lambda: bool(made), found, 20)
    assert made[-1].bound > duals.bound
    assert made[-1].width
    assert certify(made[-1], instance) == made[-1].bound
    with pytest.raises(CertificateError, match="checked up to 64"):
        certify(replace(made[-1], passes=(1,), width=0), instance)
    with pytest.raises(CertificateError, match="only a pass that watches nobody"):
        certify(replace(made[-1], width=-1), instance)


def test_steps_begin_with_the_multipliers_of_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def step(self: bundle.Ascent, stop: object) -> tuple[None, bool]:
        begun.append(self.center)
        return None, False

    monkeypatch.setattr(bundle.Ascent, "step", step)
    instance = many(70)
    duals = cut_bound(instance, rounds=1).certificate
    potentials = Potentials.of(instance, duals.duals)
    upper = 2 * duals.bound
    passes = Passes(potentials, potentials.least - potentials.unit // 2, duals, upper)
    passes.merge(30)
    begin = passes.certificate()
    now = (lambda: upper), (lambda: bool(begun)), (lambda *found: None)
    proof.prove(instance, duals, *now, begin=begin)
    assert (begun.pop() * potentials.unit == begin.multipliers).all()
    proof.prove(instance, duals, *now, begin=replace(begin, unit=2 * begin.unit))
    assert (begun.pop() * potentials.unit == potentials.least).all()
    # under other duals the same multipliers may be too large for walks, and not for steps
    others = cut_bound(instance, rounds=3).certificate
    assert (np.array(begin.multipliers) > Potentials.of(instance, others.duals).least).any()
    proof.prove(instance, others, *now, begin=begin)
    assert (begun.pop() * potentials.unit == begin.multipliers).all()


def test_a_walk_of_other_widths_each_layer_proves_no_more_and_says_the_largest() -> None:
    """A checker makes all layers as wide as the widest in which states were merged."""
    below = ended = 0
    for seed in range(8):
        instance, proven, potentials, multipliers = drawn(seed)
        optimum = least_latency(instance)
        passes = Passes(potentials, multipliers, proven, optimum + 2)
        walked = passes.merge(9, pace=lambda layers, states: 1 + layers % 3)
        assert passes.bound <= optimum
        assert passes.width == walked.merged <= 3
        below += passes.bound < optimum
        true = Passes(potentials, multipliers, proven, optimum + 2)
        true.merge(10**6)
        assert passes.bound <= true.bound
        small = Passes(potentials, multipliers, proven, optimum + 2)
        finished = small.merge(9, pace=lambda layers, states: 1 + layers % 3, most=10**6).finished
        assert finished or walked.merged
        ended += not finished
    assert below
    assert ended


def test_a_walk_finds_the_same_whenever_its_states_are_compared_and_room_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(6):
        instance, _, potentials, multipliers = drawn(seed)
        for side in directions(potentials, multipliers, 20 * potentials.unit):
            found = []
            for crowd, room in ((2_000, 20_000), (1, 20_000), (2_000, 1), (1, 1)):
                monkeypatch.setattr(walks, "CROWD", crowd)
                monkeypatch.setattr(rooms, "FIRST_CAPACITY", room)
                walked = walks.walk(instance, side, 20 * potentials.unit, 10**6)
                found.append((walked.least, walked.left, len(walked.paths)))
            assert len({least for least, _, _ in found}) == 1, seed
            assert found[0] == found[2]
            assert found[1] == found[3]
