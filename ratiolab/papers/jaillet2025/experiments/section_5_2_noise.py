"""Section 5.2.2 of Jaillet et al. (2025), Figure 5: MC-SF on predictions, with a margin."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Experiment, Finding, findings_table, markdown
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    MC_BENCHMARK,
    POLICY,
    SETTING,
    stands_in,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

REQUESTS = "workload.n"
MEMORY = 16492
NOISES = ("ε = 0.2", "ε = 0.5", "ε = 0.8")
TRUE, TRUE_PROTECTED = "true lengths", "true lengths, margin 0.1"
PROTECTED = "mc-sf lengths=predicted margin=0.1"
BARE = "mc-sf lengths=predicted margin=0.0"
DOUBLE = "mc-sf lengths=predicted margin=0.2"


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figure 5, findings, and every margin."""
    _draw(frame, folder)
    return f"""\
{stands_in()}

MC-SF plans with predictions from Uniform((1 - ε) o, (1 + ε) o), rounded. When memory overflows all
the same, every active request is cleared and starts again. A margin of 0.1 plans with 0.9 M.
50 requests a second, {frame["seed"].nunique()} seeds, lines are averages with 95 % bootstrap
intervals. MC-Benchmark, the paper's rule in order of arrival, knows the lengths. Where a run never
ends there is no point.

![Latency under prediction errors]({NAME}-latency.png)

## The paper's statements

{findings_table(_findings(frame))}

## How much margin?

At n = {int(frame[REQUESTS].max()):,}: mean latency, seconds, and cleared requests for each of the
{frame["seed"].nunique()} runs. A run *loops* when a state that leads to itself came back: nobody
would ever be served again.

{_margins(frame[frame[REQUESTS] == frame[REQUESTS].max()])}
"""


def _means(frame: "pd.DataFrame") -> "pd.Series":
    complete = frame[frame["outcome"] == "complete"]
    return complete.groupby([CLOCK, SETTING, REQUESTS, POLICY])["mean_latency"].mean()


def _findings(frame: "pd.DataFrame") -> Iterable[Finding]:
    most, means = _all_end(frame), _means(frame)

    def latency(clock: str, noise: str, policy: str) -> float:
        return float(means.loc[(clock, noise, most, policy)])

    series = {clock: [latency(clock, noise, PROTECTED) for noise in NOISES] for clock in CLOCKS}
    exact = {clock: latency(clock, NOISES[0], TRUE) for clock in CLOCKS}
    grows = [
        [exact[clock], *series[clock]] == sorted([exact[clock], *series[clock]]) for clock in CLOCKS
    ]
    peak = int(frame[(frame[POLICY] == PROTECTED) & (frame[REQUESTS] == most)]["peak_memory"].max())
    saved = [latency(clock, NOISES[0], TRUE_PROTECTED) / exact[clock] for clock in CLOCKS]
    yield Finding(
        "larger prediction error leads to higher latency (margin 0.1)",
        "increasing in ε",
        "; ".join(
            f"{exact[clock]:.1f} with true lengths, "
            + ", ".join(f"{v:.1f}" for v in series[clock])
            + " s"
            for clock in CLOCKS
        )
        + f" at n = {most:,}",
        all(grows) or (None if any(grows) else False),
        ""
        if all(grows)
        else "errors use the margin up: requests believed short come first and are longer, so that "
        f"memory holds up to {peak:,} tokens where the plan has 90 % of {MEMORY:,}; with true "
        "lengths the margin gives "
        + " and ".join(f"{quotient:.2f}" for quotient in saved)
        + " of the latency without it",
    )
    shares = [
        latency(clock, NOISES[-1], PROTECTED) / latency(clock, NOISES[-1], MC_BENCHMARK)
        for clock in CLOCKS
    ]
    yield Finding(
        "at ε = 0.8, MC-SF with the margin has significantly lower latency than FCFS",
        "significantly lower",
        " and ".join(f"{share:.2f}" for share in shares) + f" of MC-Benchmark's at n = {most:,}",
        max(shares) < 0.8,
    )
    bare, protected, double = (frame[frame[POLICY] == p] for p in (BARE, PROTECTED, DOUBLE))
    cleared = [float(part["evictions"].mean()) for part in (bare, protected)]
    yield Finding(
        "a margin of 0.1 substantially reduces clearing events",
        "substantially",
        f"{cleared[0]:,.0f} cleared requests a run without, {cleared[1]:,.0f} with it",
        cleared[1] < cleared[0] / 2,
    )
    lost = protected[protected["outcome"] != "complete"]
    where = ", ".join(
        f"{len(rows)} at {noise} and n = {n:,}"
        for (noise, n), rows in lost.groupby([SETTING, REQUESTS], sort=False)
    )
    yield Finding(
        "a margin of 0.1 prevents the instability of underestimates",
        "prevents",
        f"{len(lost)} of {len(protected)} runs loop{f': {where}' if where else ''}; without "
        f"a margin {(bare['outcome'] != 'complete').sum()} of {len(bare)}, with one of 0.2 "
        f"{(double['outcome'] != 'complete').sum()} of {len(double)}",
        lost.empty,
        "the more requests wait, the more of those believed to be short, and are not, come together"
        " at the head of the queue: margins would have to grow with the backlog"
        if len(lost)
        else "",
    )


