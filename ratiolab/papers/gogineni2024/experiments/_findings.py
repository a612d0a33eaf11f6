"""What Gogineni et al. (2024) say in Sections 3.4 to 3.6, beside what was found."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.papers.finding import (
    Finding,
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
    largest,
    least,
    named,
    similar,
    within,
)
from ratiolab.papers.runs import Runs, growth, swing

if TYPE_CHECKING:
    import pandas as pd

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


def at_every_spread(bursts: Mapping[float, Runs]) -> Iterable[Finding]:
    """Compare the policies when all arrive at once; undecided where the lengths' spread decides.

    The first spread is the one that the page shows; what others give stands in the last column.
    """
    shown, *others = (list(at_once(burst)) for burst in bursts.values())
    for finding, *same in zip(shown, *others, strict=True):
        differing = [
            f"{other.cells()[2]} at spread {spread:g}"
            for spread, other in zip(list(bursts)[1:], same, strict=True)
            if other.reproduced != finding.reproduced
        ]
        if differing:
            why = "; ".join([*filter(None, [finding.why]), *differing])
            said = finding.cells()[2]
            yield replace(finding, rule=None, why=why, otherwise="", said=said)
        else:
            yield finding


def at_once(burst: Runs) -> Iterable[Finding]:
    """Compare the policies when all requests arrive at once."""

    def if_rr_is_fair(column: str) -> str:
        """Say what becomes of a ratio of RR and RR-SJF under the other reading of RR."""
        ours, other = (burst.ratio_of_means(rr, "rr-sjf", column) for rr in ("rr", "rr, first"))
        return f"RR / RR-SJF is {ours:.2f}, and {other:.2f} if RR preempts who started first"

    median = {policy: burst.mean(policy, "median_ttft") for policy in ("rr-sjf", "rr", "fcfs")}
    rr_sjf, rr, fcfs = median.values()
    yield Finding(
        "Figure 3: RR-SJF has a lower median TTFT than RR and FCFS",
        "lower",
        median,
        least("rr-sjf"),
        said=f"{rr_sjf:.2f} s; RR {rr:.2f} s, FCFS {fcfs:.2f} s",
    )
    yield Finding(
        "Figure 3: the median TTFT of RR-SJF is 9 times smaller than FCFS's",
        9,
        burst.ratio_of_means("fcfs", "rr-sjf", "median_ttft"),
        within(AGREE, "{:.1f}"),
    )
    ours = burst.ratio_of_means("sjf", "rr-sjf", "median_ttft")
    yield Finding(
        "Figure 3: SJF has a similar median TTFT as RR-SJF",
        "about 1",
        ours,
        similar(SIMILAR),
        said=f"SJF's is {ours:.2f} times RR-SJF's",
        otherwise="it depends on the lengths below the limit",
    )
    for policy, paper in (("sjf", 5.0), ("fcfs", 5.0), ("rr", 1.5)):
        yield Finding(
            f"Figure 3: the largest TTFT of RR-SJF is {paper:g} times smaller than "
            f"{policy.upper()}'s",
            paper,
            burst.ratio_of_means(policy, "rr-sjf", "p100_ttft"),
            all_of(above(1), within(AGREE)),
            if_rr_is_fair("p100_ttft") if policy == "rr" else "",
        )
    middle = {policy: burst.mean(policy, "median_latency") for policy in COMPARED}
    spread = max(middle.values()) / min(middle.values())
    yield Finding(
        "Figure 4: median end-to-end latencies are similar",
        "similar",
        spread,
        at_most(SIMILAR),
        "the shortest first gain at the median, too; by more if RR preempts who started first: "
        f"{burst.mean('rr, first', 'median_latency'):.1f} s",
        said=f"{named(middle, '{:.1f}')} s: a factor of {spread:.3f}",
    )
    yield Finding(
        "Figure 4: RR-SJF's 25th percentile of end-to-end latency is 9 times smaller than RR's",
        9,
        burst.ratio_of_means("rr", "rr-sjf", "p25_latency"),
        within(AGREE, "{:.1f}"),
        if_rr_is_fair("p25_latency"),
        otherwise="smaller, but by less; ",
    )
    last = {policy: burst.mean(policy, "p100_latency") for policy in COMPARED}
    yield Finding(
        "Figure 4: RR-SJF has the largest maximum end-to-end latency",
        "largest",
        last,
        largest("rr-sjf"),
        if_rr_is_fair("p100_latency"),
        said=f"{named(last, '{:.1f}')} s",
    )


def with_noise(noise: Runs) -> Iterable[Finding]:
    """Say how figures vary with the noise of predictions."""
    most = int(noise.frame["noise"].max())

    def swings(policies: Iterable[str], *columns: str) -> tuple[float, float]:
        """Return the largest factor between levels of noise, up to moderate ones and to all."""
        series = [
            noise.series(policy, "noise", column) for policy in policies for column in columns
        ]
        judged, beyond = (max(swing(s[s.index <= top]) for s in series) for top in (MODERATE, most))
        return judged, beyond

    ours, beyond = swings(["rr-sjf"], "median_ttft", "p75_ttft")
    yield Finding(
        "Figure 5: noise does not significantly affect the TTFTs of RR-SJF",
        "not affected",
        ours,
        at_most(STEADY),
        said=f"median and 75th percentile vary by a factor of at most {ours:.2f}, up to sigma "
        f"{most:,} by {beyond:.2f}",
    )
    ours, beyond = swings(["sjf"], "p75_ttft")
    middle, middle_beyond = swings(["sjf"], "median_ttft")
    yield Finding(
        "Figure 5: the 75th percentile of SJF's TTFT changes dramatically with noise",
        "dramatically",
        ours,
        at_least(DRAMATIC),
        said=f"by a factor of {ours:.2f}, up to sigma {most:,} by {beyond:.2f}; its median by "
        f"{middle:.2f} and {middle_beyond:.2f}",
        otherwise="three quarters of the way are requests at the limit, all alike: noise changes "
        "who of them goes first, not when one of them does. The median feels strong noise",
    )
    ours, beyond = swings(["sjf", "rr-sjf"], "median_latency")
    yield Finding(
        "Figure 6: end-to-end latency varies little with noise under both",
        "little",
        ours,
        at_most(SIMILAR),
        said=f"medians by a factor of at most {ours:.2f}, up to sigma {most:,} by {beyond:.2f}",
    )


def at_rates(rate: Runs, all_at_once: float) -> Iterable[Finding]:
    """Compare the policies at request rates; FCFS over RR-SJF, median TTFT, if all are at once."""

    def over(policy: str, other: str, column: str) -> "pd.Series":
        mine, theirs = (rate.series(name, "rate", column) for name in (policy, other))
        quotients: pd.Series = (mine / theirs).loc[LARGEST:]
        return quotients

    def span(values: "pd.Series", spec: str) -> str:
        return f"{values.min():{spec}} to {values.max():{spec}}"

    gain = over("fcfs", "rr-sjf", "median_ttft")
    yield Finding(
        f"Figure 8: from {LARGEST} requests a second on, the median TTFT is nearly 10 times "
        "smaller than FCFS's",
        "nearly 10",
        gain,
        between(10 / AGREE, 10 * AGREE),
        f"it grows with the overload: {gain.iloc[0]:.1f} at {gain.index[0]:g}, {gain.iloc[-1]:.1f} "
        f"at {gain.index[-1]:g}, {all_at_once:.1f} all at once",
        said=span(gain, ".1f"),
    )
    more = over("rr-sjf", "sjf", "median_ttft")
    yield Finding(
        "Figure 8: RR-SJF has a higher median TTFT than SJF",
        "higher",
        more,
        above(1),
        said=f"{span(more, '.1f')} times SJF's",
    )
    shares = [_share_below(rate.at(rate=value)) for value in gain.index]
    yield Finding(
        "Figure 8: the worst TTFT of RR-SJF is about the 60th percentile of SJF's",
        "60th",
        shares,
        between(50, 70),
        said=f"{min(shares):.0f} % to {max(shares):.0f} % of SJF's are below it",
    )
    cost, over_sjf = (over("rr-sjf", other, "median_latency") for other in ("fcfs", "sjf"))
    yield Finding(
        "Figure 7: lower TTFT comes at a slight cost of end-to-end latency",
        "slightly higher",
        cost,
        at_most(SIMILAR),
        "below FCFS's: shorter requests end earlier" if cost.max() < 1 else "",
        said=f"median {span(cost, '.2f')} times FCFS's, {span(over_sjf, '.2f')} times SJF's",
    )
    means = rate.series("rr-sjf", "rate", "median_ttft")
    up_to, above_it = growth(means.loc[:LARGEST]), growth(means.loc[LARGEST:])
    served = rate.rows("fcfs")
    speed = float((served["requests"] / served["makespan"]).max())
    yield Finding(
        f"Figures 7, 8: above {LARGEST} requests a second, the server's capacity, TTFT and "
        "end-to-end latency are more stable",
        "stable",
        above_it,
        below(up_to),
        said=f"RR-SJF's median TTFT grows {up_to:.0f} times up to {LARGEST} and {above_it:.2f} "
        f"times from there to {means.index[-1]:g}; capacity is {speed:.1f} requests a second",
    )


def _share_below(runs: Runs) -> float:
    """Return the percentage of SJF's requests whose TTFT is below the worst of RR-SJF."""
    from ratiolab.studies.tasks.runs import SHARES

    values = [runs.mean("sjf", f"p{share}_ttft") for share in SHARES]
    return float(np.interp(runs.mean("rr-sjf", "p100_ttft"), values, SHARES))
