"""TRAIL, Section 3.2: size of the length predictor, and its share of the work per token."""

from fractions import Fraction

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict

MODEL, BINS = 8 * 10**9, 10


def check(layers: tuple[int, int], budget: Budget) -> ClaimResult:
    """Count the parameters of two linear layers, weights and biases."""
    width, hidden = layers
    count = (width + 1) * hidden + (hidden + 1) * BINS
    share = Fraction(count, MODEL)
    agrees = round(Fraction(count, 10**6), 1) == Fraction("2.1") and round(
        100 * share, 2
    ) == Fraction("0.03")
    return ClaimResult(
        Verdict.HOLDS if agrees else Verdict.FALSE,
        "proved",
        "2.1 million parameters, 0.03% of the model's",
        f"{count} parameters, {float(100 * share):.4f}%",
        f"layers {width} to {hidden} to {BINS} counted with biases; overhead as the ratio of "
        "parameters, rounded as the paper rounds",
    )


CLAIM = Claim(
    id="shahout2025/section-3-2-parameters",
    source="Shahout et al. (2024), Section 3.2, arXiv 2410.01035",
    statement=(
        "The predictor has about 2.1 million parameters, an overhead of about 0.03% per token."
    ),
    direction=Direction.EQUAL,
    assumptions=(
        "two linear layers, embedding 4096 to 512 to 10 bins (Section 3.1)",
        "work per token proportional to parameters, 8 billion in the model",
    ),
    expected=Verdict.HOLDS,
    check=check,
    claimed=(4096, 512),
    control=(4096, 1024),
    control_verdict=Verdict.FALSE,
)
