"""What Gogineni et al. (2024) say in Sections 3.4 to 3.6, beside what was found."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.papers.experiment import Finding

if TYPE_CHECKING:
    import pandas as pd

POLICY = "policy.label"
COMPARED = ("fcfs", "sjf", "rr", "rr-sjf")
LARGEST = 25
"""Requests a second from which on the paper's server is at its capacity."""

MODERATE = 200
"""Sigma of the noise up to which statements are judged: the levels of the paper are in its figures
only, its example is 25, and more aggressive noise is left to further study."""

AGREE = 2.0
"""A factor of the paper counts as reproduced when ours is between it over and times this."""

SIMILAR = 1.25
"""Similar, marginal: figures that differ by at most this factor."""

STEADY = 1.1
"""Not significantly affected: over all levels of noise figures differ by at most this factor."""

DRAMATIC = 1.5
"""Dramatically: by at least this factor."""


@dataclass(frozen=True, eq=False)
class Figures:
    """Means over seeds of three tables: all at once, by noise, by rate."""

    burst: "pd.DataFrame"
    noise: "pd.DataFrame"
    rate: "pd.DataFrame"

    def of(self, policy: str, column: str) -> float:
        """A figure of a policy when all arrive at once."""
        return mean_of(self.burst, policy, column)

    def over(self, one: str, other: str, column: str) -> float:
        """How many times one policy's figure is another's."""
        return self.of(one, column) / self.of(other, column)

    def by(self, table: "pd.DataFrame", axis: str, policy: str, column: str) -> "pd.Series":
        """A figure of a policy for every level of noise or every rate."""
        rows = table[table[POLICY] == policy]
        means: pd.Series = rows.groupby(axis)[column].mean()
        return means

    def swing(self, policy: str, column: str, most: int) -> float:
        """The largest over the least figure of a policy over the levels of noise up to one."""
        means = self.by(self.noise[self.noise["noise"] <= most], "noise", policy, column)
        return float(means.max() / means.min())


def mean_of(rows: "pd.DataFrame", policy: str, column: str) -> float:
    """Mean over the seeds of one policy."""
    return float(rows.loc[rows[POLICY] == policy, column].mean())


def _factor(ours: float, theirs: float) -> bool:
    return theirs / AGREE <= ours <= theirs * AGREE


def findings(f: Figures) -> Iterable[Finding]:
    yield from _at_once(f)
    yield from _with_noise(f)
    yield from _at_rates(f)


def _at_once(f: Figures) -> Iterable[Finding]:
    median = {policy: f.of(policy, "median_ttft") for policy in COMPARED}
    yield Finding(
        "Figure 3: RR-SJF has a lower median TTFT than RR and FCFS",
        "lower",
        f"{median['rr-sjf']:.2f} s; RR {median['rr']:.2f} s, FCFS {median['fcfs']:.2f} s",
        median["rr-sjf"] < min(median["rr"], median["fcfs"]),
    )
    ours = f.over("fcfs", "rr-sjf", "median_ttft")
    yield Finding(
        "Figure 3: the median TTFT of RR-SJF is 9 times smaller than FCFS's",
        "9",
        f"{ours:.1f}",
        _factor(ours, 9),
    )
    ours = f.over("sjf", "rr-sjf", "median_ttft")
    yield Finding(
        "Figure 3: SJF has a similar median TTFT as RR-SJF",
        "about 1",
        f"SJF's is {ours:.2f} times RR-SJF's",
        1 / SIMILAR <= ours <= SIMILAR,
        "" if 1 / SIMILAR <= ours <= SIMILAR else "it depends on the lengths below the limit",
    )
    for policy, paper in (("sjf", 5.0), ("fcfs", 5.0), ("rr", 1.5)):
        ours = f.over(policy, "rr-sjf", "p100_ttft")
        yield Finding(
            f"Figure 3: the largest TTFT of RR-SJF is {paper:g} times smaller than "
            f"{policy.upper()}'s",
            f"{paper:g}",
            f"{ours:.2f}",
            ours > 1 and _factor(ours, paper),
            _if_rr_is_fair(f, "p100_ttft") if policy == "rr" else "",
        )
    medians = [f.of(policy, "median_latency") for policy in COMPARED]
    spread = max(medians) / min(medians)
    words = ", ".join(f"{p} {m:.1f}" for p, m in zip(COMPARED, medians, strict=True))
    yield Finding(
        "Figure 4: median end-to-end latencies are similar",
        "similar",
        f"{words} s: a factor of {spread:.3f}",
        spread <= SIMILAR,
        "the shortest first gain at the median, too; by more if RR preempts who started first: "
        f"{f.of('rr, first', 'median_latency'):.1f} s",
    )
    ours = f.over("rr", "rr-sjf", "p25_latency")
    yield Finding(
        "Figure 4: RR-SJF's 25th percentile of end-to-end latency is 9 times smaller than RR's",
        "9",
        f"{ours:.1f}",
        _factor(ours, 9),
        ("" if _factor(ours, 9) else "smaller, but by less; ") + _if_rr_is_fair(f, "p25_latency"),
    )
    last = {policy: f.of(policy, "p100_latency") for policy in COMPARED}
    yield Finding(
        "Figure 4: RR-SJF has the largest maximum end-to-end latency",
        "largest",
        ", ".join(f"{policy} {value:.1f}" for policy, value in last.items()) + " s",
        max(last, key=lambda policy: last[policy]) == "rr-sjf",
        _if_rr_is_fair(f, "p100_latency"),
    )


