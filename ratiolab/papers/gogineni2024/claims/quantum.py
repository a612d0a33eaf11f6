"""RR-SJF, Section 3.3 and Figure 2: latencies as the slice grows."""

from itertools import pairwise

from ratiolab.papers.claim import (
    FALSE,
    NOT_IMPLIED,
    PROVED,
    WITNESSED,
    ClaimResult,
    Verdict,
    decided,
)
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, Measure, small, total

Growth = tuple[Measure, int, Verdict]
"""What is summed, the sign of its growth with the slice, and the verdict if it does not grow so."""


def check(growth: Growth, slow: bool) -> ClaimResult:
    """Let the slice grow from one token to the longest length, over all small sets."""
    measure, sign, otherwise = growth
    against, sets = [], 0
    for lengths in small(slow):
        sets += 1
        values = [
            total(measure, lengths, shortest_first=True, quantum=quantum)
            for quantum in range(1, max(lengths) + 1)
        ]
        if any(sign * (two - one) < 0 for one, two in pairwise(values)):
            against.append((lengths, values))
    example = "lengths {}: sums {} for slices of 1, 2, ...".format(*against[0]) if against else None
    return decided(
        not against,
        WITNESSED if against else PROVED,
        f"it does in {len(against)} of {sets} sets" + (f"; {example}" if example else ""),
        witness=example,
        otherwise=otherwise,
    )


@PAPER.claim(
    "Section 3.3 and Figure 2",
    claimed=("ttft", 1, FALSE),
    control=("ttft", -1, FALSE),
    assumes=(ONE_SERVER, "weakly: it never falls"),
    proof="round_robin",
)
def ttft_grows_with_slice(growth: Growth, slow: bool) -> ClaimResult:
    """The mean time to first token of RR-SJF grows with the slice."""
    return check(growth, slow)


def recheck() -> str:
    """Serve two requests of two tokens."""
    one, two = (total("completion", (2, 2), shortest_first=True, quantum=q) for q in (1, 2))
    assert (one, two) == (7, 6)
    return "lengths 2, 2: completions sum to 7 in slices of one token, to 6 in slices of two"


@PAPER.claim(
    "Section 3.3 and Figure 2",
    expected=NOT_IMPLIED,
    claimed=("completion", 1, NOT_IMPLIED),
    control=("ttft", 1, NOT_IMPLIED),
    recheck=recheck,
    assumes=(
        ONE_SERVER,
        "the paper measured it on vLLM with batches and recomputation and calls it surprising; "
        "the model has neither, so it can only show that the rule alone does not give it",
    ),
    proof="round_robin",
)
def e2e_grows_with_slice(growth: Growth, slow: bool) -> ClaimResult:
    """The mean end-to-end latency of RR-SJF grows with the slice."""
    return check(growth, slow)
