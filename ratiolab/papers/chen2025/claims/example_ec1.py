"""Chen et al., Example EC.1: three schedules of four requests, their orders and delays."""

from typing import NamedTuple

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import Instance
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._packing import fits, is_delayed, latency, same_order
from ratiolab.papers.claim import EXACT, ClaimResult, decided

OUTPUTS = (1, 2, 3, 4)
I_1, I_2, I_3 = (0, 2, 0, 3), (1, 1, 0, 3), (0, 0, 0, 2)


class Example(NamedTuple):
    """Memory, the optimal total latency, and (earlier, later) pairs said to be delayed."""

    memory: int
    optimum: int
    delayed: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@PAPER.claim(
    "Example EC.1, p. 31",
    claimed=Example(7, 12, ((I_3, I_1), (I_3, I_2))),
    control=Example(7, 12, ((I_3, I_1), (I_3, I_2), (I_1, I_2))),
    assumes="all requests arrive at round 0",
)
def example_ec1(claimed: Example) -> ClaimResult:
    """With M = 7, s = 1 and o = (1, 2, 3, 4), the schedules I1, I2, I3 preserve the corresponding
    order pairwise; I3 is optimal; I1 and I2 are delayed relative to I3 but neither of them relative
    to the other.
    """
    schedules = (I_1, I_2, I_3)
    feasible = all(fits(1, OUTPUTS, starts, claimed.memory) for starts in schedules)
    ordered = same_order(I_1, I_2) and same_order(I_1, I_3) and same_order(I_2, I_3)
    delays = tuple((a, b) for a in schedules for b in schedules if a != b and is_delayed(b, a))
    optimum = brute_force(Instance("EC.1", claimed.memory, [0] * 4, [1] * 4, OUTPUTS)).total_latency
    agrees = (
        feasible
        and ordered
        and set(delays) == set(claimed.delayed)
        and latency(OUTPUTS, I_3) == claimed.optimum == optimum
    )
    return decided(
        agrees,
        EXACT,
        f"optimum {optimum}, I3 has {latency(OUTPUTS, I_3)}; {len(delays)} pairs are delayed; "
        f"all feasible: {feasible}; orders correspond: {ordered}",
        evidence="definitions applied to all pairs; the optimum by complete enumeration",
    )
