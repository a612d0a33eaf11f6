"""TRAIL, Sections 1 to 3: what the printed figures decide, and what they leave open.

Figures 5 to 8 are repeated by the experiment `shahout2025`, in seconds of a clock and with errors
that stand in for those of the classifier.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from ratiolab.papers.claim import ARITHMETIC, EXACT, ClaimResult, decided, possible
from ratiolab.papers.shahout2025 import PAPER

LAYERS, WIDTH, BYTES, TOKENS = 96, 12288, 2, 512


@PAPER.claim(claimed=Fraction("2.3"), control=Fraction("2.5"))
def section_2_kv_cache(gigabytes: Fraction) -> ClaimResult:
    """A request of 512 tokens to GPT-3 175B needs at least 2.3 GB for keys and values.

    Source: Section 2
    Assumes: 96 layers of width 12288, as published for GPT-3 175B
    Assumes: half precision
    """
    total = 2 * LAYERS * WIDTH * BYTES * TOKENS
    return decided(
        total >= gigabytes * 10**9,
        EXACT,
        f"{total} bytes = {total / 10**9:.3f} GB = {Fraction(total, 2**30)} GiB",
        evidence=f"{LAYERS} layers of width {WIDTH}, two bytes per number; the printed figure is "
        "9/4 GiB, rounded",
    )


MODEL, BINS = 8 * 10**9, 10


@PAPER.claim(claimed=(4096, 512), control=(4096, 1024))
def section_3_2_parameters(layers: tuple[int, int]) -> ClaimResult:
    """The predictor has about 2.1 million parameters, an overhead of about 0.03% per token.

    Source: Section 3.2
    Assumes: two linear layers, embedding 4096 to 512 to 10 bins (Section 3.1)
    Assumes: work per token proportional to parameters, 8 billion in the model
    """
    width, hidden = layers
    count = (width + 1) * hidden + (hidden + 1) * BINS
    share = Fraction(count, MODEL)
    agrees = round(Fraction(count, 10**6), 1) == Fraction("2.1") and round(
        100 * share, 2
    ) == Fraction("0.03")
    return decided(
        agrees,
        EXACT,
        f"{count} parameters, {float(100 * share):.4f}%",
        evidence=f"layers {width} to {hidden} to {BINS} counted with biases; overhead as the "
        "ratio of parameters, rounded as the paper rounds",
    )


class Time(NamedTuple):
    """A row of Table 1: microseconds for a sample."""

    device: str
    batch: int
    mean: str


TABLE_1 = (
    Time("CPU", 512, "9.43"),
    Time("CPU", 1024, "6.19"),
    Time("CPU", 2048, "5.94"),
    Time("CUDA", 512, "0.615"),
    Time("CUDA", 1024, "0.497"),
    Time("CUDA", 2048, "0.429"),
)
PARAMETERS = 2_102_794


@PAPER.claim(claimed=1, control=-1)
def table_1(sign: int) -> ClaimResult:
    """The time of a prediction for a sample falls with the size of the batch, on both devices.

    Source: Table 1 and Section 3.2
    Verdict: consistent
    Assumes: the printed figures are right
    """
    broken = [
        (one, two)
        for one, two in pairwise(TABLE_1)
        if one.device == two.device and sign * (Fraction(one.mean) - Fraction(two.mean)) <= 0
    ]
    rates = [2 * PARAMETERS / float(row.mean) / 1e6 for row in TABLE_1]
    return decided(
        not broken,
        ARITHMETIC,
        ", ".join(f"{r.device} {r.batch}: {r.mean} us" for r in TABLE_1),
        evidence=f"at two operations a parameter this is {min(rates):.2f} to {max(rates):.2f} "
        "trillion a second, within what such devices do",
        witness=f"{broken[0][0].device}" if broken else None,
    )


FACTORS = {
    "mean absolute error": ("2.66",),
    "mean latency": ("1.66", "2.01"),
    "mean time to first token": ("1.76", "24.07"),
}
"""As the abstract prints them."""


@PAPER.claim(claimed=FACTORS, control=FACTORS | {"mean latency": ("2.01", "1.66")})
def abstract_factors(factors: dict[str, tuple[str, ...]]) -> ClaimResult:
    """Refined predictions have a 2.66 times lower mean absolute error than BERT's; TRAIL has a 1.66
    to 2.01 times lower mean latency and a 1.76 to 24.07 times lower mean time to first token.

    Source: abstract, and Section 1
    Verdict: undecided
    Assumes: TRAIL on vLLM with LLama3-8b-instruct and Alpaca; from least to largest factor
    Evidence: measured; neither rates, number of requests nor embeddings are published with them. On
        stand-ins the experiment shahout2025 finds factors that grow with load and length of the
        run, so that the ends of the ranges mean little without both
    """
    reversed_ = [name for name, ends in factors.items() if list(ends) != sorted(ends, key=float)]
    return possible("ranges", reversed_, "not a range: {}")


@PAPER.claim(claimed=(11, "12-32"), control=(10, "12-32"))
def layer_11(places: tuple[int, str]) -> ClaimResult:
    """Embeddings of layer 11 predict the remaining length best, and refined ones better than BERT's
    predictions from the prompt.

    Source: Section 3.2 and Figures 2 to 4
    Verdict: undecided
    Assumes: the model has 32 layers
    Evidence: the errors need the embeddings of 1,000 prompts in 32 layers, which are not published.
        That the smoothing of Section 3.1 improves on the classifier does not hold in general: see
        section-3-1-smoothing
    """
    layer, rest = places
    first, last = map(int, rest.split("-"))
    agrees = layer + 1 == first and last == 32
    broken = [] if agrees else [f"layer {layer}"]
    return possible("consistent", broken, "the layers do not follow one another")
