"""Jaillet et al., Appendix B.3: the lemmas of Section 4 with predictions from o to a o.

Lengths are predicted; classes, orders and the sums over "n~" are those of the predictions.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, product

from ratiolab.model.streams import stream
from ratiolab.papers.claim import PROVED, TIGHTENED, ClaimResult, decided, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER
from ratiolab.papers.jaillet2025.claims._bounds import (
    first_finishes,
    judge_classes,
    judge_lower,
    judge_upper,
    quotients,
)
from ratiolab.papers.jaillet2025.claims._cases import Case
from ratiolab.theory.worst_case.equal_prompts import Factors

STRETCH = 3
SQUARE, CUBE = STRETCH**2, STRETCH**3
LOWER = Factors(Fraction(1, 2 * SQUARE), Fraction(1, 3 * STRETCH))
"""The sharper Lemma 4.7 for the true lengths, with vol(o) >= vol(o~)/a^2."""


def small() -> Iterator[Case]:
    """Yield four requests of 1, 2 or 4 tokens, each predicted right or three times too long."""
    for outputs in combinations_with_replacement((1, 2, 4), 4):
        for mask in product((1, STRETCH), repeat=4):
            yield _sorted(0, [(o * m, o) for o, m in zip(outputs, mask, strict=True)])


def drawn(cases: int) -> Iterator[Case]:
    """Yield up to 160 requests whose predictions are up to three times too long."""
    rng = stream(3, "instance")
    for _ in range(cases):
        n, prompt = int(rng.integers(5, 161)), int(rng.choice([0, 1, 9]))
        true = rng.integers(1, int(rng.choice([3, 12, 40])) + 1, n).tolist()
        yield _sorted(prompt, [(int(rng.integers(o, STRETCH * o + 1)), o) for o in true])


def _sorted(prompt: int, pairs: list[tuple[int, int]]) -> Case:
    predicted, outputs = zip(*sorted(pairs), strict=True)
    return Case(prompt, outputs, 2 * (prompt + predicted[-1]), predicted)


@cache
def many(slow: bool) -> list[Case]:
    """Return the cases in which MC-SF is run."""
    return [*small(), *drawn(400 if slow else 40)]


lemma = partial(
    PAPER.claim,
    expected=TIGHTENED,
    assumes=(
        "all requests arrive at round 0 with the same prompt; o <= prediction <= a o, here a = "
        f"{STRETCH}; M >= 2 max(s + prediction)",
        "W, A and C are the paper's sums, of predicted outputs and their volumes",
    ),
    proof="predictions",
)


@lemma(
    claimed=Factors(Fraction(192 * SQUARE), Fraction(5)),
    control=Factors(Fraction(1, 2), Fraction(1, 2)),
)
def lemma_b_1(claimed: Factors, slow: bool) -> ClaimResult:
    """The requests predicted from 2^l to B = 2^(l+1) - 1 are processed within 192 a^2 W/M + 5 B
    rounds from first to last. (The proof has a^3 in place of a^2.)

    Source: Lemma B.1, p. 29
    """
    return judge_classes(claimed, many(slow))


@lemma(
    claimed=Factors(Fraction(1536 * CUBE), Fraction(24)),
    control=Factors(Fraction(1, 4), Fraction(1, 4)),
)
def lemma_b_3(claimed: Factors, slow: bool) -> ClaimResult:
    """MC-SF has total latency at most 1536 a^3 A/M + 24 C.

    Source: Lemma B.3, p. 30
    """
    return judge_upper(claimed, many(slow))


@lemma(
    claimed=Factors(Fraction(1, 6 * SQUARE), Fraction(1, 6 * STRETCH)),
    control=Factors(Fraction(1, 2), Fraction(1, 3)),
)
def lemma_b_4(claimed: Factors) -> ClaimResult:
    """The optimal total latency is at least A/(6 M a^2) + C/(6 a).

    Source: Lemma B.4, p. 31
    """
    return judge_lower(claimed, LOWER, list(small()))


@PAPER.claim(
    claimed="shorter",
    control="shorter and equal",
    assumes=f"program (9) with a^2 M in place of M, a = {STRETCH}; outputs are the predicted ones",
)
def claim_b_5(counted: str, slow: bool) -> ClaimResult:
    """In the optimal solution of the program with predictions, the first time at which a request of
    the next length finishes is at least 1/(M a^2) times the volume of all shorter ones.

    Source: Claim B.5, p. 32
    Proof: claim_4_8
    """
    lengths, broken = first_finishes([*small(), *drawn(60 if slow else 15)], counted, SQUARE)
    return decided(not broken, PROVED, broken or f"true of {lengths} lengths", witness=broken)


BEST = Fraction(1, 2 * SQUARE)
"""The proved factor of Claim B.2; the proof stands at the end of proofs/claim_4_6.md."""


@PAPER.claim(
    claimed=Fraction(1, 4 * SQUARE), control=Fraction(2), assumes=f"as in Lemma B.1, a = {STRETCH}"
)
def claim_b_2(factor: Fraction, slow: bool) -> ClaimResult:
    """Cut the time in which MC-SF processes a class into intervals of its largest predicted output
    B: in any three consecutive ones the class has true volume at least peak(middle) vol(B)/(4 a^2
    (s + B)).

    Source: Claim B.2, p. 29
    Verdict: tightened
    Proof: claim_4_6
    """
    found = [quotient for case in many(slow) for quotient in quotients(case)]
    broken, least = sum(quotient < factor for quotient in found), min(found)
    return ClaimResult(
        verdict_on_bound(broken > 0, factor <= BEST <= least, factor == BEST),
        PROVED if factor <= BEST else f"{len(found)} triples of intervals",
        f"volume >= {BEST} peak vol(B)/(s + B), {float(BEST):.4f} for a = {STRETCH}; least "
        f"quotient found {float(least):.4f}",
        evidence=f"{len(found)} triples of intervals in simulations. The printed step that only "
        "the class is in memory at the peak fails in the last interval but one, as in Claim 4.6; "
        "the repair of that proof covers predictions, too",
        witness=f"{broken} triples" if broken else None,
    )
