"""What the claims on Section 4 of Jaillet et al. rest on, by routes of their own."""

from fractions import Fraction

import pytest

from ratiolab.papers import Verdict
from ratiolab.papers.jaillet2025.claims import _cases
from ratiolab.papers.jaillet2025.claims.lemmas import GAP, claim_4_6, lemma_4_4, lemma_4_7
from ratiolab.papers.jaillet2025.claims.proposition_4_2 import proposition_4_2
from ratiolab.papers.jaillet2025.claims.theorems import (
    WITNESS,
    climb,
    ratio,
    theorem_4_1,
    theorem_4_3,
)
from ratiolab.papers.witness import read_witness
from ratiolab.theory.worst_case import equal_prompts


@pytest.mark.long
def test_the_proven_constants_themselves_hold_and_slightly_better_ones_stay_undecided() -> None:
    assert lemma_4_4.check(equal_prompts.UPPER).verdict is Verdict.HOLDS
    assert lemma_4_7.check(equal_prompts.LOWER).verdict is Verdict.HOLDS
    assert claim_4_6.check(Fraction(1, 2)).verdict is Verdict.HOLDS
    assert theorem_4_3.check(Fraction(7, 3)).verdict is Verdict.HOLDS
    assert theorem_4_3.check(Fraction(2)).verdict is Verdict.UNDECIDED
    assert theorem_4_1.check(Fraction(1, 10)).verdict is Verdict.UNDECIDED
    assert proposition_4_2.check("harmonic").verdict is Verdict.HOLDS


def test_a_longer_request_is_in_memory_at_the_peak_that_claim_4_6_counts() -> None:
    schedule = GAP.mc_sf()
    # class {2, 3}: starts 0, 0, 1, 2, 4, processed in times 1..7, intervals 1..3, 4..6, 7
    assert schedule.starts.tolist() == [0, 0, 1, 2, 4, 4]
    usage = schedule.usage().tolist()
    # time 5: outputs 3, 3 started in 2 and 4 hold 6 + 4, output 4 started in 4 holds 4
    held = {3 + 5 - 2, 3 + 5 - 4}
    assert max(usage[4:7]) == usage[5] == sum(held) + 4


def test_the_worst_tiny_instance_is_exactly_22_over_19() -> None:
    instance = read_witness(WITNESS).instance
    outputs = tuple(instance.output.tolist())
    assert ratio(_cases.Case(2, outputs, instance.memory)) == Fraction(22, 19)


def test_climbing_is_reproducible_and_never_exceeds_the_proven_ratio() -> None:
    first = climb(3, 5, 25, 4)
    assert first == climb(3, 5, 25, 4)
    assert 1 <= first[0] <= 4


@pytest.mark.slow
def test_no_climb_passes_the_witness_and_some_come_near_it() -> None:
    found = [climb(seed, 8, 200, 5) for seed in (0, 2, 8, 9, 11)]
    ratios = [Fraction(*each) for each in ((21, 19), (31, 28), (9, 8), (26, 23), (15, 13))]
    assert [highest for highest, _ in found] == ratios
    assert max(ratios) < Fraction(22, 19)
    assert found[-1][1] == _cases.Case(1, (2, 2, 2, 3, 3, 4, 4, 4), 10)
