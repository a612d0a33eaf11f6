"""Better multipliers: potentials fit them, planes bound them, and what is proven is certified."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from oracle import least_latency
from scipy.optimize import linprog
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.paths import bundle
from ratiolab.hindsight.paths import refit as refits
from ratiolab.hindsight.paths.bundle import BEAM, FIRST_BEAM, FIRST_STEPS, Ascent
from ratiolab.hindsight.paths.climb import Climb
from ratiolab.hindsight.paths.planes import Planes
from ratiolab.hindsight.paths.potentials import Potentials
from ratiolab.hindsight.paths.refit import Refit
from ratiolab.hindsight.paths.walk import walk
from ratiolab.hindsight.paths.walked import Walked
from ratiolab.hindsight.paths.widths import Effort, Plan
from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model import Instance
from ratiolab.model.footprint import IntArray


def nine() -> Instance:
    rng = np.random.default_rng(2)
    prompt = rng.integers(1, 4, 9)
    output = [int(rng.integers(1, 16 - s)) for s in prompt]
    return Instance("nine", 16, [0] * 9, prompt, output)


def test_the_refit_of_the_multipliers_of_a_program_gives_its_bound() -> None:
    """At the program's own multipliers no potentials can do better than its duals."""
    for seed in range(8):
        instance = tiny(seed, most=5, longest=4) if seed else nine()
        proven = cut_bound(instance, rounds=4).certificate
        least = Potentials.of(instance, proven.duals).least / 2**20
        potentials, multipliers, made = Refit(instance, proven.duals)(least)
        assert abs(made.bound - proven.bound) <= 1
        assert (multipliers <= potentials.least).all()
        assert (np.abs(multipliers / 2**20 - least) < 1e-3).all()
        assert certify(made, instance) == made.bound


@pytest.mark.long
def test_multipliers_rise_where_there_are_no_duals_and_the_cheapest_path_starts_nobody() -> None:
    """As after a time limit that ends before the first linear program is solved."""
    instance, none = nine(), Duals(10**9, (0,) * 30, (), ())
    first = Potentials.of(instance, none).least / 2**20
    ascent = Ascent(Refit(instance, none), first, lambda: 10_000)
    for _ in range(FIRST_STEPS):
        ascent.step(lambda: False)
    assert [] in ascent.switches.paths
    assert instance.output.sum() < ascent.best <= least_latency(instance)


def all_starts(refit: Refit) -> tuple[FloatArray, IntArray]:
    """Return what weights pay to each start, entry by entry; its request and latency."""
    instance, horizon = refit.instance, refit.horizon
    paid, latency = [], []
    for i, (arrival, s, o) in enumerate(instance.requests):
        for start in range(arrival, horizon):
            row = []
            for table, begin, end in refit.rows:
                items = [
                    (s + age, o - age) for age in range(1, o + 1) if begin <= start + age < end
                ]
                if table < 0:
                    row.append(sum(m for m, _ in items) / instance.memory)
                else:
                    weight = refit.duals.tables[table]
                    dense = weight.dense(instance.memory)
                    row.append(sum(dense[m, r] for m, r in items) / weight.cap)
            paid.append(row)
            latency.append((i, start + o - arrival))
    return np.array(paid), np.array(latency)


