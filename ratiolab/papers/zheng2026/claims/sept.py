"""TIE and SEPT: the score without CVaR, and when sorting by expectation is right."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT, adaptive_beta

F = Fraction
Law = tuple[tuple[int, Fraction], ...]
"""Lengths with their probabilities."""

CAP = 8
# Expected lengths 3 and 11/4 with the cap, 3 and 6 without.
EXAMPLE: tuple[Law, Law] = (((3, F(1)),), ((1, F(3, 4)), (21, F(1, 4))))


@PAPER.claim(
    "relation to SEPT",
    claimed=F(0),
    control=F(1, 10),
    assumes="lengths capped at 2048; SEPT sorts by the capped expectation",
)
def sept_at_beta_0(beta: Fraction) -> ClaimResult:
    """With beta = 0 TIE is SEPT: the score sorts requests by expectation."""
    laws = [LogT(mu / 4, sigma / 10) for mu in range(16, 29) for sigma in (1, 4, 8, 12)]
    by_mean = sorted(laws, key=lambda law: law.capped_mean(2048))
    by_score = sorted(laws, key=lambda law: law.score(float(beta), 2048))
    moved = sum(a != b for a, b in zip(by_mean, by_score, strict=True))
    least = min(
        adaptive_beta(waiting, batch) for batch in (1, 8, 256) for waiting in range(6 * batch)
    )
    return decided(
        not moved,
        f"{len(laws)} laws",
        f"{moved} of {len(laws)} laws stand elsewhere",
        evidence="the score is E + beta CVaR. The adaptive rule min(0.5, max(0.1, 0.1 L_q / B)) "
        f"never comes to 0: its least weight is {least}, at which orders may differ, so TIE as it "
        "runs is not SEPT at low load either",
        witness=f"{moved} laws stand elsewhere",
    )


def recheck_truncation() -> str:
    """Compare both orders of the two requests, and what uncapped expectations would do."""
    served = [_mean(law, CAP) for law in EXAMPLE]
    assert served == [F(3), F(11, 4)]
    assert _flow((1, 0), served) == F(17, 2) < _flow((0, 1), served) == F(35, 4)
    assert _mean(EXAMPLE[1], None) == 6
    return "sorted by capped expectation 17/2, the least; by uncapped expectation 35/4"


@PAPER.claim(
    "relation to SEPT",
    expected=FALSE,
    claimed="capped",
    control="uncapped",
    recheck=recheck_truncation,
    assumes=(
        "one server without preemption, known laws, all requests present at time 0",
        "lengths are capped as TIE caps them, and SEPT sorts by the capped expectation",
    ),
)
def sept_needs_no_truncation(key: str, slow: bool) -> ClaimResult:
    """SEPT minimises the expected completion time only if lengths are not truncated."""
    rng = stream(1983, "cases")
    sets = [EXAMPLE] + [_draw(rng) for _ in range(1000 if slow else 100)]
    failures = []
    for laws in sets:
        means = [_mean(law, CAP if key == "capped" else None) for law in laws]
        served = [_mean(law, CAP) for law in laws]
        order = sorted(range(len(laws)), key=lambda i: means[i])
        if _flow(order, served) > min(_flow(o, served) for o in permutations(order)):
            failures.append(laws)
    needed = bool(failures)
    return decided(
        needed,
        f"{len(sets)} sets of requests" if needed else WITNESSED,
        f"not optimal in {len(failures)} of {len(sets)} sets",
        evidence="one server, no preemption: the expected total completion time is linear in the "
        "expected lengths, so sorting by them is optimal for every law with a finite mean "
        "(exchange), a capped one included; all orders compared exactly. It is the uncapped log-t "
        "law that has no finite expectation to sort by",
        witness="lengths 3, or 1 and 21 with probability 3/4 and 1/4, capped at 8",
    )


def _draw(rng: np.random.Generator) -> tuple[Law, ...]:
    laws = []
    for _ in range(4):
        share = F(int(rng.integers(1, 8)), 8)
        short, long = sorted(int(v) for v in rng.integers(1, 31, 2))
        laws.append(((short, share), (long, 1 - share)))
    return tuple(laws)


def _mean(law: Law, cap: int | None) -> Fraction:
    return sum((p * (length if cap is None else min(length, cap)) for length, p in law), F(0))


def _flow(order: Sequence[int], means: Sequence[Fraction]) -> Fraction:
    """Return the expected total completion time of requests that wait at time 0, one after the
    other.
    """
    return sum(((len(order) - k) * means[i] for k, i in enumerate(order)), F(0))
