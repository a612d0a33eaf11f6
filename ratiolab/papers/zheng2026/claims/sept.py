"""TIE and SEPT: is the weight of CVaR ever 0, and when is sorting by expectation right?"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np

from ratiolab.papers.claim import FALSE, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import LogT, adaptive_beta

F = Fraction
Beta = Callable[[int, int], Fraction]
Law = tuple[tuple[int, Fraction], ...]
"""Lengths with their probabilities."""

CAP = 8
# Expected lengths 3 and 11/4 with the cap, 3 and 6 without.
EXAMPLE: tuple[Law, Law] = (((3, F(1)),), ((1, F(3, 4)), (21, F(1, 4))))


def recheck_weight() -> str:
    """Evaluate the rule at the empty queue and beyond."""
    assert adaptive_beta(0, 8) == adaptive_beta(8, 8) == F(1, 10)
    assert adaptive_beta(40, 8) == F(1, 2)
    return "the weight is 1/10 up to L_q = B and 1/2 from L_q = 5 B on"


@PAPER.claim(
    "adaptive beta, and relation to SEPT",
    expected=FALSE,
    claimed=adaptive_beta,
    control=lambda waiting, batch: min(F(1, 2), F(waiting, 10 * batch)),
    recheck=recheck_weight,
    assumes="beta = min(0.5, max(0.1, 0.1 L_q / B)), queue L_q, maximum batch B",
)
def sept_never_reached(beta: Beta) -> ClaimResult:
    """TIE contains SEPT: its adaptive weight beta becomes 0, at low load."""
    sizes = [(waiting, batch) for batch in (1, 8, 256) for waiting in range(6 * batch)]
    least = min(beta(*size) for size in sizes)
    steady, risky = LogT(5.6, 0.1), LogT(5, 0.8)
    weight = F(1, 10)
    changed = steady.score(0, 2048) > risky.score(0, 2048) and steady.score(
        float(weight), 2048
    ) < risky.score(float(weight), 2048)
    reached = least == 0
    return decided(
        reached,
        f"{len(sizes)} pairs" if reached else "proved",
        "beta = 0 at some load",
        f"least beta {least}; a weight of 1/10 changes orders: {'yes' if changed else 'no'}",
        "beta = min(1/2, max(1/10, L_q/(10 B))) is at least 1/10. Not the same order: for lengths "
        "log-t (5.6, 0.1) and (5, 0.8), cap 2048, SEPT serves the second first, 1/10 the first",
        "beta = 1/10 with an empty queue",
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
    rng = np.random.default_rng(1983)
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
        f"{len(sets)} sets of requests" if needed else "proved",
        f"under a cap the order of least {key} expectation is not optimal",
        f"not optimal in {len(failures)} of {len(sets)} sets",
        "one server, no preemption: the expected total completion time is linear in the expected "
        "lengths, so sorting by them is optimal for every law with a finite mean (exchange), "
        "a capped one included; all orders compared exactly. It is the uncapped log-t law that has "
        "no finite expectation to sort by",
        "lengths 3, or 1 and 21 with probability 3/4 and 1/4, capped at 8",
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
