"""TRAIL, Section 2: memory for the keys and values of 512 tokens of GPT-3 175B."""

from fractions import Fraction

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict

LAYERS, WIDTH, BYTES, TOKENS = 96, 12288, 2, 512


def check(gigabytes: Fraction, budget: Budget) -> ClaimResult:
    """Count a key and a value per layer and token."""
    total = 2 * LAYERS * WIDTH * BYTES * TOKENS
    holds = total >= gigabytes * 10**9
    return ClaimResult(
        Verdict.HOLDS if holds else Verdict.FALSE,
        "proved",
        f"at least {float(gigabytes)} GB",
        f"{total} bytes = {total / 10**9:.3f} GB = {Fraction(total, 2**30)} GiB",
        f"{LAYERS} layers of width {WIDTH}, two bytes per number; the printed figure is 9/4 GiB, "
        "rounded",
    )


CLAIM = Claim(
    id="shahout2025/section-2-kv-cache",
    source="Shahout et al. (2024), Section 2, arXiv 2410.01035",
    statement="A request of 512 tokens to GPT-3 175B needs at least 2.3 GB for keys and values.",
    direction=Direction.LOWER,
    assumptions=("96 layers of width 12288, as published for GPT-3 175B", "half precision"),
    expected=Verdict.HOLDS,
    check=check,
    claimed=Fraction("2.3"),
    control=Fraction("2.5"),
    control_verdict=Verdict.FALSE,
)
