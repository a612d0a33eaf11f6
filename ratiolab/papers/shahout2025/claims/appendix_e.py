"""TRAIL, Appendix E: the distribution of refined predictions, and the worst rank to come."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from ratiolab.papers.claim import WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER

F = Fraction
SIZES = {1: F(1, 2), 2: F(1, 2)}
VALUES = (1, 2, 3)


def path(size: int, predictions: tuple[int, ...]) -> Fraction:
    """Return the probability of predictions given the size: right with probability one half."""
    chance = F(1)
    for age, value in enumerate(predictions):
        chance *= F(1, 2) if value == size - age else F(1, 4)
    return chance


Law = Callable[[int, tuple[int, ...]], Fraction]


def summed(size: int, _: tuple[int, ...]) -> Fraction:
    """Return g as printed: the chances of all predictions of a job of this size, added up."""
    return sum((path(size, p) for p in product(VALUES, repeat=size)), F(0))


def joint(size: int, predictions: tuple[int, ...]) -> Fraction:
    """Return the joint distribution: the share of the size times the chance of its predictions."""
    return SIZES[size] * path(size, predictions)


def recheck_law() -> str:
    """Add up the printed sum for both sizes."""
    assert summed(1, (1,)) == summed(1, (3,)) == summed(2, (2, 1)) == 1
    assert sum(joint(s, p) for s in SIZES for p in product(VALUES, repeat=s)) == 1
    return (
        "the printed sum is 1 for every size and all predictions; the joint distribution adds up "
        "to 1"
    )


@PAPER.claim(claimed=summed, control=joint, recheck=recheck_law)
def appendix_e_density(law: Law) -> ClaimResult:
    """The density g(x, y) of sizes and lists of predictions is the sum over all refined predictions
    of their probabilities given the size.

    Source: Appendix E
    Verdict: false
    Assumes: two sizes, predictions 1 to 3, each right with probability one half
    Evidence: a sum over all predictions no longer depends on them and is 1 for every size; the
        distribution of the size is missing. Right is f(x) P(Y = y | X = x)
    """
    total = sum((law(s, p) for s in SIZES for p in product(VALUES, repeat=s)), F(0))
    return decided(
        total == 1,
        WITNESSED,
        f"it adds up to {total}",
        witness=f"two sizes and three values: the total is {total}",
    )


def recheck_rank() -> str:
    """Compare both suprema for a job predicted 3 that is right about its length."""
    predictions = [3, 3, 3]
    assert max(predictions[b] - b for b in range(1, 3)) == 2
    assert max(predictions[b] - b for b in range(3)) == 3
    return "a job predicted 3 has rank 3 now; from the next age on it is at most 2"


@PAPER.claim(claimed=1, control=0, recheck=recheck_rank)
def appendix_e_worst_rank(first: int) -> ClaimResult:
    """The worst future rank of a job of age a is the largest of r[b] - b over a < b < x; a newcomer
    of lower rank, and no other, delays it.

    Source: Appendix E.1
    Verdict: false
    Assumes: integer ages; a newcomer of lower rank than that of the job in service preempts it
    Assumes: the control takes the supremum over a <= b < x, as SOAP does
    Evidence: the rank r - a falls with age, so leaving out the present age loses one unit; Appendix
        C has r - a itself
    """
    missed = []
    for size in range(2, 6):
        for age in range(size - 1):
            predictions = [size] * size
            worst = max(predictions[b] - b for b in range(age + first, size))
            for newcomer in range(1, size + 1):
                preempts = newcomer < predictions[age] - age
                if preempts and not newcomer < worst:
                    missed.append((size, age, newcomer))
    return decided(
        not missed,
        WITNESSED,
        f"{len(missed)} pairs of a job and a newcomer do not",
        witness="size 3, age 0, newcomer predicted 2: rank 2 preempts rank 3 and is not below 2"
        if missed
        else None,
    )
