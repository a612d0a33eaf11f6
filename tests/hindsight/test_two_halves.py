"""Optima that walks have proven, by another exact route: `two_halves` says how."""

import numpy as np
import pytest
from oracle import least_latency
from test_pruning_rules import drawn_duals
from tiny_instances import tiny
from two_halves import TwoHalves

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.workloads.generators import generate


def agrees(seed: int) -> None:
    """The optimum of brute force is what the halves refute one below and not itself."""
    instance = tiny(seed, most=6, longest=6)
    duals = drawn_duals(instance, np.random.default_rng(seed))
    if seed % 2 == 0:
        duals = cut_bound(instance, rounds=seed // 2 % 3).certificate.duals
    halves, optimum = TwoHalves(instance, duals), least_latency(instance)
    for part in (0.1, 0.5, 0.8):
        assert halves.refutes(optimum - 1, part), (seed, part)
        assert not halves.refutes(optimum, part), (seed, part)


@pytest.mark.long
def test_halves_find_the_optimum_of_brute_force() -> None:
    for seed in range(1_000):
        agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "optimum", "watched"), [(20, 1370, 972_600)])
def test_halves_refute_what_is_below_the_optima_that_walks_have_proven(
    n: int, optimum: int, watched: int
) -> None:
    """Which requests are watched is a hint of the walks: without it, all of them, slower."""
    instance = generate("jaillet-model-1", 0, n_least=n, n_most=n)
    cuts = cut_bound(instance, rounds=40, target=optimum).certificate
    assert certify(cuts, instance) == cuts.bound < optimum
    assert TwoHalves(instance, cuts.duals).refutes(optimum - 1, 0.5, watched)
