"""Chen et al., Section 6: its sample of conversations, and its sentences on accuracy."""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import (
    ARITHMETIC,
    FALSE,
    UNDECIDED,
    WITNESSED,
    ClaimResult,
    decided,
)


class Sample(NamedTuple):
    """Printed figures of a sample."""

    least: int
    largest: int
    mean: int
    median: int
    variance: int

    @property
    def is_possible(self) -> bool:
        """Whether some numbers have these figures: two inequalities, up to rounding."""
        spread = (self.largest - self.mean) * (self.mean - self.least)
        return self.variance <= spread and (self.mean - self.median) ** 2 <= self.variance


@PAPER.claim(
    "Section 6 and Figure 4, pp. 22-23",
    expected=UNDECIDED,
    claimed=(Sample(1, 468, 41, 11, 4961), Sample(1, 883, 85, 43, 9702)),
    control=(Sample(1, 468, 41, 11, 4961), Sample(1, 883, 85, 43, 79_702)),
    assumes="a random subset of 2,000 conversations",
)
def figure_4(samples: tuple[Sample, Sample]) -> ClaimResult:
    """Prompts have 1 to 468 tokens, with mean 41, median 11 and variance 4,961; outputs 1 to 883,
    with mean 85, median 43 and variance 9,702.
    """
    impossible = [sample for sample in samples if not sample.is_possible]
    return ClaimResult(
        FALSE if impossible else UNDECIDED,
        ARITHMETIC,
        f"impossible: {impossible}" if impossible else "no figure contradicts another",
        evidence="variance <= (largest - mean)(mean - least), and mean and median differ by at "
        "most the standard deviation. Which 2,000 conversations were drawn is not published; "
        "another paper has 10,000 of the same data with means 40.62 and 85.32 and medians 11 and "
        "45",
        witness=str(impossible[0]) if impossible else None,
    )


def recheck() -> str:
    """Compare the widths of two of the paper's intervals for an output of 100 tokens."""
    widths = [2 * x * 100 for x in (Fraction(1, 10), Fraction(99, 100))]
    assert widths == [20, 198]
    return "around 100 tokens the interval is 20 wide for x = 0.1 and 198 for x = 0.99"


@PAPER.claim(
    "Section 6, Experiment 3, p. 23",
    expected=FALSE,
    claimed=1,
    control=-1,
    recheck=recheck,
    assumes="a prediction is the interval [(1-x) o, (1+x) o]; more precise is narrower",
)
def larger_x_is_more_precise(sign: int) -> ClaimResult:
    """Larger values of x correspond to more precise predictions."""
    widths = [2 * x * 100 for x in (Fraction(1, 10), Fraction(95, 100), Fraction(99, 100))]
    narrower = all(sign * (b - a) < 0 for a, b in pairwise(widths))
    return decided(
        narrower,
        WITNESSED,
        f"widths around 100 tokens: {', '.join(map(str, widths))} for x = 0.1, 0.95, 0.99",
        evidence="a slip: two pages later, and in Figure 7, it is the other way round",
        witness="x = 0.1 against 0.95",
    )
