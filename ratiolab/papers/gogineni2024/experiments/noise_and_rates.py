"""Sections 3.4 to 3.6 of Gogineni, Paul, Stec, Zhang (2024), Figures 3 to 8."""

from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, findings_table, markdown
from ratiolab.papers.gogineni2024.experiments._findings import (
    AGREE,
    COMPARED,
    DRAMATIC,
    MODERATE,
    POLICY,
    SIMILAR,
    STEADY,
    Figures,
    findings,
    mean_of,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

NAME = "gogineni2024"
SETTING = "workload.label"
SPREAD, RATE, NOISE = "workload.sigma", "workload.rate", "workload.predict"
SHAPE = 3.0
"""Spread of the lengths in Figures 3 to 8, of three tried the one whose factors are nearest to the
paper's; the others are in a table of their own."""

VARIANTS = ("rr, first", "rr-sjf, swap", "rr-sjf, one", "rr-sjf, all")
FREE = "{}, no limit"


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    frame = frame.assign(
        noise=frame[NOISE].str.removeprefix("gaussian:").astype(int),
        rate=(1000 * frame[RATE]).round(3),
    )
    burst = frame[(frame[SETTING] == "burst") & (frame[SPREAD] == SHAPE)]
    noise = frame[(frame[SETTING] == "noise")]
    noise = _concat(burst, noise).sort_values("noise", kind="stable")
    rate = frame[frame[SETTING] == "rate"]
    _draw_burst(burst, folder)
    _draw_noise(noise, folder)
    _draw_rate(rate, folder)
    figures = Figures(burst, noise, rate)
    n, memory = int(burst["requests"].iloc[0]), int(burst["workload.memory"].iloc[0])
    prompt = int(burst["workload.prompt"].iloc[0])
    return f"""\
{n:,} requests at once (Figures 3 to 6) or by Poisson arrivals (Figures 7, 8), slices of 5 tokens,
recompute. What stands in for what the paper measured:

- **Lengths.** Its replies of Llama-3.2-1B to Chatbot Arena prompts are not published: 4 to 1,024
  tokens, 1,024 a limit, at most half of them at the limit. Here their logarithms are all but
  normal with median 1,024, cut at 1 and 1,024. Nothing is known of their spread: three are tried
  in [a table below](#other-lengths), and {SHAPE:g}, the one nearest to the paper's factors, is used
  for all the rest. Prompts: {prompt} tokens.
- **Machine.** Not vLLM on an L4 but a clock derived from the data sheets (`llama3-1b-l4`), with
  {memory:,} tokens of memory. Absolute seconds differ, and vLLM's own overhead is left out.
- **Who runs.** The paper does not say what limited its batches. With that much memory it was most
  likely vLLM's default of 256 requests; all policies here have it, and
  [without it](#what-limits-the-batch) nobody waits.
- **Algorithm 1.** It preempts for the first request in line and returns; vLLM then starts others
  while there is room. That is `rr-sjf` here (`starts = fill`). `rr` is the same without
  predictions, and preempts who started last, as vLLM does (`victim = last`); the paper does not
  say. [Figure 2](gogineni2024-slices.md) compares the readings. vLLM's limit on the tokens
  prefilled in one batch is not modelled.

Boxes are quartiles with the least and the largest value, means over {burst["seed"].nunique()}
seeds; black bars are 95 % bootstrap intervals of the median. Figure 9 shows that the paper's
latencies gather in three humps; its lengths would be needed to tell why.

![Figures 3 and 4: all at once]({NAME}-burst.png)

![Figures 5 and 6: noise]({NAME}-noise.png)

![Figures 7 and 8: request rates]({NAME}-rate.png)

## The paper's statements

Rules, fixed beforehand: a factor is reproduced when ours is within {AGREE:g} times of it; *similar*
is within {SIMILAR} times, *not affected* within {STEADY}, *dramatic* at least {DRAMATIC}. Three
readings were chosen afterwards, as what fits best of what the paper leaves open: the spread of the
lengths, whom RR preempts, and up to which noise a statement is judged; the other choices stand
beside. Noise is judged up to sigma
{MODERATE}: the paper's levels can be read off its figures only.

{findings_table(findings(figures))}

## What limits the batch

Memory alone holds all requests: without a limit of 256 all of them start at once, whatever
the policy. The differences in TTFT that the paper reports need a limit.

{_limit_table(burst)}

## Readings of Algorithm 1, recompute and swap

`one` starts a single request in an iteration; `all` repeats the algorithm while anybody may be
preempted. The latter exchanges a full batch every five tokens, and prefilling what it had produced
takes {_prefill_share(burst):.0%} of the time.

{_reading_table(burst)}

## Other lengths

Quotients of the statements above for three spreads of the logarithm; half of the requests are at
the limit under each.

{_shape_table(frame[frame[SETTING] == "burst"])}
"""


def _concat(*frames: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    return pd.concat(frames)


def _prefill_share(burst: "pd.DataFrame") -> float:
    """Of the makespan, the share that prefilling takes when the whole batch is exchanged."""
    from ratiolab.online.clock import LLAMA3_1B_L4

    tokens, seconds = (mean_of(burst, VARIANTS[-1], c) for c in ("prefill_tokens", "makespan"))
    return tokens * LLAMA3_1B_L4.prefill / seconds


def _limit_table(burst: "pd.DataFrame") -> str:
    rows = [
        (
            policy,
            *(mean_of(burst, label, "median_ttft") for label in (policy, FREE.format(policy))),
            *(mean_of(burst, label, "p100_ttft") for label in (policy, FREE.format(policy))),
            f"{mean_of(burst, FREE.format(policy), 'peak_memory'):,.0f}",
        )
        for policy in ("fcfs", "sjf", "rr-sjf")
    ]
    header = (
        *("policy", "median TTFT (s), 256", "without limit", "largest TTFT (s), 256"),
        *("without limit", "peak memory without limit (tokens)"),
    )
    return markdown(header, rows)


def _reading_table(burst: "pd.DataFrame") -> str:
    columns = ("median_ttft", "p100_ttft", "median_latency", "p100_latency", "mean_memory")
    rows = [
        (
            policy,
            *(mean_of(burst, policy, column) for column in columns),
            round(mean_of(burst, policy, "evictions")),
            round(mean_of(burst, policy, "prefill_tokens")),
        )
        for policy in (*COMPARED, *VARIANTS)
    ]
    header = (
        *("policy", "median TTFT (s)", "largest TTFT (s)", "median E2EL (s)", "largest E2EL (s)"),
        *("mean memory (tokens)", "evictions", "tokens prefilled"),
    )
    return markdown(header, rows)


def _shape_table(burst: "pd.DataFrame") -> str:
    rows = []
    for spread in sorted(burst[SPREAD].unique()):
        at = burst[burst[SPREAD] == spread]
        quotients = (
            *(("fcfs", "median_ttft"), ("sjf", "median_ttft"), ("sjf", "p100_ttft")),
            *(("rr", "p100_ttft"), ("rr", "p25_latency"), ("rr", "p100_latency")),
        )
        rows.append(
            (
                f"{spread:g}",
                *(mean_of(at, one, c) / mean_of(at, "rr-sjf", c) for one, c in quotients),
            )
        )
    header = (
        *("spread", "median TTFT, FCFS / RR-SJF (paper: 9)", "SJF / RR-SJF (1)"),
        *("largest TTFT, SJF / RR-SJF (5)", "RR / RR-SJF (1.5)"),
        *("E2EL, 25th percentile, RR / RR-SJF (9)", "largest E2EL, RR / RR-SJF (below 1)"),
    )
    return markdown(header, rows)


def _draw_burst(burst: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import boxes, looks, panels, write_chart

    figure, axes = panels(2, columns=2)
    rows = burst[burst[POLICY].isin(COMPARED)]
    for ax, (column, number, words) in zip(axes, MEASURES, strict=True):
        boxes(
            _box_table(rows, [POLICY], column),
            POLICY,
            None,
            ax,
            look=looks(COMPARED),
            title=f"Figure {number}: all at once",
            y_label=f"{words} (s)",
        )
    write_chart(figure, folder / f"{NAME}-burst.png")


def _draw_noise(noise: "pd.DataFrame", folder: Path) -> None:
    _draw_pair(noise, ("sjf", "rr-sjf"), "noise", "sigma of the prediction (tokens)", 5, folder)


def _draw_rate(rate: "pd.DataFrame", folder: Path) -> None:
    _draw_pair(rate, ("fcfs", "sjf", "rr-sjf"), "rate", "requests a second", 7, folder)


def _draw_pair(
    rows: "pd.DataFrame",
    policies: tuple[str, ...],
    axis: str,
    x_label: str,
    first: int,
    folder: Path,
) -> None:
    from ratiolab.report.plots.experiments import boxes, looks, panels, shared_legend, write_chart

    figure, axes = panels(2, columns=1, height=2.9)
    measures = MEASURES if first == 5 else tuple(reversed(MEASURES))
    for ax, (number, (column, _, words)) in zip(axes, enumerate(measures, first), strict=True):
        boxes(
            _box_table(rows[rows[POLICY].isin(policies)], [axis, POLICY], column),
            axis,
            POLICY,
            ax,
            look=looks(COMPARED),
            title=f"Figure {number}: {words}",
            x_label=x_label,
            y_label=f"{words} (s)",
        )
    figure.set_size_inches(7.4, 6.4)
    shared_legend(figure, axes)
    write_chart(figure, folder / f"{NAME}-{axis}.png")


MEASURES = (("ttft", 3, "time to first token"), ("latency", 4, "end-to-end latency"))


def _box_table(rows: "pd.DataFrame", by: list[str], column: str) -> "pd.DataFrame":
    """Five figures of a box, and the interval of the median, for every group."""
    table = intervals(rows, by, f"median_{column}").set_index(by)
    means = rows.groupby(by, sort=False)
    for share in (0, 25, 75, 100):
        table[f"p{share}"] = means[f"p{share}_{column}"].mean()
    return table.reset_index()


EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Round robin with the shortest first: policies, noise and request rates",
    "Gogineni, Paul, Stec, Zhang (2024), Sections 3.4 to 3.6, Figures 3 to 8",
    page,
    figures=(
        *("instance", "requests", "mean_latency", "mean_ttft", "median_ttft", "median_latency"),
        *(f"p{share}_ttft" for share in (0, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)),
        *(f"p{share}_latency" for share in (0, 25, 75, 100)),
        *("makespan", "mean_memory", "peak_memory", "evictions", "prefill_tokens"),
    ),
)
