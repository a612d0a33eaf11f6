"""Sections 3.4 to 3.6 of Gogineni, Paul, Stec, Zhang (2024), Figures 3 to 8."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import numpy as np
import pandas as pd

from ratiolab.online.clock import LLAMA3_1B_L4
from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, Rule, below, higher, in_settings, inside, lower
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs, growth, mean_with_interval
from ratiolab.studies.frames import intervals
from ratiolab.studies.tasks.runs import SHARES

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


SPOKEN = ("fcfs", "sjf", "rr")


def at_once(bursts: Mapping[str, Runs]) -> Iterable[Finding]:
    """Compare the policies when all arrive at once; undecided where settings disagree."""
    first = next(iter(bursts.values()))

    def over(
        policies: Iterable[str], column: str, *, reverse: bool = False
    ) -> dict[str, list[Ratio]]:
        """Return policies over RR-SJF, or RR-SJF over them, in every setting."""
        return {
            name: [
                burst.ratio("rr-sjf", other, column)
                if reverse
                else burst.ratio(other, "rr-sjf", column)
                for other in policies
            ]
            for name, burst in bursts.items()
        }

    def if_rr_is_fair(column: str) -> str:
        """Say what becomes of a ratio of RR and RR-SJF under the other reading of RR."""
        return f"{first.ratio('rr, first', 'rr-sjf', column):.2f} if RR preempts who started first"

    yield in_settings(
        "Figure 3: RR-SJF has a lower median TTFT than RR and FCFS",
        "lower",
        over(("rr", "fcfs"), "median_ttft", reverse=True),
        lower(),
        said=_means,
    )
    yield in_settings(
        "Figure 3: the median TTFT of RR-SJF is 9 times smaller than FCFS's",
        "9",
        over(["fcfs"], "median_ttft"),
        _within(9),
        said=_means,
    )
    yield in_settings(
        "Figure 3: SJF has a similar median TTFT as RR-SJF",
        "about 1",
        over(["sjf"], "median_ttft"),
        inside(1 / SIMILAR, SIMILAR),
        "it depends on the lengths below the limit",
        said=_means,
    )
    for policy, paper in (("sjf", 5.0), ("fcfs", 5.0), ("rr", 1.5)):
        yield in_settings(
            f"Figure 3: the largest TTFT of RR-SJF is {paper:g} times smaller than "
            f"{policy.upper()}'s",
            f"{paper:g}",
            over([policy], "p100_ttft"),
            inside(max(1, paper / AGREE), paper * AGREE),
            if_rr_is_fair("p100_ttft") if policy == "rr" else "",
            said=_means,
        )
    yield in_settings(
        "Figure 4: median end-to-end latencies are similar",
        "similar",
        {name: [_apart(burst, "median_latency")] for name, burst in bursts.items()},
        inside(1, SIMILAR),
        "the shortest first gain at the median, too",
        said=lambda ratios: f"largest over least {ratios[0]:.3f}",
    )
    yield in_settings(
        "Figure 4: RR-SJF's 25th percentile of end-to-end latency is 9 times smaller than RR's",
        "9",
        over(["rr"], "p25_latency"),
        _within(9),
        if_rr_is_fair("p25_latency"),
        said=_means,
    )
    yield in_settings(
        "Figure 4: RR-SJF has the largest maximum end-to-end latency",
        "largest",
        over(SPOKEN, "p100_latency", reverse=True),
        higher(),
        if_rr_is_fair("p100_latency"),
        said=_means,
    )


def _within(paper: float) -> Rule:
    return inside(paper / AGREE, paper * AGREE)


def _means(ratios: Sequence[Ratio]) -> str:
    return ", ".join(f"{ratio.mean:.3g}" for ratio in ratios)


def _apart(burst: Runs, column: str) -> Ratio:
    """Return how many times the least figure the largest is, of the policies compared."""
    table = pd.DataFrame({policy: burst.values(policy, column) for policy in COMPARED})
    return mean_with_interval(table.max(axis=1) / table.min(axis=1))


def with_noise(noise: Runs) -> Iterable[Finding]:
    """Say how figures vary with the noise of predictions."""
    most = int(noise.frame["noise"].max())

    def swings(policies: Iterable[str], *columns: str, top: int = MODERATE) -> list[Ratio]:
        """Return figures at the level of noise where they are largest over where they are least."""
        found = []
        for policy in policies:
            for column in columns:
                means = noise.series(policy, "noise", column)
                means = means[means.index <= top]
                high, low = (
                    noise.at(noise=level).values(policy, column)
                    for level in (means.idxmax(), means.idxmin())
                )
                found.append(mean_with_interval(high / low))
        return found

    def worst(ratios: Iterable[Ratio]) -> str:
        return f"{max(ratios, key=float):.2f}"

    both = ("median_ttft", "p75_ttft")
    ours = swings(["rr-sjf"], *both)
    yield Finding(
        "Figure 5: noise does not significantly affect the TTFTs of RR-SJF",
        "not affected",
        ours,
        inside(1, STEADY),
        said=f"median and 75th percentile vary by a factor of at most {worst(ours)}, up to sigma "
        f"{most:,} by {worst(swings(['rr-sjf'], *both, top=most))}",
    )
    ours, middle = swings(["sjf"], "p75_ttft"), swings(["sjf"], "median_ttft")
    yield Finding(
        "Figure 5: the 75th percentile of SJF's TTFT changes dramatically with noise",
        "dramatically",
        ours,
        inside(DRAMATIC, inf),
        said=f"by a factor of {worst(ours)}, up to sigma {most:,} by "
        f"{worst(swings(['sjf'], 'p75_ttft', top=most))}; its median by {worst(middle)} and "
        f"{worst(swings(['sjf'], 'median_ttft', top=most))}",
        otherwise="three quarters of the way are requests at the limit, all alike: noise changes "
        "who of them goes first, not when one of them does. Strong noise changes the median",
    )
    ours = swings(["sjf", "rr-sjf"], "median_latency")
    yield Finding(
        "Figure 6: end-to-end latency varies little with noise under both",
        "little",
        ours,
        inside(1, SIMILAR),
        said=f"medians by a factor of at most {worst(ours)}, up to sigma {most:,} by "
        f"{worst(swings(['sjf', 'rr-sjf'], 'median_latency', top=most))}",
    )


def at_rates(rate: Runs, all_at_once: Ratio) -> Iterable[Finding]:
    """Compare the policies at request rates; FCFS over RR-SJF, median TTFT, if all are at once."""
    rates = [value for value in rate.levels("rate") if value >= LARGEST]

    def over(policy: str, other: str, column: str) -> list[Ratio]:
        return [rate.at(rate=value).ratio(policy, other, column) for value in rates]

    gain = over("fcfs", "rr-sjf", "median_ttft")
    yield Finding(
        f"Figure 8: from {LARGEST} requests a second on, the median TTFT is nearly 10 times "
        "smaller than FCFS's",
        "nearly 10",
        gain,
        _within(10),
        f"it grows with the overload: {gain[0]:.1f} at {rates[0]:g}, {gain[-1]:.1f} at "
        f"{rates[-1]:g}, {all_at_once:.1f} all at once",
        said=_span(gain, ".1f"),
    )
    more = over("rr-sjf", "sjf", "median_ttft")
    yield Finding(
        "Figure 8: RR-SJF has a higher median TTFT than SJF",
        "higher",
        more,
        higher(),
        said=f"{_span(more, '.1f')} times SJF's",
    )
    shares = [_share_below(rate.at(rate=value)) for value in rates]
    yield Finding(
        "Figure 8: the worst TTFT of RR-SJF is about the 60th percentile of SJF's",
        "60th",
        shares,
        inside(50, 70),
        said=f"{_span(shares, '.0f')}% of SJF's are below it",
    )
    cost, over_sjf = (over("rr-sjf", other, "median_latency") for other in ("fcfs", "sjf"))
    yield Finding(
        "Figure 7: lower TTFT comes at a slight cost of end-to-end latency",
        "slightly higher",
        cost,
        inside(0, SIMILAR),
        "below FCFS's: shorter requests end earlier" if max(cost, key=float).mean < 1 else "",
        said=f"median {_span(cost, '.2f')} times FCFS's, {_span(over_sjf, '.2f')} times SJF's",
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


def _span(ratios: Sequence[Ratio], spec: str) -> str:
    values = [ratio.mean for ratio in ratios]
    return f"{min(values):{spec}} to {max(values):{spec}}"


def _share_below(runs: Runs) -> Ratio:
    """Return the percentage of SJF's requests whose TTFT is below the worst of RR-SJF, by seed."""
    worst = runs.values("rr-sjf", "p100_ttft")
    quantiles = runs.rows("sjf")[[f"p{share}_ttft" for share in SHARES]]
    return mean_with_interval(
        pd.Series(
            [np.interp(worst[seed], quantiles.loc[seed], SHARES) for seed in worst.index],
        )
    )


