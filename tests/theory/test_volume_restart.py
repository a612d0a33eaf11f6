"""The fluid cost of caps in volume: by a second route, its suprema, and that nothing beats V."""

from math import sqrt

import numpy as np
import pytest
import sympy as sp

from ratiolab.theory.bounds import evaluate
from ratiolab.theory.laws.distributions import LengthDistribution, from_weights
from ratiolab.theory.limits.volume_restart import (
    BEST_BASE,
    adversarial_order,
    best,
    constant,
    ratio,
)


def atoms(law: LengthDistribution, prompt: int = 0) -> list[tuple[float, float]]:
    """Return the law of the volumes of requests with one prompt whose outputs have a law."""
    return [
        (float(prompt * o + o * (o + 1) / 2), float(p))
        for o, p in zip(law.lengths.tolist(), law.probabilities, strict=True)
        if p
    ]


LAWS = {
    "two": [(1.0, 0.7), (50.0, 0.3)],
    "three": [(1.0, 0.5), (3.0, 0.3), (200.0, 0.2)],
    "uniform": atoms(from_weights(1, [1] * 12), prompt=3),
}


def drawn_ratio(law, base, offset, requests=40_000, seed=0):
    """Return the ratio of requests with drawn volumes, each served in the order of its caps."""
    rng = np.random.default_rng(seed)
    volumes = rng.choice([v for v, _ in law], requests, p=[p for _, p in law])
    least = law[0][0]
    if offset == "request":
        shift = rng.random(requests)
    else:
        shift = np.full(requests, rng.random() if offset == "run" else 0.0)
    caps, works, ends, who = [], [], [], []
    for k in range(60):
        cap = least * base ** (k + shift)
        live = volumes > (least * base ** (k - 1 + shift) if k else 0.0)
        if not live.any():
            break
        caps.append(cap[live])
        works.append(np.minimum(cap, volumes)[live])
        ends.append((volumes <= cap)[live])
        who.append(rng.random(live.sum()))
    order = np.lexsort((np.concatenate(who), np.concatenate(caps)))
    time = np.cumsum(np.concatenate(works)[order])
    cost = time[np.concatenate(ends)[order]].sum()
    return cost / np.cumsum(np.sort(volumes)).sum()


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("base", [2.0, 5.0, BEST_BASE])
def test_the_formula_is_what_drawn_requests_cost(name, base):
    law = LAWS[name]
    assert ratio(law, base) == pytest.approx(drawn_ratio(law, base, "request"), rel=0.02)
    assert ratio(law, base, "none") == pytest.approx(drawn_ratio(law, base, "none"), rel=0.02)
    runs = np.mean([drawn_ratio(law, base, "run", 4000, seed) for seed in range(60)])
    assert ratio(law, base, "run") == pytest.approx(runs, rel=0.04)


def test_the_constants_are_minima_and_the_catalogue_has_them():
    for offset in ("request", "run", "none"):
        base, value = best(offset)
        for near in (0.9, 1.1):
            assert float(constant(base * near, offset)) > float(value)
    assert float(best("run")[1]) == pytest.approx(3.0311, abs=1e-4)
    assert evaluate("volume-restart").value == pytest.approx(2.72837, abs=1e-5)
    assert evaluate("volume-restart/deterministic").value == pytest.approx(1 + 3 * sqrt(3))
    b = sp.Symbol("b", positive=True)
    assert sp.simplify(sp.diff(adversarial_order(b), b).subs(b, 3)) == 0
