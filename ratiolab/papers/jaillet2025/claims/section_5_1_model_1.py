"""Jaillet et al., Section 5.1, arrival model 1: how near MC-SF is to the optimum."""

from functools import partial

from ratiolab.papers.claim import Claim, Direction, Verdict
from ratiolab.papers.jaillet2025.claims._cases import ARXIV, PAPER
from ratiolab.papers.jaillet2025.claims._section_5_1 import Reported, check, recheck

CLAIM = Claim(
    id="jaillet2025/section-5-1-model-1",
    source=f"{PAPER}, Section 5.1, Arrival Model 1, p. 14-15, {ARXIV}",
    statement=(
        "Over 200 draws MC-SF/OPT is 1.005 on average and 1.074 at worst, and MC-SF is optimal on "
        "114 of them."
    ),
    direction=Direction.EQUAL,
    assumptions=(
        "all at round 0; n uniform on 40..60, M on 30..50, s on 1..5, o on 1..M-s",
        "a statement on this distribution, of which the paper's 200 draws are one sample",
    ),
    expected=Verdict.FALSE,
    check=partial(check, 1),
    claimed=Reported(1.005, 1.074, 114),
    control=Reported(1.15, 1.3, 0),
    control_verdict=Verdict.UNDECIDED,
    recheck=partial(recheck, 1),
)
