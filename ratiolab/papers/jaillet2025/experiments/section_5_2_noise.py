"""Section 5.2.2 of Jaillet et al. (2025), Figure 5: MC-SF on predictions, with a margin."""

from collections.abc import Iterable
from itertools import pairwise, product

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, below, higher
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    CLOCK,
    CLOCKS,
    MC_BENCHMARK,
    POLICY,
    REQUESTS,
    SETTING,
    clocks,
)
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Place, Ratio, Runs, mean_with_interval
from ratiolab.studies.frames import intervals

NOISES = ("ε = 0.2", "ε = 0.5", "ε = 0.8")
TRUE, TRUE_PROTECTED = "true lengths", "true lengths, margin 0.1"
PROTECTED = "mc-sf lengths=predicted margin=0.1"
BARE = "mc-sf lengths=predicted margin=0.0"
DOUBLE = "mc-sf lengths=predicted margin=0.2"


def page(frame: pd.DataFrame) -> Page:
    """Compute Figure 5, findings, and every margin."""
    most = int(frame[REQUESTS].max())
    slots = {
        "clocks": clocks(),
        "most": most,
        "margins": _margins(frame[frame[REQUESTS] == most]),
    }
    return Page(slots, list(findings(frame)), {"latency": _chart(frame)})


def findings(frame: pd.DataFrame) -> Iterable[Finding]:
    """Compare what errors and margins do with what the paper says of them."""
    bare, protected, double = (frame[frame[POLICY] == p] for p in (BARE, PROTECTED, DOUBLE))
    least = int(frame[REQUESTS].min())
    complete = frame[(frame["outcome"] == "complete") & (frame[REQUESTS] == least)]
    runs = Runs(complete, (CLOCK, SETTING, POLICY))

    def latencies(noise: str, policy: str) -> list[float]:
        return [runs.mean((clock, noise, policy), "mean_latency") for clock in CLOCKS]

    steps = [
        paired(runs, (clock, more, PROTECTED), (clock, less, PROTECTED))
        for clock in CLOCKS
        for less, more in pairwise(NOISES)
    ]
    exact, *noisy = (
        latencies(noise, policy)
        for noise, policy in ((NOISES[0], TRUE_PROTECTED), *((n, PROTECTED) for n in NOISES))
    )
    yield Finding(
        "larger prediction error leads to higher latency (margin 0.1)",
        "increasing in ε",
        steps,
        higher(),
        said="; ".join(
            f"{title}: {start:.1f} with true lengths, "
            f"{', '.join(f'{values[k]:.1f}' for values in noisy)} s"
            for k, (title, start) in enumerate(zip(CLOCKS.values(), exact, strict=True))
        )
        + f" at n = {least:,}; steps of ε {', '.join(map(str, steps))} times",
        otherwise="among runs that end",
    )
    mine, theirs = (latencies(NOISES[-1], policy) for policy in (PROTECTED, MC_BENCHMARK))
    shares = [one / other for one, other in zip(mine, theirs, strict=True)]
    yield Finding(
        "at ε = 0.8, MC-SF with the margin has significantly lower latency than FCFS",
        "significantly lower",
        shares,
        below(0.8),
        said=", ".join(f"{share:.2f}" for share in shares)
        + f" of MC-Benchmark's at n = {least:,}, of the runs that end",
    )
    cleared = [float(part["evictions"].mean()) for part in (bare, protected)]
    yield Finding(
        "a margin of 0.1 substantially reduces clearing events",
        "substantially",
        cleared[1],
        below(cleared[0] / 2),
        said=f"{cleared[0]:,.0f} cleared requests a run without, {cleared[1]:,.0f} with it",
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
        otherwise="the more requests wait, the more of those believed to be short, and are not, "
        "come together at the head of the queue: margins would have to grow with the backlog",
    )


def paired(runs: Runs, place: Place, other: Place) -> Ratio:
    """Return the quotient of mean latencies over the seeds with which both runs end."""
    both = runs.values(place, "mean_latency") / runs.values(other, "mean_latency")
    return mean_with_interval(both.dropna())


def _margins(rows: pd.DataFrame) -> str:
    def cell(row: tuple[str, str], noise: str) -> str:
        clock, policy = row
        part = rows[(rows[POLICY] == policy) & (rows[CLOCK] == clock) & (rows[SETTING] == noise)]
        done = part[part["outcome"] == "complete"]
        text = f"{done['mean_latency'].mean():.1f}" if len(done) else ""
        text += f" ({part['evictions'].mean():,.0f})" if part["evictions"].any() else ""
        loops = len(part) - len(done)
        return f"{text} {loops} of {len(part)} loop".strip() if loops else text

    lines = {
        (title, policy.replace("lengths=predicted", "predicted,")): (clock, policy)
        for (clock, title), policy in product(CLOCKS.items(), rows[POLICY].unique())
    }
    return grid(("clock", "scheduler"), lines, NOISES, cell)


def _chart(frame: pd.DataFrame) -> Panels:
    """Return latencies above, and below them what errors make of that of true lengths."""
    first = frame[SETTING] == NOISES[0]
    known = frame[frame[POLICY].isin([TRUE, MC_BENCHMARK]) & first]
    known = known.assign(line=known[POLICY])
    noisy = frame[frame[POLICY] == PROTECTED]
    noisy = noisy.assign(line="margin 0.1, " + noisy[SETTING])
    keys = [CLOCK, REQUESTS, "seed"]
    exact = known[known[POLICY] == TRUE].set_index(keys)["mean_latency"].rename("exact")
    noisy = noisy.join(exact, on=keys)
    noisy["ratio"] = noisy["mean_latency"] / noisy["exact"]
    panels = [
        Panel(
            intervals(known[known[CLOCK] == clock], [REQUESTS, "line"], "mean_latency"),
            title,
            y_label="mean latency (s)",
            bottom=0,
        )
        for clock, title in CLOCKS.items()
    ]
    for clock in CLOCKS:
        part = noisy[noisy[CLOCK] == clock]
        ended = part.groupby(["line", REQUESTS])["ratio"].transform(lambda one: one.notna().all())
        panels.append(
            Panel(
                intervals(part[ended], [REQUESTS, "line"], "ratio"),
                y_label="mean latency / with true lengths",
                whiskers=True,
                reference=1.0,
                note=_loops(part),
            )
        )
    labels = [*known["line"].unique(), *noisy["line"].unique()]
    options = {"x_label": "requests"}
    columns = len(CLOCKS)
    return Panels(
        "lines", REQUESTS, "line", panels, labels, columns=columns, legend=3, options=options
    )


def _loops(part: pd.DataFrame) -> str:
    """Return where lines end and why: for each error, a line, of how many runs some loop."""
    found = []
    for noise in NOISES:
        rows = part[part[SETTING] == noise]
        lost = rows["ratio"].isna().groupby(rows[REQUESTS]).agg(["sum", "size"])
        words = [f"{some} of {size} at n = {n:,}" for n, some, size in lost.itertuples() if some]
        if words:
            found.append(f"{noise}: {', '.join(words)} loop")
    return "\n".join(found)
