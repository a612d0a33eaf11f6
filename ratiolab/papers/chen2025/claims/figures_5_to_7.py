"""Chen et al., Figures 5 to 7: what the experiments show depends on a memory that is not stated.

The statements in seconds are judged by the experiment `chen2025`. Here they are simulated in unit
rounds, on lengths that stand in for the data, with the paper's largest number of requests. One
memory is that of Jaillet et al. for the same hardware; the other is thirty times as large and
hardly binds. A statement holds or fails with a memory if the whole interval of ten draws says so.
"""

from functools import cache
from typing import Literal, NamedTuple

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import HOLDS, NOT_REPRODUCED, UNDECIDED, ClaimResult, Verdict
from ratiolab.papers.runs import Ratio, mean_with_interval
from ratiolab.workloads.generators import generate

MEMORIES = (16_492, 500_000)
REQUESTS = 2000
SEEDS = range(10)
MOST = 1e9
"""No quotient is larger: a statement without an upper end."""

Setting = Literal["[1, 1000]", "ten buckets", "x = 0.1", "x = 0.95", "x = 0.99"]


@cache
def drawn(setting: Setting, memory: int, seed: int) -> Instance:
    """Return requests with the predictions of a setting."""
    if setting == "[1, 1000]":
        return generate("chen-rough", seed, n=REQUESTS, memory=memory)
    if setting == "ten buckets":
        return generate("chen-buckets", seed, n=REQUESTS, memory=memory)
    x = float(setting.removeprefix("x = "))
    return generate("chen-overlap", seed, n=REQUESTS, memory=memory, x=x)


@cache
def latency(policy: str, setting: Setting, memory: int, seed: int) -> int:
    """Return the total latency in unit rounds."""
    instance = drawn(setting, memory, seed)
    return simulate(instance, make(policy), seed=seed).schedule.total_latency


class Statement(NamedTuple):
    """Quotients of total latencies, each with the interval that the statement asks for."""

    quotient: tuple[tuple[str, Setting], tuple[str, Setting]]
    low: float
    high: float

    def at(self, memory: int) -> Ratio:
        """Return the quotient with a memory, its mean over the seeds with an interval."""
        import pandas as pd

        one, other = self.quotient
        values = [latency(*one, memory, seed) / latency(*other, memory, seed) for seed in SEEDS]
        return mean_with_interval(pd.Series(values))

    @property
    def range(self) -> str:
        """Where the quotient should lie, in words."""
        if self.high == MOST:
            return f"at least {self.low:g}"
        return f"{self.low:g} to {self.high:g}" if self.low else f"at most {self.high:g}"

    def allows(self, found: Ratio) -> bool | None:
        """Return whether a quotient lies where it should, None when its interval does not tell."""
        if self.low <= found.low and found.high <= self.high:
            return True
        return False if found.high < self.low or found.low > self.high else None

    def check(self) -> ClaimResult:
        """Simulate with both memories."""
        found = [self.at(memory) for memory in MEMORIES]
        right = {self.allows(value) for value in found}
        verdict: Verdict = {True: HOLDS, False: NOT_REPRODUCED, None: UNDECIDED}[
            right.pop() if len(right) == 1 else None
        ]
        (one, first), (two, second) = self.quotient
        values = ", ".join(f"{v:.3f} with M = {m:,}" for v, m in zip(found, MEMORIES, strict=True))
        return ClaimResult(
            verdict,
            f"{len(SEEDS)} draws of {REQUESTS} requests, two memories, unit rounds",
            f"{one} under {first} over {two} under {second}: {values}; "
            f"the statement needs {self.range}",
            evidence="the paper states no memory, and the larger it is the less the order "
            "matters; seconds and five memories are in the experiment chen2025",
            witness=values if verdict is NOT_REPRODUCED else None,
        )


ASSUMES = (
    "all requests at round 0, unit rounds, lengths drawn to stand in for LMSYS-Chat-1M",
    "nearly identical: at most 1.05 times; close or well: at most 1.25; significantly worse, or "
    "high: at least 1.5; nearly halved: 0.4 to 0.6",
)

Pair = tuple[tuple[str, Setting], tuple[str, Setting]]


def _against_h_sf(policy: str, setting: Setting) -> Pair:
    return (policy, setting), ("h-sf", setting)


Row = tuple[str, int, Verdict, Pair, tuple[float, float], tuple[float, float], str]

ROWS: tuple[Row, ...] = (
    (
        "figure-5-a-max",
        5,
        HOLDS,
        _against_h_sf("a-max", "[1, 1000]"),
        (1.5, MOST),
        (20, MOST),
        "Under [1, 1000], A_max has high latency.",
    ),
    (
        "figure-5-a-min",
        5,
        UNDECIDED,
        _against_h_sf("a-min", "[1, 1000]"),
        (0, 1.05),
        (3, MOST),
        "Under [1, 1000], A_min has a latency nearly identical to that of H-SF.",
    ),
    (
        "figure-6-a-max",
        6,
        UNDECIDED,
        (("a-max", "ten buckets"), ("a-max", "[1, 1000]")),
        (0.4, 0.6),
        (0.9, 1.1),
        "From [1, 1000] to ten buckets A_max's latency is nearly halved.",
    ),
    (
        "figure-6-a-min",
        6,
        UNDECIDED,
        _against_h_sf("a-min", "ten buckets"),
        (0, 1.05),
        (1.5, MOST),
        "With ten buckets A_min has a latency nearly identical to that of H-SF.",
    ),
    (
        "figure-7-precise",
        7,
        HOLDS,
        _against_h_sf("a-max", "x = 0.1"),
        (0, 1.25),
        (1.25, MOST),
        "With x = 0.1, A_max performs well.",
    ),
    (
        "figure-7-a-max",
        7,
        UNDECIDED,
        (("a-max", "x = 0.99"), ("a-max", "x = 0.1")),
        (1.5, MOST),
        (2, MOST),
        "With x = 0.99 the performance of A_max deteriorates significantly against x = 0.1.",
    ),
    (
        "figure-7-a-min",
        7,
        UNDECIDED,
        _against_h_sf("a-min", "x = 0.99"),
        (0, 1.25),
        (3, MOST),
        "With x = 0.99 A_min remains close to H-SF.",
    ),
)
"""Id, figure, verdict, what is compared, where it should lie and where the control has it."""

CLAIMS = tuple(
    PAPER.claim(
        f"Section 6 and Figure {figure}, pp. 23-26",
        expected=expected,
        claimed=Statement(pair, *bounds),
        control=Statement(pair, *wrong),
        control_verdict=NOT_REPRODUCED,
        assumes=ASSUMES,
        name=name,
        statement=statement,
    )(Statement.check)
    for name, figure, expected, pair, bounds, wrong, statement in ROWS
)
