"""Chen et al., Example 1: five equal requests of length 1, believed to have length 4."""

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import EXACT, ClaimResult, decided

ONE = [1] * 5
INSTANCE = Instance("Example 1", 10, [0] * 5, ONE, ONE, lower=ONE, upper=[4] * 5)


@PAPER.claim(
    "Example 1, p. 9",
    claimed=(5, 9),
    control=(5, 8),
    assumes="all requests arrive at round 0",
)
def example_1(claimed: tuple[int, int]) -> ClaimResult:
    """Five requests with s = 1, o = 1, interval [1, 4] and M = 10: the optimum, reached by H-SF,
    has total latency 5; A_max has 9.
    """
    h_sf = simulate(INSTANCE, make("h-sf")).schedule.total_latency
    a_max = {simulate(INSTANCE, make("a-max"), seed=s).schedule.total_latency for s in range(20)}
    optimum = solve(INSTANCE).uninterrupted()
    return decided(
        a_max == {claimed[1]} and h_sf == claimed[0] == optimum.upper == optimum.lower,
        EXACT,
        f"H-SF {h_sf}; optimum in [{optimum.lower}, {optimum.upper}]; A_max {sorted(a_max)}",
        evidence="A_max simulated with 20 orders; the optimum meets the bound "
        f"'{optimum.lower_source}'",
    )
