"""Laws of the solver, on tiny instances whose optimum brute force finds.

Schedules are feasible; lower bound <= optimum <= upper bound; the certificate of the bound is
accepted; and a bound above the optimum is refused with the same certificate.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracle import least_latency
from relaxed_schedules import ByDefinition, drawn, many
from tiny_instances import tiny

from ratiolab.hindsight.certificates import certify_paths, path_walks
from ratiolab.hindsight.certificates.certificate import PathCertificate, path_certificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling import label_kernels
from ratiolab.hindsight.labelling.completion_bounds import completions
from ratiolab.hindsight.labelling.dssr import Dssr, Prices
from ratiolab.hindsight.labelling.loop import Loop, Surroundings
from ratiolab.hindsight.labelling.sweep import Swept, sweep
from ratiolab.hindsight.labelling.weights import Weights, directions
from ratiolab.hindsight.params import LabellingParams, SolveParams
from ratiolab.hindsight.relaxation.growth import dual_bound, growth_bounds
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Schedule, require_feasible, stream


def obeys(seed: int, params: SolveParams) -> list[PathCertificate]:
    """Run the loop on a tiny instance; return what it has proven."""
    instance, proven, *_ = drawn(seed)
    optimum = least_latency(instance)
    best, made = [optimum + 2], list[PathCertificate]()

    def found(schedule: Schedule | None, certificate: PathCertificate | None) -> None:
        if schedule is not None:
            best.append(min(best[-1], require_feasible(schedule).total_latency))
        if certificate is not None:
            made.append(certificate)

    around = Surroundings(lambda: best[-1], lambda: False, found)
    Loop(instance, proven, around, params).run()
    assert best[-1] >= optimum
    assert all(certificate.bound <= optimum for certificate in made)
    return made


def accepted(certificate: PathCertificate, seed: int) -> bool:
    """Return whether the checker accepts a bound; it must refuse one above the optimum."""
    instance, *_ = drawn(seed)
    optimum = least_latency(instance)
    with pytest.raises(CertificateError, match="a path costs"):
        certify(replace(certificate, bound=optimum + 1), instance)
    try:
        return certify(certificate, instance) == certificate.bound
    except CertificateError:
        assert certificate.width  # the checker merges by its own rule
        return False


WIDE = SolveParams()
NARROW = SolveParams(
    LabellingParams(first_width=1, growth=2, most_width=64, more_critical=1, crowd=1, partial=2)
)


def laws(seeds: range) -> None:
    for seed in seeds:
        optimum = least_latency(drawn(seed)[0])
        for params in (WIDE, NARROW):
            made = obeys(seed, params)
            assert all(accepted(certificate, seed) for certificate in made if not certificate.width)
            if made:
                assert made[-1].bound == optimum


def test_the_loop_proves_the_optimum_and_the_checker_no_more() -> None:
    laws(range(16))


def test_labels_that_are_compared_with_few_others_or_none_prove_the_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled, scratch = label_kernels.undominated, []

    def noted(*given):
        scratch.append(len(given[4]))
        compiled(*given)

    monkeypatch.setattr(label_kernels, "undominated", noted)
    for seed in range(6):
        for compared in (0, 7):
            made = obeys(seed, SolveParams(LabellingParams(compared=compared, crowd=1)))
            assert not made or made[-1].bound == least_latency(drawn(seed)[0])
    assert min(scratch) == 7  # nothing is written to lists without a place


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(16, 500), marks=pytest.mark.long),
        pytest.param(range(500, 2_000), marks=pytest.mark.slow),
    ],
    ids=["500", "2000"],
)
def test_the_loop_proves_the_optimum_and_the_checker_no_more_of_many(seeds: range) -> None:
    laws(seeds)


def relaxed(seed: int) -> list[PathCertificate]:
    """Return certificates of relaxed diagrams of a tiny instance that merge labels."""
    instance, proven, potentials, multipliers = drawn(seed)
    optimum, made = least_latency(instance), []
    for width in (1, 2, 3, 5):
        prices = Prices(potentials, multipliers, proven)
        dssr = Dssr(prices, optimum + 2, lambda: False, NARROW.labelling)
        assert dssr.relaxed(width, None)
        assert dssr.bound <= optimum
        made += [dssr.certificate()] * (dssr.width > 0)
    return made


def refuses_more_than_the_relaxation(seed: int) -> None:
    """However few labels the checker keeps, it proves no more than relaxed schedules cost."""
    instance, proven, weights, multipliers = drawn(seed)
    prices, optimum = Prices(weights, multipliers, proven), least_latency(instance)
    dssr = Dssr(prices, optimum + 2, lambda: False, NARROW.labelling)
    assert dssr.exact(0, 10**6, 0.0)
    for width in (1, 2):
        claim = replace(dssr.certificate(), bound=dssr.bound + 1, width=width)
        with pytest.raises(CertificateError, match="a path costs"):
            certify(claim, instance)


@pytest.mark.long
def test_the_checker_accepts_most_relaxed_diagrams_and_nothing_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It merges labels by its own rule, so that it may need another width."""
    monkeypatch.setattr(path_walks, "CROWDED", 1)
    monkeypatch.setattr(path_walks, "MOST_PARTIAL", 2)
    monkeypatch.setattr(certify_paths, "WIDER", (1,))
    for seed in range(12):
        refuses_more_than_the_relaxation(seed)
    merged = [accepted(made, seed) for seed in range(12) for made in relaxed(seed)]
    assert sum(merged) > 0.8 * len(merged) > 12


def few_of(blocks: int) -> list[Any]:
    """Every run of the tests takes the first block, which has instances of every kind."""
    return [0, *(pytest.param(block, marks=pytest.mark.long) for block in range(1, blocks))]


