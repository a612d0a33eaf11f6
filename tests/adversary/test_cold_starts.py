"""What the search finds from nothing: the ratios that earlier searches by hand had found."""

from fractions import Fraction

import pytest

from ratiolab.adversary import Limits, attack
from ratiolab.online import make

PROMPTS = Limits(prompts="any", requests=12, memory=4096)
WORST = {"ties": "worst"}

COLD = [
    ("mc-sf", {}, Limits(requests=15, memory=21), 600, Fraction(192, 150)),
    ("svf", {}, PROMPTS, 1100, Fraction(555, 110)),
    ("gba", {}, Limits(), 140, Fraction(333, 133)),
    ("gsa", {}, Limits(), 3000, Fraction(724, 129)),
    ("kill-restart", {}, Limits(), 640, 3.52),
    ("a-min", WORST, Limits(), 340, 4.12),
    ("a-max", WORST, Limits(), 400, 7.18),
    ("a-ell", WORST, Limits(), 500, 6.41),
    ("alpha-beta-clearing", {}, Limits(), 250, 3.85),
    ("fcfs", {}, Limits(), 4000, 4.04),
    ("mc-benchmark", {}, Limits(), 5000, 4.7),
    ("sorted-f", {}, Limits(prompts="any", requests=9, memory=20), 10_000, Fraction(185, 115)),
]
"""Policy, limits, evaluations of each search, and the ratio that was known."""

SEARCHES = {"sorted-f": 2}
"""Searches, with seeds 0, 1, ...; one where none are named. From seed 0 alone Sorted-F stays below
1.57 in half a minute; from seed 1 it is at 1.64 after six seconds."""


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "parameters", "limits", "evaluations", "known"), COLD)
def test_a_cold_start_comes_to_what_was_known(policy, parameters, limits, evaluations, known):
    found = [
        attack(
            make(policy, parameters),
            limits,
            seed=seed,
            evaluations=evaluations,
            runs=200,
            proof_seconds=300.0,
        )
        for seed in range(SEARCHES.get(policy, 1))
    ]
    worst = max(found, key=lambda one: one.ratio)
    assert worst.optimum.is_exact
    assert worst.ratio >= known
