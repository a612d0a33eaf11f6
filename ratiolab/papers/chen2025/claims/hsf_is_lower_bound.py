"""Chen et al., Section 6: H-SF "serves as a lower bound on achievable latency". It does not.

H-SF starts as many of the shortest requests as fit. Equal requests with s = 0 and M = m o then run
in batches of m, which hold M only in their last round. Starting a few every round keeps the memory
full, at up to 2 o / (o + 1) times the rate. On equal requests twice the optimum is never reached.
"""

from fractions import Fraction

from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, HOLDS, UNDECIDED, WITNESSED, ClaimResult
from ratiolab.papers.witness import read_witness
from ratiolab.theory.limits.staggered import (
    batched_completions,
    batching_loss,
    completion_bounds,
    staggered_starts,
)

EQUAL = "chen2025-hsf-is-lower-bound-equal"
MIXED = "chen2025-hsf-is-lower-bound-mixed"


def equal(output: int, memory: int, requests: int) -> Instance:
    """Return equal requests without prompts."""
    columns = ([0] * requests, [0] * requests, [output] * requests)
    return Instance(f"{requests} of length {output}", memory, *columns)


def bracket(output: int, memory: int, requests: int) -> tuple[int, Fraction, Fraction]:
    """Return TEL(H-SF), and its quotients by a feasible schedule and by a bound on all."""
    batched = sum(batched_completions(output, memory, requests))
    instance = equal(output, memory, requests)
    assert simulate(instance, make("h-sf")).schedule.total_latency == batched
    starts = staggered_starts(output, memory, requests)
    achieved = require_feasible(Schedule.from_starts(instance, starts)).total_latency
    bound = sum(completion_bounds(output, memory, requests))
    return batched, Fraction(batched, min(achieved, batched)), Fraction(batched, bound)


def recheck() -> str:
    """Replay H-SF on both witnesses and judge the better schedules."""
    gains = []
    for file, name in ((EQUAL, "staggered"), (MIXED, "better")):
        found = read_witness(file)
        h_sf = simulate(found.instance, make("h-sf")).schedule.total_latency
        better = found.schedule(name).total_latency
        assert found.figures["h_sf"] == h_sf
        assert found.figures[name] == better
        assert better < h_sf
        gains.append(f"{better} < {h_sf}")
    return f"feasible schedules beat H-SF: {' and '.join(gains)}"


@PAPER.claim(
    "Section 6, p. 23",
    expected=FALSE,
    claimed=Fraction(1),
    control=Fraction(2),
    recheck=recheck,
    assumes=(
        "H-SF as printed, Algorithm 3; no evictions needed",
        "the factor is decided on equal requests, s = 0, o divides M, all present at round 0",
    ),
    proof="ratiolab.theory.limits.staggered.completion_bounds",
)
def hsf_is_lower_bound(claimed: Fraction, slow: bool) -> ClaimResult:
    """H-SF, which knows every output length, is a lower bound on achievable latency."""
    longest, batches = (24, 60) if slow else (12, 40)
    least, most, tested = Fraction(1), Fraction(1), 0
    where = ""
    for output in range(1, longest + 1):
        # o (o + 1) / 2 must divide M for a steady stream to keep the memory full
        for copies in (1, 2):
            batch = copies * (output + 1)
            for requests in (batch, 2 * batch, 7 * batch // 2, batches * batch):
                _, low, high = bracket(output, batch * output, requests)
                tested += 1
                most = max(most, high)
                if low > least:
                    least, where = low, f"{requests} requests, o = {output}, M = {batch * output}"
    verdict = FALSE if least > claimed else HOLDS if most <= claimed else UNDECIDED
    return ClaimResult(
        verdict,
        WITNESSED,
        f"up to {float(least):.4f} times that of a feasible schedule, at most {float(most):.4f} "
        f"times the optimum, in {tested} cases",
        evidence="a schedule that starts equally many every round, judged; a weighted sum of "
        "memory constraints bounds every schedule; in the limit 2 o / (o + 1), as "
        f"{batching_loss(longest)} for o = {longest}, and below 2 always",
        witness=where if least > claimed else None,
    )