@pytest.mark.parametrize("block", few_of(3))
def test_growing_critical_sets_prove_the_optimum_and_no_more(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partial labels are compared after each start, so that each rule of the checker is at work."""
    monkeypatch.setattr(path_walks, "CROWDED", 1)
    monkeypatch.setattr(path_walks, "MORE", 1.0)
    for seed in range(20 * block, 20 * (block + 1)):
        instance = tiny(seed, most=6, longest=5)
        proven, optimum = cut_bound(instance, rounds=seed % 2).certificate, least_latency(instance)
        weights, rng = Weights.of(instance, proven.duals), np.random.default_rng(seed)
        lower = weights.unit * rng.integers(0, 3, len(instance)) * (seed % 3 > 0)
        sets = np.bitwise_or.accumulate(rng.integers(0, 2 ** len(instance), 2)).tolist()
        claim = path_certificate(
            *(proven, optimum, weights.unit, weights.least - lower),
            (0, *sets, 2 ** len(instance) - 1)[seed % 2 :],
        )
        assert certify(claim, instance) == optimum
        with pytest.raises(CertificateError, match="a path costs"):
            certify(replace(claim, bound=optimum + 1), instance)


@pytest.mark.parametrize("block", few_of(5))
def test_schedules_are_feasible_bounds_enclose_the_optimum_and_only_true_ones_are_certified(
    block: int,
) -> None:
    met = 0
    for seed in range(10_000 + 30 * block, 10_030 + 30 * block):
        instance = tiny(seed, most=8, longest=6)
        optimum = tiny_optimum(instance).latency
        assert optimum is not None
        first = best_list_schedule(instance)
        schedule = require_feasible(improved_schedule(first, stream(seed, "search"), 2_000))
        assert optimum <= schedule.total_latency <= first.total_latency
        met += schedule.total_latency == optimum
        ascent = dual_bound(instance, first.total_latency, steps=20)
        for proof in (ascent, next(growth_bounds(instance, 1e6))):
            assert certify(proof, instance) == proof.bound <= optimum
            with pytest.raises(CertificateError):
                certify(replace(proof, bound=proof.bound + 1), instance)
    assert met >= 27  # a search that misses many optima would be seen


OFTEN = LabellingParams(crowd=1, partial=2)
"""Labels are compared and left out after each start."""


def found(*given: object, **options: object) -> Swept:
    result = sweep(*given, **options)  # type: ignore[arg-type]
    assert result is not None
    return result


def cheapest(seed: int) -> int:
    """Compare sweeps of all kinds with the definition; return how often a limit fell."""
    instance, _, potentials, multipliers = drawn(seed)
    rng = np.random.default_rng(seed)
    kinds = list(instance.requests)
    chosen = [kinds[i] for i in np.flatnonzero(rng.random(len(kinds)) < 0.5)]
    once = sum(1 << i for i, kind in enumerate(kinds) if kind in chosen)
    base = int(multipliers.sum() - potentials.capacity.sum())
    limit = least_latency(instance) * potentials.unit - base
    definition = ByDefinition(potentials, multipliers.tolist())
    right, fell = definition.least(limit, once), 0
    assert right <= limit
    relaxed = definition.least(limit, 0)
    for side in directions(potentials, multipliers, limit):
        whole = found(instance, side, limit, 10**6, overflow="lower", critical=once)
        assert whole.least == right
        assert whole.limit == limit
        free = found(instance, side, limit, 10**6, overflow="lower")
        for width in (1, 2, 3, 5):
            fallen = found(
                instance, side, limit, width, overflow="lower", critical=once, params=OFTEN
            )
            fell += fallen.limit < limit
            assert fallen.least == min(right, fallen.limit + 1)
            assert fallen.kept is not None
            everyone = 2 ** len(instance) - 1
            guide = completions(fallen.kept)
            assert guide is not None
            bounded = found(
                *(instance, side, fallen.limit, 10**6),
                overflow="lower",
                critical=everyone,
                guide=guide,
            )
            assert bounded.least == min(limit, fallen.limit + 1)
            dropped = found(
                instance, side, limit, width, overflow="drop", critical=once, params=OFTEN
            )
            assert dropped.least >= right
            merged = found(instance, side, limit, width, overflow="merge", params=OFTEN)
            assert merged.least <= relaxed == free.least
            assert merged.least == relaxed or merged.merged
            assert merged.widest <= width
    return fell


def test_sweeps_find_the_cheapest_relaxed_schedule() -> None:
    assert sum(map(cheapest, range(0, 96, 9))) > 0


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(1, 500, 2), marks=pytest.mark.long),
        pytest.param(range(501, 2_000, 2), marks=pytest.mark.slow),
    ],
    ids=["500", "2000"],
)
def test_sweeps_find_the_cheapest_relaxed_schedule_of_many(seeds: range) -> None:
    for seed in seeds:
        cheapest(seed)


def test_a_sweep_takes_more_requests_than_a_word_has_bits() -> None:
    """Cost of its relaxed schedule: U times latency and each multiplier times 1 - starts."""
    instance = many(70)
    potentials = Weights.of(instance, cut_bound(instance, rounds=2).certificate.duals)
    limit = 40 * potentials.unit
    side = directions(potentials, potentials.least, limit)[1]
    swept = found(instance, side, limit, 2_000, overflow="drop")
    start, request = np.array(swept.paths[0]).T
    assert request.max() >= 64
    latency = int((start + instance.output[request] - instance.arrival[request]).sum())
    counts = np.bincount(request, minlength=70)
    base = int((potentials.least * counts).sum() - potentials.capacity.sum())
    assert swept.least == latency * potentials.unit - base
