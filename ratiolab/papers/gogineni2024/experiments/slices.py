"""Section 3.3 of Gogineni, Paul, Stec, Zhang (2024), Figure 2: the tokens of a slice."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import (
    Experiment,
    Finding,
    findings_table,
    markdown,
)
from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

NAME = "gogineni2024-slices"
SETTING, POLICY, QUANTUM = "workload.label", "policy.label", "policy.quantum"
MEMORY, CLOCK, SEMANTICS = "workload.memory", "clock", "preempted_as"
SECONDS, ROUNDS = "llama3-1b-l4", "unit"
READING = "rr-sjf, fill"
SLICED = (READING, "rr-sjf, one", "rr-sjf, all", "rr, last", "rr, first")
TTFT, LATENCY = "mean_ttft", "mean_latency"

GROWS = 1.05
"""A positive correlation: the figure at the longest slice is at least so many times that at the
shortest, and the rank correlation of slices and means is at least `RANKS`."""

RANKS = 0.9
COMPARABLE = 1.25
"""Comparable to SJF: at most so many times as much."""


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    prompts = frame["requests"] * frame["workload.prompt"]
    frame = frame.assign(again=frame["prefill_tokens"] - prompts)
    large = int(frame[MEMORY].max())
    burst = frame[(frame[SETTING] == "burst") & (frame[MEMORY] == large)]
    seconds = burst[burst[CLOCK] == SECONDS]
    spread = float(frame["workload.sigma"].iloc[0])
    n, batch = int(frame["requests"].iloc[0]), int(frame["policy.batch"].iloc[0])
    slices = _Slices(frame, large)
    ratios = _against_optimum(burst[burst[CLOCK] == ROUNDS], n, batch)
    _draw_seconds(seconds, folder)
    _draw_ratios(ratios, folder)
    quanta = sorted(int(q) for q in seconds[QUANTUM].dropna().unique())
    return f"""\
{n:,} requests at once, batches of at most {batch}, {large:,} tokens of memory, slices of
{quanta[0]} to {quanta[-1]} tokens ({len(quanta)} lengths; the paper tries every fifth). What stands
in for its lengths and its machine, and why the batch is limited, says
[the page on Figures 3 to 8](gogineni2024.md); the spread of the lengths' logarithms is {spread:g}
here. Means over {frame["seed"].nunique()} seeds with 95 % bootstrap intervals.

Algorithm 1 is about the first request in line: it preempts running requests that have had their
slice, the longest prediction first, until that one fits. Three readings say what follows:

- `fill`: others start as long as there is room, and nobody is preempted for them. So vLLM, whose
  own scheduler runs after it, most likely behaves; the paper's statements are compared with this.
- `one`: nobody else starts in this iteration. The algorithm to the letter.
- `all`: the algorithm is repeated for the next in line, until nobody may be preempted.

`rr` knows no predictions; it starts as `fill` does, and preempts who started first, which gives
all the same share, or last, as vLLM preempts.

![Figure 2]({NAME}-seconds.png)

## The paper's statements

Rules, fixed beforehand: a positive correlation is a figure that is at least {GROWS} times as large
at the longest slice as at the shortest, with a rank correlation of at least {RANKS}; comparable is
within {COMPARABLE} times. Readings are `fill` under recompute, others beside.

{findings_table(_findings(slices, ratios))}

## Why end-to-end latency grows with the slice

The paper calls it surprising, expecting fewer preemptions of longer slices to cost less, and leaves
it open. Growth of the mean from the shortest to the longest slice:

{_growth_table(slices)}

{_reasons(slices)}

## Against certified optima

In unit rounds with a batch limit and memory to spare both figures have an optimum that is known.
Serving the shortest first minimises mean completion on identical servers, preemption allowed
(McNaughton, 1959), so that SJF with exact predictions is optimal; and at most {batch} requests can
have their first token in each round, so that the k-th comes no earlier than round
ceil(k / {batch}).

![Ratios to the optimum]({NAME}-ratio.png)