def _if_rr_is_fair(f: Figures, column: str) -> str:
    """What becomes of a quotient of RR and RR-SJF under the other reading of RR."""
    ours, other = f.over("rr", "rr-sjf", column), f.over("rr, first", "rr-sjf", column)
    return f"RR / RR-SJF is {ours:.2f}, and {other:.2f} if RR preempts who started first"


def _with_noise(f: Figures) -> Iterable[Finding]:
    most = int(f.noise["noise"].max())

    def both(policies: Iterable[str], *columns: str) -> tuple[float, float]:
        judged, beyond = (
            max(f.swing(policy, column, level) for policy in policies for column in columns)
            for level in (MODERATE, most)
        )
        return judged, beyond

    ours, beyond = both(["rr-sjf"], "median_ttft", "p75_ttft")
    yield Finding(
        "Figure 5: noise does not significantly affect the TTFTs of RR-SJF",
        "not affected",
        f"median and 75th percentile vary by a factor of at most {ours:.2f}, up to sigma {most:,} "
        f"by {beyond:.2f}",
        ours <= STEADY,
    )
    ours, beyond = both(["sjf"], "p75_ttft")
    middle, middle_beyond = both(["sjf"], "median_ttft")
    yield Finding(
        "Figure 5: the 75th percentile of SJF's TTFT changes dramatically with noise",
        "dramatically",
        f"by a factor of {ours:.2f}, up to sigma {most:,} by {beyond:.2f}; its median by "
        f"{middle:.2f} and {middle_beyond:.2f}",
        ours >= DRAMATIC,
        ""
        if ours >= DRAMATIC
        else "three quarters of the way are requests at the limit, all alike: noise changes who "
        "of them goes first, not when one of them does. The median feels strong noise",
    )
    ours, beyond = both(["sjf", "rr-sjf"], "median_latency")
    yield Finding(
        "Figure 6: end-to-end latency varies little with noise under both",
        "little",
        f"medians by a factor of at most {ours:.2f}, up to sigma {most:,} by {beyond:.2f}",
        ours <= SIMILAR,
    )


def _at_rates(f: Figures) -> Iterable[Finding]:
    high = f.rate[f.rate["rate"] >= LARGEST]
    table = {
        (policy, figure): f.by(high, "rate", policy, figure)
        for policy in ("fcfs", "sjf", "rr-sjf")
        for figure in ("median_ttft", "p100_ttft", "median_latency")
    }
    gain = table["fcfs", "median_ttft"] / table["rr-sjf", "median_ttft"]
    yield Finding(
        f"Figure 8: from {LARGEST} requests a second on, the median TTFT is nearly 10 times "
        "smaller than FCFS's",
        "nearly 10",
        f"{gain.min():.1f} to {gain.max():.1f}",
        bool(gain.between(10 / AGREE, 10 * AGREE).all()),
        f"it grows with the overload: {gain.iloc[0]:.1f} at {gain.index[0]:g}, {gain.iloc[-1]:.1f} "
        f"at {gain.index[-1]:g}, {f.over('fcfs', 'rr-sjf', 'median_ttft'):.1f} all at once",
    )
    more = table["rr-sjf", "median_ttft"] / table["sjf", "median_ttft"]
    yield Finding(
        "Figure 8: RR-SJF has a higher median TTFT than SJF",
        "higher",
        f"{more.min():.1f} to {more.max():.1f} times SJF's",
        bool((more > 1).all()),
    )
    shares = [_share_below(high, rate) for rate in sorted(high["rate"].unique())]
    yield Finding(
        "Figure 8: the worst TTFT of RR-SJF is about the 60th percentile of SJF's",
        "60th",
        f"{min(shares):.0f} % to {max(shares):.0f} % of SJF's are below it",
        all(50 <= share <= 70 for share in shares),
    )
    cost = table["rr-sjf", "median_latency"] / table["fcfs", "median_latency"]
    yield Finding(
        "Figure 7: lower TTFT comes at a slight cost of end-to-end latency",
        "slightly higher",
        f"median {cost.min():.2f} to {cost.max():.2f} times FCFS's, "
        f"{_range(table['rr-sjf', 'median_latency'] / table['sjf', 'median_latency'])} SJF's",
        bool((cost <= SIMILAR).all()),
        "below FCFS's: shorter requests end earlier" if cost.max() < 1 else "",
    )
    means = f.by(f.rate, "rate", "rr-sjf", "median_ttft")
    rates = sorted(means.index)
    below = float(means.loc[LARGEST] / means.loc[rates[0]])
    above = float(means.loc[rates[-1]] / means.loc[LARGEST])
    served = f.rate[f.rate[POLICY] == "fcfs"]
    speed = float((served["requests"] / served["makespan"]).max())
    yield Finding(
        f"Figures 7, 8: above {LARGEST} requests a second, the server's capacity, TTFT and "
        "end-to-end latency are more stable",
        "stable",
        f"RR-SJF's median TTFT grows {below:.0f} times up to {LARGEST} and {above:.2f} times from "
        f"there to {rates[-1]:g}; capacity is {speed:.1f} requests a second",
        above < below,
    )


def _range(values: "pd.Series") -> str:
    return f"{values.min():.2f} to {values.max():.2f} times"


def _share_below(rows: "pd.DataFrame", rate: float) -> float:
    """Percent of SJF's requests whose TTFT is below the worst of RR-SJF, at one rate."""
    from ratiolab.studies.tasks.quantiles import SHARES

    at = rows[rows["rate"] == rate]
    worst = mean_of(at, "rr-sjf", "p100_ttft")
    values = [mean_of(at, "sjf", f"p{share}_ttft") for share in SHARES]
    return float(np.interp(worst, values, SHARES))
