"""RR-SJF against round robin in the order of arrival: sums of first tokens and completions."""

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, SOURCE, Measure, small, total

QUANTA = (1, 2, 3)
Rivals = tuple[Measure, str]

EVIDENCE = {
    "completion": "every order of arrival is among the sets; no proof was attempted",
    "ttft": "in the first turn request k waits for min(q, L_j) of each one ahead, and "
    "sorting by length minimises these sums; q = infinity gives SJF and FCFS, and a smaller q is "
    "never later",
}


def check(claimed: Rivals, budget: Budget) -> ClaimResult:
    """Compare RR-SJF with round robin over all small sets, or with every rival."""
    measure, order = claimed
    worse, cases = [], 0
    for lengths in small(budget.slow):
        line = sorted(lengths, reverse=True) if order == "longest first" else lengths
        shortest = order == "shortest first"
        for quantum in QUANTA:
            mixed = total(measure, line, shortest_first=shortest, quantum=quantum)
            rivals = [total(measure, lengths, shortest_first=False, quantum=quantum)]
            if measure == "ttft":
                rivals += [
                    total(measure, lengths, shortest_first=first, quantum=None)
                    for first in (False, True)
                ]
            cases += 1
            if mixed > min(rivals):
                worse.append((lengths, quantum, mixed, min(rivals)))
    proved = measure == "ttft" and not worse
    example = "lengths {}, slices of {}: sum {}, rival {}".format(*worse[0]) if worse else None
    return ClaimResult(
        Verdict.FALSE if worse else Verdict.HOLDS,
        "proved" if proved else f"{cases} cases",
        f"no larger sum of {measure.replace('_', ' ')} times, {order}",
        f"larger in {len(worse)} of {cases} cases",
        EVIDENCE[measure],
        example,
    )


CLAIMS = (
    Claim(
        id="gogineni2024/rr-sjf-beats-rr",
        source=SOURCE.format("Section 2.1"),
        statement="The mean end-to-end latency of RR-SJF is at most that of round robin.",
        direction=Direction.UPPER,
        assumptions=(ONE_SERVER, "equal slices in both; the paper speaks of an example"),
        expected=Verdict.HOLDS,
        check=check,
        claimed=("completion", "shortest first"),
        control=("completion", "longest first"),
        control_verdict=Verdict.FALSE,
    ),
    Claim(
        id="gogineni2024/lowest-ttft",
        source=SOURCE.format("Section 3, first of three findings"),
        statement="RR-SJF has a mean time to first token no larger than FCFS, SJF and RR.",
        direction=Direction.UPPER,
        assumptions=(ONE_SERVER, "equal slices in RR and RR-SJF"),
        expected=Verdict.HOLDS,
        check=check,
        claimed=("ttft", "shortest first"),
        control=("ttft", "longest first"),
        control_verdict=Verdict.FALSE,
    ),
)
