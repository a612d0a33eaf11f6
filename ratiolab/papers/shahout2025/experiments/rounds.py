"""SPRPT where preemption is free: are exact lengths the best predictions? Our own experiment."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.papers.experiment import Experiment, markdown
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

PREDICTIONS = "workload.predict"
WORDS = {
    "exact": "exact",
    "noisy:0.1": "within 10 %",
    "noisy:0.3": "within 30 %",
    "noisy:0.6": "within 60 %",
    "classified:0": "middle of the true bin",
    "classified:0.2": "middle of a bin, spread 0.2",
    "classified:0.65": "middle of a bin, spread 0.65",
}


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """A table, a figure, and what follows from them."""
    full = frame[frame["policy.c"] == 1]
    exact = full[full[PREDICTIONS] == "exact"].set_index("seed")["mean_latency"]
    rows = frame.assign(
        quotient=frame["mean_latency"] / frame["seed"].map(exact),
        predictions=frame[PREDICTIONS].map(WORDS),
        system=frame["policy.c"].map(lambda c: f"SPRPT, C = {c:g}" if c == c else "SJF"),
    )
    table = intervals(rows, ["predictions", "system"], "quotient")
    sprpt: dict[str, dict[Any, Any]] = {
        row["predictions"]: row
        for row in table[table["system"] == "SPRPT, C = 1"].to_dict("records")
    }
    means = full.groupby(PREDICTIONS, sort=False).mean(numeric_only=True).to_dict("index")
    requests, memory = int(frame["requests"].max()), int(frame["workload.memory"].iloc[0])
    lines = []
    for words, name in WORDS.items():
        cell = sprpt[name]
        lines.append(
            (
                name,
                f"{cell['mean']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})",
                float(means[words]["evictions"] / requests),
                float(means[words]["mean_memory"]),
                float(means[words]["makespan"]),
            )
        )
    header = (
        *("predictions", "mean latency / that of exact lengths", "evictions a request"),
        *("mean memory (tokens)", "makespan (rounds)"),
    )
    better = [name for name in WORDS.values() if sprpt[name]["high"] < 1]
    worse = [name for name in WORDS.values() if sprpt[name]["low"] > 1]
    limits = rows[rows[PREDICTIONS] == "exact"].groupby("system")["quotient"].mean()
    _draw(table, folder)
    return f"""\
{requests:,} requests with lengths like LMSYS-Chat-1M arrive at a rate of
{frame["workload.rate"].iloc[0]:g} a round; the memory is {memory:,} tokens, a round lasts one unit,
and evicted requests keep their tokens, so that preemption costs nothing and memory alone decides.
{frame["seed"].nunique()} seeds; quotients are paired by seed, with 95 % bootstrap intervals. SPRPT
with C = 1:

{markdown(header, lines)}

![Mean latency by prediction](shahout2025-rounds-latency.png)

- Better than exact lengths, by more than chance: {", ".join(better) or "none"}.
- Worse: {", ".join(worse) or "none"}.
- With exact lengths, C = 0.8 has {limits["SPRPT, C = 0.8"]:.3f} and C = 0.2
  {limits["SPRPT, C = 0.2"]:.3f} times the mean latency of C = 1; SJF, which evicts for memory
  alone, {limits["SJF"]:.3f}.

Shortest remaining output first is optimal on one server. In a memory it is a rule of thumb: what a
request takes from the others is the tokens it holds times the rounds in which it holds them, and
the order of the output alone ignores its prompt and the tokens it has. So small errors may help. A
likely reason why they do: who is predicted too short outlives its prediction and is not evicted any
more, which saves evictions. Bins without errors have no such requests but lose the
order of those in the first bin. Packing alone does not explain the differences: compare mean memory
with mean latency.
"""


def _draw(table: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import grouped_bars, panels, shared_legend, write_chart

    figure, (ax,) = panels(1)
    figure.set_size_inches(7.2, 4.2)
    short = {
        name: name.replace(", ", ",\n").replace("of the ", "of\nthe ") for name in WORDS.values()
    }
    drawn = table.assign(predictions=table["predictions"].map(short))
    y = "mean latency / SPRPT's on exact lengths"
    grouped_bars(drawn, "predictions", "system", ax, y_label=y, base=1)
    ax.axhline(1, color="black", lw=0.8)
    ax.tick_params(axis="x", labelsize=7.5)
    shared_legend(figure, [ax])
    write_chart(figure, folder / "shahout2025-rounds-latency.png")


EXPERIMENT = Experiment(
    "shahout2025-rounds",
    __name__,
    "Shortest predicted remaining length first where preemption is free",
    "An experiment of ratiolab on SPRPT, Shahout et al. (2025), Section 3.3, arXiv 2410.01035",
    page,
    figures=("instance", "requests", "mean_latency", "evictions", "mean_memory", "makespan"),
)