{_ratio_table(ratios, quanta)}
"""


def _against_optimum(rounds: "pd.DataFrame", n: int, batch: int) -> "pd.DataFrame":
    """Runs in unit rounds with their means over the optima of their instances."""
    runs = rounds[rounds[SEMANTICS] == "recompute"]  # swap is the same when it costs nothing
    sjf = runs[runs[POLICY] == "sjf"]
    assert (sjf["evictions"] == 0).all()
    best = sjf.set_index("instance")[LATENCY]
    earliest = sum(k // batch + 1 for k in range(n)) / n
    return runs.assign(
        ttft_ratio=runs[TTFT] / earliest, latency_ratio=runs[LATENCY] / runs["instance"].map(best)
    )


@dataclass(frozen=True, eq=False)
class _Slices:
    """Means over seeds by slice, for one choice of all the rest."""

    frame: "pd.DataFrame"
    large: int

    def means(
        self,
        policy: str,
        column: str,
        *,
        semantics: str = "recompute",
        clock: str = SECONDS,
        setting: str = "burst",
        memory: int | None = None,
    ) -> "pd.Series":
        """A figure for every slice."""
        f = self.frame
        rows = f[(f[POLICY] == policy) & (f[SEMANTICS] == semantics) & (f[CLOCK] == clock)]
        rows = rows[(rows[SETTING] == setting) & (rows[MEMORY] == (memory or self.large))]
        means: pd.Series = rows.groupby(QUANTUM, dropna=False)[column].mean()
        return means

    def growth(self, policy: str, column: str, **choice: "str | int") -> float:
        """From the shortest to the longest slice."""
        means = self.means(policy, column, **choice)  # type: ignore[arg-type]
        return float(means.iloc[-1] / means.iloc[0])

    def correlated(self, policy: str, column: str) -> bool:
        """Whether the figure grows with the slice."""
        means = self.means(policy, column)
        ranks = float(means.rank().corr(means.index.to_series().rank()))
        return self.growth(policy, column) >= GROWS and ranks >= RANKS


def _findings(slices: _Slices, ratios: "pd.DataFrame") -> Iterable[Finding]:
    for column, words in ((TTFT, "TTFT"), (LATENCY, "end-to-end latency")):
        means = slices.means(READING, column)
        others = ", ".join(f"{p} {slices.growth(p, column):.2f}" for p in SLICED if p != READING)
        yield Finding(
            f"Figure 2: mean {words} and the tokens before preemption are positively correlated",
            "positive",
            f"{means.iloc[0]:.2f} to {means.iloc[-1]:.2f} s, {means.iloc[-1] / means.iloc[0]:.2f} "
            f"times ({others})",
            slices.correlated(READING, column),
            "below is why" if column == LATENCY else "",
        )
    first = {column: slices.means(READING, column) for column in (TTFT, LATENCY)}
    sjf = {column: float(slices.means("sjf", column).iloc[0]) for column in first}
    least = all(means.idxmin() == means.index[0] for means in first.values())
    yield Finding(
        "Section 3.4: slices of 5 tokens minimise TTFT without a significant increase in "
        "end-to-end latency",
        "5 is best",
        f"the least TTFT is at {first[TTFT].idxmin():g}, the least latency at "
        f"{first[LATENCY].idxmin():g}",
        least,
        "" if least else "not even an increase: both are nearly flat there",
    )
    ratio = float(first[LATENCY].iloc[0]) / sjf[LATENCY]
    one_over = float(slices.means(READING, LATENCY, semantics="swap").iloc[0]) / sjf[LATENCY]
    yield Finding(
        "Section 3: RR-SJF has end-to-end latency comparable to SJF",
        "comparable",
        f"mean {ratio:.2f} times SJF's under recompute, {one_over:.2f} under swap",
        ratio <= COMPARABLE,
    )
    shortest = float(ratios.loc[ratios[POLICY] == "sjf", "ttft_ratio"].mean())
    best = ratios.groupby([POLICY, QUANTUM])["ttft_ratio"].mean()
    winner, slice_ = best.index[int(best.argmin())]
    yield Finding(
        "Section 1: SJF is optimal for mean TTFT",
        "optimal",
        f"{shortest:.0f} times the optimum in unit rounds; "
        f"{winner} with slices of {slice_:g} has {best.min():.2f}",
        shortest <= float(best.min()),
        "optimal only among rules that never preempt: first tokens need one round each",
    )
    least_ratio = float(ratios["latency_ratio"].min())
    small = int(slices.frame[MEMORY].min())
    tight = [
        float(slices.means(policy, LATENCY, clock=ROUNDS, memory=small).min())
        / float(slices.means("sjf", LATENCY, clock=ROUNDS, memory=small).iloc[0])
        for policy in SLICED
    ]
    yield Finding(
        "Section 1: SJF is optimal for mean end-to-end latency",
        "optimal",
        f"in unit rounds with a batch limit the least of all runs is {least_ratio:.3f} times SJF's"
        + (
            f"; with {small:,} tokens, where memory decides, {min(tight):.3f}"
            if small < slices.large
            else ""
        ),
        least_ratio >= 1 and min(tight) >= 1,
        "proved for a batch limit alone; a memory limit is another matter, as the paper's last "
        "section supposes",
    )


def _growth_table(slices: _Slices) -> str:
    sizes = sorted({int(m) for m in slices.frame[MEMORY].unique()}, reverse=True)
    choices: list[tuple[str, dict[str, str | int]]] = [
        ("recompute, seconds", {}),
        ("swap, seconds", {"semantics": "swap"}),
        ("rounds", {"clock": ROUNDS}),
        ("rounds, predictions a coin", {"clock": ROUNDS, "setting": "blind"}),
    ]
    for size in sizes[1:]:
        choices.append((f"{size:,} tokens, recompute, seconds", {"memory": size}))
    rows = [
        (policy, *(f"{slices.growth(policy, LATENCY, **choice):.2f}" for _, choice in choices))
        for policy in SLICED
    ]
    return markdown(("end-to-end latency", *(name for name, _ in choices)), rows)


def _reasons(slices: _Slices) -> str:
    """What grows with the slice, and what does not."""
    rows = []
    for policy in SLICED:
        evictions = slices.means(policy, "evictions")
        tokens = slices.means(policy, "again") / evictions
        share = slices.means(policy, "preempted")
        rows.append((policy, *(f(x) for x in (evictions, tokens, share) for f in _ENDS)))
    ends = [f"{int(q)}" for q in (evictions.index[0], evictions.index[-1])]
    names = ("preemptions", "tokens recomputed each time", "share of requests ever preempted")
    table = markdown(("", *(f"{name}, slice {end}" for name in names for end in ends)), rows)
    times = slices.growth(READING, "evictions")
    last = slices.growth("rr, last", LATENCY)
    longer = float(evictions.index[-1] / evictions.index[0])
    own, blind = (
        slices.growth(READING, LATENCY, clock=ROUNDS, setting=setting)
        for setting in ("burst", "blind")
    )
    return f"""\
{table}