SETTING, POLICY = "workload.label", "policy.label"
CLOCK, VIDUR = "clock", "vidur-llama2-70b-2xa100"
SPREAD, RATE, NOISE = "workload.sigma", "workload.rate", "workload.predict"
SHAPE = 3.0
"""Spread of the lengths in Figures 3 to 8, of three tried the one whose factors are nearest to the
paper's; the others are in a table of their own."""

VARIANTS = ("rr, first", "rr-sjf, swap", "rr-sjf, one", "rr-sjf, all")
MEASURES = {"ttft": "time to first token", "latency": "end-to-end latency"}


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    frame = frame.assign(
        noise=frame[NOISE].str.removeprefix("gaussian:").astype(int),
        rate=(1000 * frame[RATE]).round(3),
    )
    vidur = Runs(frame[frame[CLOCK] == VIDUR], [POLICY])
    frame = frame[frame[CLOCK] != VIDUR]
    bursts, noise, rate = (frame[frame[SETTING] == name] for name in ("burst", "noise", "rate"))
    once = bursts[bursts[SPREAD] == SHAPE]
    noise = pd.concat([once, noise]).sort_values("noise", kind="stable")
    burst = Runs(once, [POLICY])
    spreads = sorted(set(bursts[SPREAD]) - {SHAPE}, reverse=True)
    others = {f"spread {s:g}": Runs(bursts[bursts[SPREAD] == s], [POLICY]) for s in spreads}
    judged = {f"spread {SHAPE:g}": burst, **others, f"spread {SHAPE:g}, Vidur's clock": vidur}
    tokens, seconds = (burst.mean(VARIANTS[-1], c) for c in ("prefill_tokens", "makespan"))
    slots = {
        "shape": SHAPE,
        "rules": globals(),
        "limits": _limit_table(burst),
        "prefill_share": tokens * LLAMA3_1B_L4.prefill / seconds,
        "readings": _reading_table(burst),
        "shapes": _shape_table(judged),
        "settings": list(judged),
    }
    gain = burst.ratio("fcfs", "rr-sjf", "median_ttft")
    findings = [
        *at_once(judged),
        *with_noise(Runs(noise, [POLICY])),
        *at_rates(Runs(rate, [POLICY]), gain),
    ]
    sigma, some = "sigma of the prediction (tokens)", ("fcfs", "sjf", "rr-sjf")
    charts = {
        "burst": _burst_chart(once),
        "noise": _axis_chart(noise, some[1:], "noise", sigma, {5: "ttft", 6: "latency"}),
        "rate": _axis_chart(rate, some, "rate", "requests a second", {7: "latency", 8: "ttft"}),
    }
    return Page(slots, findings, charts)


