"""RR-SJF, Section 3.3 and Figure 2: latencies as the slice grows."""

from itertools import pairwise

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, SOURCE, Measure, small, total

Growth = tuple[Measure, int]
"""What is summed, and the sign of its growth with the slice."""


def check(growth: Growth, budget: Budget) -> ClaimResult:
    """Let the slice grow from one token to the longest length, over all small sets."""
    measure, sign = growth
    against, sets = [], 0
    for lengths in small(budget.slow):
        sets += 1
        values = [
            total(measure, lengths, shortest_first=True, quantum=quantum)
            for quantum in range(1, max(lengths) + 1)
        ]
        if any(sign * (two - one) < 0 for one, two in pairwise(values)):
            against.append((lengths, values))
    example = "lengths {}: sums {} for slices of 1, 2, ...".format(*against[0]) if against else None
    proved = measure == "ttft" and not against
    return ClaimResult(
        Verdict.FALSE if against else Verdict.HOLDS,
        "proved" if proved else f"{sets} sets of requests",
        f"sum of {measure.replace('_', ' ')} times never {'falls' if sign > 0 else 'rises'}",
        f"it does in {len(against)} of {sets} sets" + (f"; {example}" if example else ""),
        "first tokens wait for min(q, L_j) of each request ahead, which grows with q; completions "
        "end at their least, SJF, when q exceeds all lengths",
        example,
    )


def recheck() -> str:
    """Serve two requests of two tokens."""
    one, two = (total("completion", (2, 2), shortest_first=True, quantum=q) for q in (1, 2))
    assert (one, two) == (7, 6)
    return "lengths 2, 2: completions sum to 7 in slices of one token, to 6 in slices of two"


CLAIMS = (
    Claim(
        id="gogineni2024/ttft-grows-with-slice",
        source=SOURCE.format("Section 3.3 and Figure 2"),
        statement="The mean time to first token of RR-SJF grows with the slice.",
        direction=Direction.UPPER,
        assumptions=(ONE_SERVER, "weakly: it never falls"),
        expected=Verdict.HOLDS,
        check=check,
        claimed=("ttft", 1),
        control=("ttft", -1),
        control_verdict=Verdict.FALSE,
    ),
    Claim(
        id="gogineni2024/e2e-grows-with-slice",
        source=SOURCE.format("Section 3.3 and Figure 2"),
        statement="The mean end-to-end latency of RR-SJF grows with the slice.",
        direction=Direction.UPPER,
        assumptions=(
            ONE_SERVER,
            "the paper measured it on its system and calls it surprising; the model has no batches "
            "and no recomputation",
        ),
        expected=Verdict.FALSE,
        check=check,
        claimed=("completion", 1),
        control=("ttft", 1),
        control_verdict=Verdict.HOLDS,
        recheck=recheck,
    ),
)
