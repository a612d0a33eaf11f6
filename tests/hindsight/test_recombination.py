"""Paths made of known ones are paths, cost what they say, and none of that kind is cheaper."""

from itertools import product

import numpy as np
import pytest

from ratiolab.hindsight.labelling import recombination
from ratiolab.hindsight.labelling.cutting_planes import CuttingPlanes
from ratiolab.hindsight.labelling.recombination import Path, Recombination
from ratiolab.model import Instance
from ratiolab.model.footprint import held


def fits(instance: Instance, path: Path) -> bool:
    """Return whether all that a path starts fits at all times."""
    used: dict[int, int] = {}
    for start, i in path:
        for age in range(1, int(instance.output[i]) + 1):
            used[start + age] = used.get(start + age, 0) + int(held(int(instance.prompt[i]), age))
    return max(used.values()) <= instance.memory


def drawn(instance: Instance, rng: np.random.Generator, number: int) -> Path:
    """Return a path of random starts, some of the same request."""
    path: Path = []
    for _ in range(number):
        i = int(rng.integers(len(instance)))
        start = (int(instance.arrival[i]) + int(rng.integers(0, 14)), i)
        if start not in path and fits(instance, [*path, start]):
            path.append(start)
    return sorted(path)


def instance_of(rng: np.random.Generator, n: int = 5) -> Instance:
    prompt, output = rng.integers(1, 4, n), rng.integers(1, 5, n)
    return Instance("drawn", 10, np.sort(rng.integers(0, 3, n)), prompt, output)


def known_of(rng: np.random.Generator, paths: int, starts: int) -> Recombination:
    known = Recombination(instance_of(rng))
    for _ in range(paths):
        known.add(drawn(known.instance, rng, starts))
    return known


def value_of(instance: Instance, path: Path, multipliers: np.ndarray) -> float:
    planes = CuttingPlanes(instance)
    planes.add(path)
    return planes.value(multipliers)


@pytest.mark.parametrize("seed", range(40))
def test_a_path_made_of_others_fits_costs_what_it_says_and_no_more_than_these(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = known_of(rng, 6, 9)
    instance = known.instance
    for _ in range(5):
        multipliers = rng.uniform(0, 15, len(instance))
        value, path = known.cheapest(multipliers)
        assert fits(instance, path)
        assert value == pytest.approx(value_of(instance, path, multipliers))
        least = min(value_of(instance, one, multipliers) for one in known.paths)
        assert value <= least + 1e-9


def switched(instance: Instance, one: Path, other: Path, t: int) -> Path:
    return [s for s in one if s[0] < t] + [s for s in other if s[0] >= t]


@pytest.mark.parametrize("seed", range(40))
def test_no_single_switch_that_fits_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = known_of(rng, 4, 7)
    instance = known.instance
    multipliers = rng.uniform(0, 15, len(instance))
    value, _ = known.cheapest(multipliers)
    made = [
        switched(instance, one, other, t)
        for one, other in product(known.paths, repeat=2)
        for t in range(known.end)
    ]
    fitting = [path for path in made if path and fits(instance, path)]
    assert value <= min(value_of(instance, path, multipliers) for path in fitting) + 1e-9


def test_two_paths_give_the_early_starts_of_one_and_the_late_ones_of_the_other() -> None:
    instance = Instance("four", 10, [0] * 4, [4] * 4, [2] * 4)
    known = Recombination(instance)
    known.add([(0, 0), (2, 0), (4, 2), (6, 3)])
    known.add([(0, 0), (2, 1), (4, 2), (6, 2)])
    value, path = known.cheapest(np.full(4, 20.0))
    assert len(path) == 4
    multipliers = np.array([20.0, 30.0, 20.0, 30.0])
    value, path = known.cheapest(multipliers)
    assert path == [(0, 0), (2, 1), (4, 2), (6, 3)]
    assert value == 2 + 4 + 6 + 8


def test_old_paths_make_room_and_a_later_end_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recombination, "MOST", 3)
    rng = np.random.default_rng(0)
    instance = instance_of(rng)
    known = Recombination(instance)
    for late in range(7):
        known.add([(start + late, i) for start, i in drawn(instance, rng, 6)])
        assert len(known.paths) == min(3, late + 1)
        assert fits(instance, known.cheapest(rng.uniform(0, 20, len(instance)))[1])
