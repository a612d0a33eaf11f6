"""RR-SJF against round robin in the order of arrival: sums of first tokens and completions."""

from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, Measure, small, total

QUANTA = (1, 2, 3)
Rivals = tuple[Measure, str]


def check(claimed: Rivals, slow: bool) -> ClaimResult:
    """Compare RR-SJF with round robin over all small sets, or with every rival."""
    measure, order = claimed
    worse, cases = [], 0
    for lengths in small(slow):
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
    example = "lengths {}, slices of {}: sum {}, rival {}".format(*worse[0]) if worse else None
    return decided(
        not worse,
        PROVED if not worse else f"{cases} cases",
        f"larger in {len(worse)} of {cases} cases",
        witness=example,
    )


@PAPER.claim(
    "Section 2.1",
    claimed=("completion", "shortest first"),
    control=("completion", "longest first"),
    assumes=(ONE_SERVER, "equal slices in both; the paper speaks of an example"),
    proof="round_robin",
)
def rr_sjf_beats_rr(claimed: Rivals, slow: bool) -> ClaimResult:
    """The mean end-to-end latency of RR-SJF is at most that of round robin."""
    return check(claimed, slow)


@PAPER.claim(
    "Section 3, first of three findings",
    claimed=("ttft", "shortest first"),
    control=("ttft", "longest first"),
    assumes=(ONE_SERVER, "equal slices in RR and RR-SJF"),
    proof="round_robin",
)
def lowest_ttft(claimed: Rivals, slow: bool) -> ClaimResult:
    """RR-SJF has a mean time to first token no larger than FCFS, SJF and RR."""
    return check(claimed, slow)