def test_refits_are_the_best_of_the_program_with_all_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One refit follows another: starts join the program, and those with slack leave it."""
    instance = nine()
    duals = cut_bound(instance, rounds=4).certificate.duals
    rng, sizes = np.random.default_rng(0), []
    first = Potentials.of(instance, duals).least / 2**20
    paid, latency = all_starts(Refit(instance, duals))
    for together, most in ((1, 9), (4, 1), (16, 2)):
        monkeypatch.setattr(refits, "TOGETHER", together)
        monkeypatch.setattr(refits, "MOST_STARTS", most)
        refit, changed = Refit(instance, duals), []
        for _ in range(8):
            wanted = first + rng.normal(0, 3, len(first))
            potentials, multipliers, _ = refit(wanted)
            spent = potentials.capacity.sum() / potentials.unit
            cost = [float(end - begin) for _, begin, end in refit.rows]
            best = linprog(cost, -paid, latency[:, 1] - wanted[latency[:, 0]]).fun
            assert abs(spent - best) < 1e-3
            assert (np.abs(multipliers / potentials.unit - wanted) < 1e-3).all()
            changed.append(len(refit.inside))
        sizes.append(changed)
    assert sizes[0] == sorted(sizes[0])
    assert any(after < before for before, after in pairwise(sizes[1]))
    assert sizes[2][0] < sizes[0][0] < len(refit.owner)


def test_a_walk_says_how_many_states_each_layer_had_before_some_were_left_out() -> None:
    refit, first = risen()[1:3]
    passes = Ascent(refit, first, lambda: 10**4).passes(first, refit(first)[2].bound + 12)
    given = refit.instance, passes.sides[1], passes.limit
    whole, beam = walk(*given, 10**5), walk(*given, 5)
    assert 1 + sum(whole.within) == whole.states
    assert sum(beam.within) > beam.states
    assert max(beam.within) > 5
    assert len(beam.within) == len(whole.within) == passes.sides[1].end


def test_multipliers_rise_above_those_of_the_program_and_prove_no_more_than_the_optimum() -> None:
    instance = nine()
    optimum = least_latency(instance)
    proven = cut_bound(instance, rounds=1).certificate
    first = Potentials.of(instance, proven.duals).least / 2**20
    values = []
    refit = Refit(instance, proven.duals)
    search = bundle.steps(refit, first, lambda: optimum + 4, 10**5, lambda: False)
    for number, (value, passes) in enumerate(search):
        values.append(value)
        if passes is not None:
            assert passes.bound <= optimum
            assert certify(passes.certificate(), instance) == passes.bound
        if number == 6:
            break
    assert values == sorted(values)
    assert values[0] + 0.1 < values[-1] <= optimum


def risen() -> tuple[int, Refit, FloatArray, float]:
    """Return the optimum of nine requests, what steps begin with, and how far walks rise."""
    instance = nine()
    optimum = least_latency(instance)
    proven = cut_bound(instance, rounds=1).certificate
    first = Potentials.of(instance, proven.duals).least / 2**20
    refit = Refit(instance, proven.duals)
    steps = bundle.steps(refit, first, lambda: optimum + 4, 10**5, lambda: False)
    return optimum, refit, first, max(value for value, _ in steps)


def test_beams_rise_as_far_as_complete_walks_and_later_ones_correct_earlier() -> None:
    """Of nine requests a beam leaves out nothing; one of a state finds dearer paths than there are.

    What such a beam takes for the value of its multipliers falls to the planes of later paths.
    """
    optimum, refit, first, best = risen()
    ascent = Ascent(refit, first, lambda: optimum + 4)
    while ascent.step(lambda: False)[1]:
        assert ascent.best <= ascent.planes.value(ascent.center) + 1e-9
    assert np.isclose(ascent.best, best, atol=0.05)
    assert Ascent(refit, first, lambda: optimum).step(lambda: True) == (None, False)


def test_a_wide_beam_looks_again_at_the_best_multipliers_of_narrow_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = nine()
    optimum = least_latency(instance)
    proven = cut_bound(instance, rounds=1).certificate
    first = Potentials.of(instance, proven.duals).least / 2**20
    for steps, soon in ((FIRST_STEPS, False), (3, True)):
        ascent = Ascent(Refit(instance, proven.duals), first, lambda: optimum + 4)
        widths: list[int] = []

        def noted(*given: Any, widths: list[int] = widths, **more: Any) -> Walked:
            widths.append(given[3])
            return walk(*given, **more)

        monkeypatch.setattr(bundle, "walk", noted)
        for _ in range(steps):
            ascent.step(lambda: False)
        assert widths == [BEAM] + [FIRST_BEAM] * (steps - 1)
        assert ascent.narrow
        if soon:
            ascent.widen()
        center, ascent.best = ascent.center, optimum + 100.0  # more than there is
        ascent.step(lambda: False)
        assert widths[-1] == BEAM
        assert not ascent.narrow
        assert (ascent.center == center).all()
        assert ascent.best <= optimum


def test_a_walk_that_proves_less_than_a_beam_says_corrects_it() -> None:
    instance = nine()
    optimum = least_latency(instance)
    proven = cut_bound(instance, rounds=1).certificate
    first = Potentials.of(instance, proven.duals).least / 2**20
    ascent = Ascent(Refit(instance, proven.duals), first, lambda: optimum + 4)
    ascent.step(lambda: False)
    true, planes = ascent.best, len(ascent.planes.height)
    passes = ascent.passes(ascent.center, optimum + 4)
    walked = passes.merge(10**5)
    ascent.best = optimum + 100.0
    ascent.known(passes, walked)
    assert np.isclose(ascent.best, true, atol=0.01)
    assert len(ascent.planes.height) >= planes


def test_the_best_of_planes_is_that_of_a_search_over_a_grid() -> None:
    """Two requests: the value of the penalised program against all points of a fine grid."""
    instance = Instance("two", 9, [0, 0], [1, 1], [2, 3])
    planes = Planes(instance)
    assert planes.add([(0, 0), (4, 0)])
    assert planes.add([(1, 1), (2, 1), (5, 1)])
    assert planes.add([(0, 0), (1, 1)])
    assert not planes.add([(0, 0), (1, 1)])
    center, weight = np.array([3.0, 4.0]), 0.7
    found, value = planes.best(center, weight)

    def worth(v: np.ndarray) -> float:
        below = float((planes.slope @ v + planes.height).min())
        return below - float(((v - center) ** 2).sum()) / (2 * weight)

    grid = np.arange(-3, 10, 0.02)
    best = max(worth(np.array([x, y])) for x in grid for y in grid[::5])
    assert worth(found) >= best - 1e-3
    assert value == float((planes.slope @ found + planes.height).min())


def test_a_weight_meets_its_level_and_planes_allow_no_more_than_their_linear_program() -> None:
    """Any smaller weight stays below the level; a level beyond all weights takes the largest."""
    rng = np.random.default_rng(5)
    checked = bounded = 0
    for seed in range(30):
        n = int(rng.integers(2, 6))
        planes = Planes(Instance("some", 9, [0] * n, [1] * n, [2] * n))
        planes.slope = rng.integers(-2, 2, (12, n)).astype(float)
        planes.height = rng.integers(0, 40, 12).astype(float)
        center, most = rng.uniform(0, 9, n), 35.0
        weight, largest = planes.weight(center, 0.5, most)
        columns = np.hstack([-planes.slope, np.ones((12, 1))])
        limit = linprog([0] * n + [-1], columns, planes.height, bounds=[(None, None)] * (n + 1))
        truth = min(most, -limit.fun if limit.status == 0 else np.inf)
        least = planes.value(center)
        assert least - 1e-9 <= largest <= truth + 1e-6, seed
        bounded += largest < most
        level = least + 0.5 * (largest - least)
        assert planes.best(center, weight)[1] >= level - 0.01, seed
        if weight > 0.12 and largest > least + 0.1:
            checked += 1
            assert planes.best(center, 0.9 * weight)[1] < level + 0.01, seed
    assert checked > 5
    assert bounded > 5


def test_steps_by_levels_come_as_far_and_end_where_planes_allow_no_more() -> None:
    optimum, refit, first, best = risen()
    ascent = Ascent(refit, first, lambda: optimum + 4)
    assert ascent.promising
    ascent.step(lambda: False)
    ascent.by_levels()
    for _ in range(60):
        assert ascent.promising == (ascent.most - ascent.best >= 0.03 * (optimum + 4 - ascent.best))
        if not ascent.promising:
            break
        ascent.step(lambda: False)
    assert not ascent.promising
    assert best - 0.15 <= ascent.best <= ascent.most + 1e-6
    assert ascent.most <= best + 0.15


def test_a_climb_that_gains_little_goes_on_by_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = nine()
    proven = cut_bound(instance, rounds=1).certificate
    upper = least_latency(instance) + 4
    first = Potentials.of(instance, proven.duals).least / 2**20
    ascent = Ascent(Refit(instance, proven.duals), first, lambda: upper)
    never, plan = (lambda: False), Plan(lambda: np.inf, 10**5, Effort(10**6, 10**6, 0.0, 10**5))
    climb = Climb(ascent, plan, never, lambda passes: None, lambda values: len(values) < 3)
    monkeypatch.setattr(climb, "_prove", lambda *given, **more: False)
    assert not climb.run(80, None)
    assert ascent.levels
    assert not ascent.promising
    assert 3 < len(climb.values) < 80
