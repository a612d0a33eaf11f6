"""Chen et al., Eq. (EC.7): A_random in memory alpha M costs at most 1/alpha times as much.

The proof of Theorem 1 takes it from Proposition EC.1, printing (EC.10) with the memories exchanged;
as printed, (EC.10) bounds the wrong side, and the next line uses it the right way round.
"""

from collections.abc import Callable
from fractions import Fraction

from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._packing import mean, order_latencies
from ratiolab.papers.chen2025.claims.lemma_ec1 import Case, read_case, small_cases
from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.witness import read_witness

NAME = "chen2025-equation-ec7"


def means(case: Case) -> tuple[Fraction, Fraction]:
    """Return the exact mean latency of A_random in memory alpha M, and in memory M."""
    less, full = (
        order_latencies("a-random", case.prompt, memory, case.outputs, case.interval)
        for memory in (case.less, case.memory)
    )
    return mean(less), mean(full)


def recheck() -> str:
    """Replay A_random in both orders and both memories."""
    found = read_witness(NAME)
    figures, case = found.figures, read_case(found)
    less, full = means(case)
    assert (less, full) == (Fraction(figures["reduced"]), Fraction(figures["full"]))
    assert found.schedule("full").total_latency == full
    lower, upper = case.interval
    assert less > Fraction(upper, lower) * full
    return f"mean {full} in {case.memory}, {less} > {upper}/{lower} of that in {case.less}"


@PAPER.claim(
    "Eq. (EC.7) and (EC.10), p. 35 and 39",
    expected=FALSE,
    claimed=lambda case: Fraction(case.interval[1], case.interval[0]),
    # A_random never idles, so each of n latencies is at most the sum of the outputs.
    control=lambda case: Fraction(len(case.outputs)),
    recheck=recheck,
    assumes=("A_random is Algorithm 4", "alpha M is an integer and holds every single request"),
)
def equation_ec7(claimed: Callable[[Case], Fraction], slow: bool) -> ClaimResult:
    """The expected total latency of A_random in memory alpha M is at most 1/alpha times that in
    memory M.
    """
    tested, violated, worst, first = 0, 0, Fraction(0), ""
    for case in small_cases(7 if slow else 5):
        less, full = means(case)
        tested += 1
        quotient = less / (claimed(case) * full)
        worst = max(worst, quotient)
        if quotient > 1:
            violated += 1
            first = first or (
                f"s = {case.prompt}, [l, u] = {list(case.interval)}, o = {case.outputs}: "
                f"{full} in M = {case.memory}, {less} in {case.less}"
            )
    return decided(
        not violated,
        WITNESSED if violated else f"{tested} cases",
        f"violated in {violated} of {tested} cases; largest quotient of the two sides {worst}",
        evidence="exact means over all orders of two or three requests",
        witness=first,
    )
