"""Jaillet et al., Section 5.1: how near MC-SF is to the optimum under both arrival models.

Each stored draw has a schedule better than MC-SF's. For model 1 twenty draws decide. For model 2
twenty were not enough for this level, as 200 ratios in [1, 1.227] may scatter
widely; 60 fresh ones are, and their mean is above the reported one.
"""

from functools import partial

from ratiolab.papers.claim import UNDECIDED, ClaimResult
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._section_5_1 import Reported, check, recheck

SAMPLE = "a statement on this distribution; the paper's 200 draws are one sample"


@PAPER.claim(
    claimed=Reported(1.005, 1.074, 114),
    control=Reported(1.15, 1.3, 0),
    control_verdict=UNDECIDED,
    recheck=partial(recheck, 1),
    assumes=("all at round 0; n uniform on 40..60, M on 30..50, s on 1..5, o on 1..M-s", SAMPLE),
)
def section_5_1_model_1(reported: Reported, slow: bool) -> ClaimResult:
    """Over 200 draws MC-SF/OPT is 1.005 on average and 1.074 at worst, and MC-SF is optimal on 114
    of them.

    Source: Section 5.1, Arrival Model 1, p. 14-15
    Verdict: not reproduced
    """
    return check(1, reported, slow)


@PAPER.claim(
    claimed=Reported(1.047, 1.227),
    control=Reported(1.15, 1.3),
    control_verdict=UNDECIDED,
    recheck=partial(recheck, 2),
    assumes=(
        "T uniform on 40..60, Poisson arrivals in rounds 1..T at a rate uniform on [0.5, 1.5]",
        "M uniform on 30..50, s on 1..5, o on 1..M-s",
        SAMPLE,
    ),
)
def section_5_1_model_2(reported: Reported, slow: bool) -> ClaimResult:
    """Over 200 draws MC-SF/OPT is 1.047 on average and 1.227 at worst.

    Source: Section 5.1, Arrival Model 2, p. 14-15
    Verdict: not reproduced
    """
    return check(2, reported, slow)
