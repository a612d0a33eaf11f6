"""Jaillet et al., Section 5.1, arrival model 2: how near MC-SF is to the optimum.

Each stored draw has a schedule better than MC-SF's, and their mean is above the reported one. 20
draws were not enough for the level fixed beforehand, as 200 ratios in [1, 1.227] may scatter
widely; 60 fresh ones are.
"""

from functools import partial

from ratiolab.papers.claim import Claim, Direction, Verdict
from ratiolab.papers.jaillet2025.claims._cases import ARXIV, PAPER
from ratiolab.papers.jaillet2025.claims._section_5_1 import Reported, check, recheck

CLAIM = Claim(
    id="jaillet2025/section-5-1-model-2",
    source=f"{PAPER}, Section 5.1, Arrival Model 2, p. 14-15, {ARXIV}",
    statement="Over 200 draws MC-SF/OPT is 1.047 on average and 1.227 at worst.",
    direction=Direction.EQUAL,
    assumptions=(
        "T uniform on 40..60, Poisson arrivals in rounds 1..T at a rate uniform on [0.5, 1.5]",
        "M uniform on 30..50, s on 1..5, o on 1..M-s",
        "a statement on this distribution, of which the paper's 200 draws are one sample",
    ),
    expected=Verdict.FALSE,
    check=partial(check, 2),
    claimed=Reported(1.047, 1.227),
    control=Reported(1.15, 1.3),
    control_verdict=Verdict.UNDECIDED,
    recheck=partial(recheck, 2),
)