def _limit_table(burst: Runs) -> str:
    columns = {
        "median TTFT (s), 256": ("{}", "median_ttft"),
        "median without limit": ("{}, no limit", "median_ttft"),
        "largest TTFT (s), 256": ("{}", "p100_ttft"),
        "largest without limit": ("{}, no limit", "p100_ttft"),
        "peak memory without limit (tokens)": ("{}, no limit", "peak_memory"),
    }
    return grid(
        "policy",
        ("fcfs", "sjf", "rr-sjf"),
        columns,
        lambda policy, column: burst.mean(column[0].format(policy), column[1]),
    )


def _reading_table(burst: Runs) -> str:
    columns = {
        "median TTFT (s)": "median_ttft",
        "largest TTFT (s)": "p100_ttft",
        "median E2EL (s)": "median_latency",
        "largest E2EL (s)": "p100_latency",
        "mean memory (tokens)": "mean_memory",
        "evictions": "evictions",
        "tokens prefilled": "prefill_tokens",
    }

    def cell(policy: str, column: str) -> float:
        mean = burst.mean(policy, column)
        return round(mean) if column in ("evictions", "prefill_tokens") else mean

    return grid("policy", (*COMPARED, *VARIANTS), columns, cell)


def _shape_table(judged: Mapping[str, Runs]) -> str:
    columns = {
        "median TTFT, FCFS / RR-SJF (paper: 9)": ("fcfs", "median_ttft"),
        "SJF / RR-SJF (1)": ("sjf", "median_ttft"),
        "largest TTFT, SJF / RR-SJF (5)": ("sjf", "p100_ttft"),
        "RR / RR-SJF (1.5)": ("rr", "p100_ttft"),
        "E2EL, 25th percentile, RR / RR-SJF (9)": ("rr", "p25_latency"),
        "largest E2EL, RR / RR-SJF (below 1)": ("rr", "p100_latency"),
    }
    return grid(
        "lengths, clock",
        judged,
        columns,
        lambda at, column: f"{at.ratio(column[0], 'rr-sjf', column[1]):.2f}",
    )


def _burst_chart(once: pd.DataFrame) -> Panels:
    rows = once[once[POLICY].isin(COMPARED)]
    panels = [
        Panel(
            _boxes(rows, [POLICY], column), f"Figure {figure}: all at once", y_label=f"{name} (s)"
        )
        for figure, (column, name) in enumerate(MEASURES.items(), 3)
    ]
    return Panels("boxes", POLICY, None, panels, COMPARED, legend=None)


def _axis_chart(
    rows: pd.DataFrame,
    policies: tuple[str, ...],
    axis: str,
    x_label: str,
    measures: dict[int, str],
) -> Panels:
    rows = rows[rows[POLICY].isin(policies)]
    panels = [
        Panel(
            _boxes(rows, [axis, POLICY], column),
            f"Figure {figure}: {MEASURES[column]}",
            y_label=f"{MEASURES[column]} (s)",
            log_y=axis == "rate" and column == "ttft",  # from milliseconds to half a minute
        )
        for figure, column in measures.items()
    ]
    return Panels(
        "boxes",
        axis,
        POLICY,
        panels,
        COMPARED,
        columns=1,
        height=2.9,
        size=(7.4, 6.4),
        options={"x_label": x_label},
    )


def _boxes(rows: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """Return the five figures of a box, and the interval of the median, for every group."""
    table = intervals(rows, by, f"median_{column}").set_index(by)
    means = rows.groupby(by, sort=False)
    for share in (0, 25, 75, 100):
        table[f"p{share}"] = means[f"p{share}_{column}"].mean()
    return table.reset_index()
