"""RR-SJF, Section 2.1: long requests start earlier than under shortest job first."""

from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, small
from ratiolab.theory.worst_case.round_robin import serve

QUANTA = (1, 2, 3)


@PAPER.claim(
    "Section 2.1 and Figure 1",
    claimed=None,
    control=1,
    assumes=(ONE_SERVER, "control: slices of one token as the rival, which start earlier"),
    proof="round_robin",
)
def earlier_start(rival_quantum: int | None, slow: bool) -> ClaimResult:
    """Under RR-SJF a request starts no later than under shortest job first."""
    late, cases, earlier = [], 0, 0
    for lengths in small(slow):
        rival = serve(lengths, shortest_first=True, quantum=rival_quantum)
        for quantum in QUANTA:
            mixed = serve(lengths, shortest_first=True, quantum=quantum)
            for one, other in zip(mixed.ttft, rival.ttft, strict=True):
                cases += 1
                earlier += one < other
                if one > other:
                    late.append((lengths, quantum))
    return decided(
        not late,
        f"{cases} requests" if late else PROVED,
        f"later for {len(late)} of {cases} requests, earlier for {earlier}",
        witness="lengths {}, slices of {}".format(*late[0]) if late else None,
    )
