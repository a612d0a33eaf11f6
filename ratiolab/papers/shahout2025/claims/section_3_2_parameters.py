"""TRAIL, Section 3.2: size of the length predictor, and its share of the work per token."""

from fractions import Fraction

from ratiolab.papers.claim import ARITHMETIC, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER

MODEL, BINS = 8 * 10**9, 10


@PAPER.claim(
    "Section 3.2",
    claimed=(4096, 512),
    control=(4096, 1024),
    assumes=(
        "two linear layers, embedding 4096 to 512 to 10 bins (Section 3.1)",
        "work per token proportional to parameters, 8 billion in the model",
    ),
)
def section_3_2_parameters(layers: tuple[int, int]) -> ClaimResult:
    """The predictor has about 2.1 million parameters, an overhead of about 0.03% per token."""
    width, hidden = layers
    count = (width + 1) * hidden + (hidden + 1) * BINS
    share = Fraction(count, MODEL)
    agrees = round(Fraction(count, 10**6), 1) == Fraction("2.1") and round(
        100 * share, 2
    ) == Fraction("0.03")
    return decided(
        agrees,
        ARITHMETIC,
        f"{count} parameters, {float(100 * share):.4f}%",
        evidence=f"layers {width} to {hidden} to {BINS} counted with biases; overhead as the "
        "ratio of parameters, rounded as the paper rounds",
    )