1. A slice {longer:.0f} times as long changes the number of preemptions by a factor of {times:.2f}
   (`fill`): the algorithm preempts for one request in each iteration, whatever the slice, as long
   as somebody has had one.
2. What a preemption costs grows. With short slices the longest prediction that runs has often
   just been resumed: the same requests come and go with few tokens, and the others run to their
   end. With long slices the victims carry what they have produced for long, all to be recomputed.
3. Long slices spread preemption over more requests, and RR-SJF nears a fair sharing of the server,
   under which nearly all end late. That is left in unit rounds, where nothing is recomputed:
   growth by {own:.2f}, and still by {blind:.2f} when predictions are a coin, so it is not their
   accuracy. Round robin without predictions that preempts who started last grows for the same
   reason, by {last:.2f} (seconds). Preempting who started first shares fairly from the beginning,
   and is slow at every slice.

Under `all`, which exchanges the whole batch after every slice, what the paper expected is true: the
number of preemptions falls as slices grow, and latency with it."""


def _first(values: "pd.Series") -> float:
    return float(values.iloc[0])


def _last(values: "pd.Series") -> float:
    return float(values.iloc[-1])


_ENDS = (_first, _last)


def _ratio_table(ratios: "pd.DataFrame", quanta: list[int]) -> str:
    chosen = [quanta[0], quanta[len(quanta) // 2], quanta[-1]]
    rows = []
    for policy in ("sjf", *SLICED):
        for quantum in chosen if policy in SLICED else [None]:
            at = ratios[ratios[POLICY] == policy]
            if quantum is not None:
                at = at[at[QUANTUM] == quantum]
            rows.append(
                (
                    policy,
                    "" if quantum is None else str(quantum),
                    float(at["ttft_ratio"].mean()),
                    float(at["latency_ratio"].mean()),
                )
            )
    header = ("policy", "slice", "mean first token / optimum", "mean completion / optimum")
    return markdown(header, rows)


def _draw_seconds(seconds: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    figure, axes = panels(4, columns=2, height=2.9)
    rows = seconds[seconds[POLICY].isin(SLICED)]
    places = iter(axes)
    for column, words in ((TTFT, "mean TTFT (s)"), (LATENCY, "mean end-to-end latency (s)")):
        for semantics in ("recompute", "swap"):
            table = intervals(rows[rows[SEMANTICS] == semantics], [POLICY, QUANTUM], column)
            lines(
                table,
                QUANTUM,
                POLICY,
                next(places),
                look=looks(SLICED),
                title=f"Figure 2: {semantics}",
                x_label="tokens of a slice",
                y_label=words,
                log_y=True,
            )
    shared_legend(figure, axes, columns=5)
    write_chart(figure, folder / f"{NAME}-seconds.png")


def _draw_ratios(ratios: "pd.DataFrame", folder: Path) -> None:
    from ratiolab.report.plots.experiments import lines, looks, panels, shared_legend, write_chart

    figure, axes = panels(2, columns=2)
    rows = ratios[ratios[POLICY].isin(SLICED)]
    for ax, column, words in zip(
        axes,
        ("ttft_ratio", "latency_ratio"),
        ("time to first token", "completion"),
        strict=True,
    ):
        lines(
            intervals(rows, [POLICY, QUANTUM], column),
            QUANTUM,
            POLICY,
            ax,
            look=looks(SLICED),
            title=f"mean {words}, unit rounds",
            x_label="tokens of a slice",
            y_label=f"mean {words} / optimum",
            log_y=column == "ttft_ratio",
        )
    shared_legend(figure, axes, columns=5)
    write_chart(figure, folder / f"{NAME}-ratio.png")


EXPERIMENT = Experiment(
    NAME,
    __name__,
    "Round robin with the shortest first: how long a slice",
    "Gogineni, Paul, Stec, Zhang (2024), Section 3.3, Figure 2",
    page,
    figures=(
        *("instance", "requests", "preempted_as", TTFT, LATENCY),
        *("evictions", "prefill_tokens", "preempted"),
    ),
)