def _all_end(frame: "pd.DataFrame") -> int:
    """The largest n at which every run with the paper's margin ends."""
    complete = frame[frame[POLICY] == PROTECTED].assign(ends=lambda f: f["outcome"] == "complete")
    ends = complete.groupby(REQUESTS)["ends"].all()
    return int(ends.index[ends].max())


def _margins(rows: "pd.DataFrame") -> str:
    lines = []
    for policy in dict.fromkeys(rows[POLICY]):
        cells = []
        for clock in CLOCKS:
            for noise in NOISES:
                part = rows[
                    (rows[POLICY] == policy) & (rows[CLOCK] == clock) & (rows[SETTING] == noise)
                ]
                done = part[part["outcome"] == "complete"]
                text = f"{done['mean_latency'].mean():.1f}" if len(done) else ""
                text += f" ({part['evictions'].mean():,.0f})" if part["evictions"].any() else ""
                loops = len(part) - len(done)
                cells.append(f"{text} {loops} of {len(part)} loop".strip() if loops else text)
        lines.append((policy.replace("lengths=predicted", "predicted,"), *cells))
    header = [f"{clock}, {noise}" for clock in CLOCKS.values() for noise in NOISES]
    return markdown(("scheduler", *header), lines)


def _draw(frame: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    names = {TRUE: "true lengths", MC_BENCHMARK: "mc-benchmark"}
    shown = frame[frame[POLICY].isin([TRUE, MC_BENCHMARK])]
    shown = shown[shown[SETTING] == NOISES[0]].assign(line=lambda f: f[POLICY].map(names))
    noisy = frame[frame[POLICY] == PROTECTED]
    import pandas as pd

    table = pd.concat([shown, noisy.assign(line="margin 0.1, " + noisy[SETTING])])
    ends = table.groupby([CLOCK, "line", REQUESTS])["mean_latency"].transform(
        lambda values: values.notna().all()
    )
    table = table[ends]
    look = looks(list(table["line"].unique()))
    figure, axes = panels(len(CLOCKS), columns=2)
    for ax, (clock, title) in zip(axes, CLOCKS.items(), strict=True):
        found = intervals(table[table[CLOCK] == clock], [REQUESTS, "line"], "mean_latency")
        lines(
            found,
            REQUESTS,
            "line",
            ax,
            look=look,
            title=title,
            x_label="requests",
            y_label="mean latency (s)",
        )
        ax.set_ylim(bottom=0)
    shared_legend(figure, axes, columns=3)
    write_chart(figure, folder / f"{NAME}-latency.png")


NAME = "jaillet2025-section-5-2-noise"

EXPERIMENT = Experiment(
    NAME,
    __name__,
    "MC-SF on noisy predictions, with a margin of memory",
    "Jaillet et al. (2025), Section 5.2.2, Figure 5, arXiv 2502.07115v5",
    page,
    figures=("mean_latency", "evictions", "wasted_tokens", "peak_memory", "outcome"),
)
