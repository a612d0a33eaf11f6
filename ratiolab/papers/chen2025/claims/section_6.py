"""Chen et al., Section 6: its sample of conversations, accuracy, and H-SF as a "lower bound".

H-SF does not serve "as a lower bound on achievable latency": it starts as many of the shortest
requests as fit. Equal requests with s = 0 and M = m o then run in batches of m, which hold M only
in their last round. Starting a few every round keeps the memory full, at up to 2 o / (o + 1) times
the rate. On equal requests twice the optimum is never reached. Section 2 assumes s > 0: the
witnesses have s = 1.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.staggered import (
    batched_completions,
    batching_loss,
    completion_bounds,
    staggered_starts,
)
from ratiolab.papers.claim import FALSE, HOLDS, UNDECIDED, WITNESSED, ClaimResult, decided, possible
from ratiolab.papers.witness import read_witness


class Sample(NamedTuple):
    """Printed figures of a sample."""

    least: int
    largest: int
    mean: int
    median: int
    variance: int

    @property
    def is_possible(self) -> bool:
        """Whether some numbers have these figures: two inequalities, up to rounding."""
        spread = (self.largest - self.mean) * (self.mean - self.least)
        return self.variance <= spread and (self.mean - self.median) ** 2 <= self.variance


@PAPER.claim(
    claimed=(Sample(1, 468, 41, 11, 4961), Sample(1, 883, 85, 43, 9702)),
    control=(Sample(1, 468, 41, 11, 4961), Sample(1, 883, 85, 43, 79_702)),
)
def figure_4(samples: tuple[Sample, Sample]) -> ClaimResult:
    """Prompts have 1 to 468 tokens, with mean 41, median 11 and variance 4,961; outputs 1 to 883,
    with mean 85, median 43 and variance 9,702.

    Source: Section 6 and Figure 4, pp. 22-23
    Verdict: undecided
    Assumes: a random subset of 2,000 conversations
    Evidence: variance <= (largest - mean)(mean - least), and mean and median differ by at most the
        standard deviation. Which 2,000 conversations were drawn is not published; another paper has
        10,000 of the same data with means 40.62 and 85.32 and medians 11 and 45
    """
    impossible = [sample for sample in samples if not sample.is_possible]
    return possible("no figure contradicts another", impossible, "impossible: [{}]")


def recheck_widths() -> str:
    """Compare the widths of two of the paper's intervals for an output of 100 tokens."""
    widths = [2 * x * 100 for x in (Fraction(1, 10), Fraction(95, 100))]
    assert widths == [20, 190]
    return "around 100 tokens the interval is 20 wide for x = 0.1 and 190 for x = 0.95"


@PAPER.claim(claimed=1, control=-1, recheck=recheck_widths)
def larger_x_is_more_precise(sign: int) -> ClaimResult:
    """Larger values of x correspond to more precise predictions.

    Source: Section 6, Experiment 3, p. 23
    Verdict: false
    Assumes: a prediction is the interval [(1-x) o, (1+x) o]; more precise is narrower
    Evidence: a slip: two pages later, and in Figure 7, it is the other way round
    """
    widths = [2 * x * 100 for x in (Fraction(1, 10), Fraction(95, 100), Fraction(99, 100))]
    narrower = all(sign * (b - a) < 0 for a, b in pairwise(widths))
    return decided(
        narrower,
        WITNESSED,
        f"widths around 100 tokens: {', '.join(map(str, widths))} for x = 0.1, 0.95, 0.99",
        witness="around 100 tokens the interval is 20 wide for x = 0.1 and 190 for x = 0.95",
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


LONG = (1, 12, 2, 520)
"""Prompt, output, starts in a round and requests of an instance that is too long for a file."""


def staggered_quotient(
    prompt: int, output: int, copies: int, requests: int
) -> tuple[int, Fraction]:
    """Return M, and TEL(H-SF) over the latency of `copies` starts every round, which fill M."""
    memory = copies * (prompt * output + output * (output + 1) // 2)
    columns = ([0] * requests, [prompt] * requests, [output] * requests)
    instance = Instance(f"{requests} of length {output}", memory, *columns)
    starts = [k // copies for k in range(requests)]
    better = require_feasible(Schedule.from_starts(instance, starts)).total_latency
    h_sf = simulate(instance, make("h-sf")).schedule.total_latency
    return memory, Fraction(h_sf, better)


def long_witness() -> str:
    """Verify that a feasible schedule beats H-SF on the long instance, and return both in words."""
    prompt, output, _, requests = LONG
    memory, quotient = staggered_quotient(*LONG)
    assert quotient > 1, quotient
    return (
        f"s = {prompt}, M = {memory}, {requests} requests, o = {output}: H-SF has "
        f"{float(quotient):.4f} times the latency of a feasible schedule"
    )


def recheck() -> str:
    """Replay H-SF on all witnesses and judge the better schedules."""
    gains = []
    for file, name in ((EQUAL, "staggered"), (MIXED, "better")):
        found = read_witness(file)
        h_sf = simulate(found.instance, make("h-sf")).schedule.total_latency
        better = found.schedule(name).total_latency
        assert found.figures["h_sf"] == h_sf
        assert found.figures[name] == better
        assert better < h_sf
        assert found.instance.prompt.all()
        gains.append(f"{better} < {h_sf}")
    return f"{long_witness()}; with five and four requests {' and '.join(gains)}"


@PAPER.claim(claimed=Fraction(1), control=Fraction(2), recheck=recheck)
def hsf_is_lower_bound(claimed: Fraction, slow: bool) -> ClaimResult:
    """H-SF, which knows every output length, is a lower bound on achievable latency.

    Source: Section 6, p. 23
    Verdict: false
    Assumes: H-SF as printed, Algorithm 3; no evictions needed
    Assumes: the witness has s = 1; the factor is decided on equal requests, s = 0, which Section 2
        excludes, o divides M, all present at round 0
    Proof: ratiolab.papers.chen2025.staggered.completion_bounds
    """
    longest, batches = (24, 60) if slow else (12, 40)
    least, most, tested = Fraction(1), Fraction(1), 0
    for output in range(1, longest + 1):
        # o (o + 1) / 2 must divide M for a steady stream to keep the memory full
        for copies in (1, 2):
            batch = copies * (output + 1)
            for requests in (batch, 2 * batch, 7 * batch // 2, batches * batch):
                _, low, high = bracket(output, batch * output, requests)
                tested += 1
                most, least = max(most, high), max(least, low)
    beaten = staggered_quotient(*LONG)[1] > claimed
    verdict = FALSE if beaten else HOLDS if most <= claimed else UNDECIDED
    return ClaimResult(
        verdict,
        WITNESSED,
        f"with s = 0 up to {float(least):.4f} times that of a feasible schedule, at most "
        f"{float(most):.4f} times the optimum, in {tested} cases",
        evidence="a schedule that starts equally many every round, judged; a weighted sum of "
        "memory constraints bounds every schedule; in the limit 2 o / (o + 1), as "
        f"{batching_loss(longest)} for o = {longest}, and below 2 always",
        witness=long_witness() if beaten else None,
    )
