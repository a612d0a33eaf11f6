"""TRAIL, Section 2: memory for the keys and values of 512 tokens of GPT-3 175B."""

from fractions import Fraction

from ratiolab.papers.claim import ARITHMETIC, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER

LAYERS, WIDTH, BYTES, TOKENS = 96, 12288, 2, 512


@PAPER.claim(
    "Section 2",
    claimed=Fraction("2.3"),
    control=Fraction("2.5"),
    assumes=("96 layers of width 12288, as published for GPT-3 175B", "half precision"),
)
def section_2_kv_cache(gigabytes: Fraction) -> ClaimResult:
    """A request of 512 tokens to GPT-3 175B needs at least 2.3 GB for keys and values."""
    total = 2 * LAYERS * WIDTH * BYTES * TOKENS
    return decided(
        total >= gigabytes * 10**9,
        ARITHMETIC,
        f"{total} bytes = {total / 10**9:.3f} GB = {Fraction(total, 2**30)} GiB",
        evidence=f"{LAYERS} layers of width {WIDTH}, two bytes per number; the printed figure is "
        "9/4 GiB, rounded",
    )
