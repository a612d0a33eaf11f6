"""What TRAIL's experiment says of the paper's statements, most surprising first."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import Finding
from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    FCFS,
    FIGURES,
    MEMORY,
    PAPER_RATE,
    SJF,
    SPREAD,
    TRAIL,
    Errors,
    Quotient,
    Runs,
    with_c,
    with_spread,
)

if TYPE_CHECKING:
    import pandas as pd


def disagreements(runs: Runs, better: float, free: Runs, top: float) -> str:
    """What follows from the table, most surprising first."""
    busy = runs.at("rate", rate=top)
    latency, first = (busy.over(TRAIL, BERT, f"mean_{f}") for f in ("latency", "ttft"))
    steady = with_spread(0.0)
    calm = busy.over(steady, BERT, "mean_latency")
    requests = float(busy.rows["requests"].max())
    evicted = {s: busy.mean(s, "evictions") / requests for s in (BERT, TRAIL, steady)}
    again = {s: busy.mean(s, "wasted_tokens") / requests for s in evicted}
    told = []
    if latency.higher:
        told.append(
            f"**Better predictions, longer latencies.** Refined predictions err {better:.2f} times "
            f"less than initial ones, yet at {top:g} requests a second TRAIL has {latency} times "
            f"the mean latency of TRAIL-BERT, and {first} times its mean TTFT. What errs anew with "
            f"every token changes ranks with every token: {evicted[TRAIL]:.2f} evictions a request "
            f"instead of {evicted[BERT]:.2f}, {again[TRAIL]:,.0f} tokens computed again instead of "
            f"{again[BERT]:,.0f}. A classifier that is never wrong has {evicted[steady]:.2f} and "
            f"{again[steady]:,.0f}, and {calm} times the latency. Whether the paper's network "
            "errs as independently from token to token is not known."
        )
    peak = free.rows["peak_memory"].max()
    spans = free.rows.groupby("instance")["mean_latency"].agg(lambda x: x.max() / x.min())
    if peak < 0.5 * free.rows[MEMORY].max():
        told.append(
            f"**The memory of the device is never short.** At {free.rates[0]:g} requests a second "
            f"at most {peak:,.0f} of {int(free.rows[MEMORY].max()):,} tokens are held, and mean "
            f"latencies of all systems agree within a factor of {spans.max():.4f}: nobody waits, "
            "whatever C is. What the paper sees needs another limit, of requests in a batch or of "
            "its engine's speed, or less memory than it names."
        )
    c, low = (busy.over(with_c(c), TRAIL, "mean_latency") for c in (1.0, 0.2))
    if c.similar:
        text = (
            f"**C = 0.8 and C = 1 hardly differ**: {c} times in mean latency at {top:g} a second. "
            "By its prediction a request past 0.8 r has little left to do, so it is seldom the one "
            "to be evicted."
        )
        if low.lower:
            text += (
                f" Less preemption does help under overload, but far less: C = 0.2 has {low} times "
                "the mean latency of C = 0.8."
            )
        told.append(text)
    return "\n".join(f"- {text}" for text in told)


def findings(runs: Runs, queue: "pd.DataFrame", errors: Errors) -> Iterable[Finding]:
    rate = runs.at("rate")
    busy = [r for r in rate.rates if r >= PAPER_RATE]
    first = busy[0]

    def each(system: str, other: str, figure: str) -> list[Quotient]:
        return [runs.at("rate", rate=r).over(system, other, figure) for r in busy]

    def words(quotients: Sequence[Quotient]) -> str:
        values = sorted({f"{q.mean:.3g}" for q in quotients}, key=float)
        return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"

    yield Finding(
        "Section 4.1: refined predictions have a lower mean absolute error than BERT's",
        "2.66 times lower",
        f"{errors[SPREAD]['initial_error'] / errors[SPREAD]['filtered_error']:.2f} times "
        f"lower; {errors[SPREAD]['initial_error'] / errors[SPREAD]['printed_error']:.2f} "
        "times with the filter as printed",
        None,
        "set, not found: it is how the errors here were chosen. As printed the filter makes "
        "predictions worse",
    )
    for c, relation in ((1.0, "higher than"), (0.5, "close to")):
        for figure in ("mean_latency", "mean_ttft"):
            quotient = runs.at("rate", rate=first).over(with_c(c), TRAIL, figure)
            yield Finding(
                f"Figure 5: with C = {c:g} the {FIGURES[figure]} is {relation} that with C = 0.8",
                relation.split()[0],
                f"{quotient} times at {first:g} a second",
                quotient.higher if c == 1 else quotient.similar,
                "by next to nothing" if c == 1 and quotient.higher and quotient.similar else "",
            )
    for figure in ("mean_latency", "mean_ttft"):
        low = [
            runs.at("rate", rate=first).over(with_c(0.2), with_c(c), figure) for c in (0.5, 0.8, 1)
        ]
        yield Finding(
            f"Section 4.2: C = 0.2 has higher {FIGURES[figure]} than larger C",
            "higher",
            f"{words(low)} times that of C = 0.5, 0.8, 1",
            all(q.higher for q in low),
        )
    gain = each(FCFS, SJF, "mean_latency")
    yield Finding(
        "Figure 6: SJF on BERT's predictions provides minimal benefits over FCFS",
        "minimal",
        f"FCFS has {words(gain)} times its mean latency",
        all(q.similar for q in gain),
        "here new requests have no priority over running ones: SJF is what its name says, and "
        "most of what there is to gain comes from the order alone",
    )
    for system in (BERT, TRAIL):
        for other in (FCFS, SJF):
            every = {name: each(system, other, figure) for figure, name in FIGURES.items()}
            missed = [name for name, found in every.items() if not all(q.lower for q in found)]
            yield Finding(
                f"Figure 6: {system} has lower mean and median latency and TTFT than {other}",
                "lower",
                "; ".join(f"{name} {words(found)} times" for name, found in every.items()),
                not missed,
                f"not at every rate: {', '.join(missed)}" if missed else "",
            )
    for figure, name in FIGURES.items():
        quotients = each(TRAIL, BERT, figure)
        yield Finding(
            f"Figure 6: TRAIL has lower {name} than TRAIL-BERT, for its predictions are better",
            "lower",
            f"{words(quotients)} times; lower at {sum(q.lower for q in quotients)}, higher at "
            f"{sum(q.higher for q in quotients)} of {len(quotients)} rates",
            all(q.lower for q in quotients),
        )
    for figure, paper in (("mean_latency", "1.66 to 2.01"), ("mean_ttft", "1.76 to 24.07")):
        quotients = [runs.at("rate", rate=r).over(FCFS, TRAIL, figure) for r in rate.rates]
        yield Finding(
            f"Abstract: vLLM-FCFS has so many times TRAIL's {FIGURES[figure]}",
            paper,
            f"{words(quotients)}",
            None,
            f"it grows with load and length of the run, from rate {rate.rates[0]:g} to "
            f"{rate.rates[-1]:g}; loads cannot be matched",
        )
    burst = runs.at("burst")
    for other in (FCFS, SJF):
        quotients = [burst.over(TRAIL, other, figure) for figure in FIGURES]
        yield Finding(
            f"Figure 7: in a burst TRAIL has lower latencies and TTFT than {other}",
            "lower",
            ", ".join(f"{q.mean:.3g}" for q in quotients)
            + " times (mean, median latency, mean, median TTFT)",
            all(q.lower for q in quotients),
            ""
            if other == FCFS
            else "all have arrived: SJF already serves in that order, and keeps to it",
        )
    quotients = [burst.over(with_c(1.0), TRAIL, figure) for figure in FIGURES]
    yield Finding(
        "Figure 7: in a burst C = 0.8 and C = 1 perform similarly",
        "similar",
        f"C = 1: {words(quotients)} times",
        all(q.similar for q in quotients),
    )
    change = [burst.over(with_c(c, BERT), with_c(0.0, BERT), "mean_latency").mean for c in (0.8, 1)]
    refined = burst.over(TRAIL, with_c(0.0), "mean_latency")
    yield Finding(
        "Figure 7: no new requests arrive, so preemption has no advantage",
        "no advantage",
        f"C = 0.8 and 1 against C = 0: {change[0]:.4g} and {change[1]:.4g} times for TRAIL-BERT, "
        f"{refined} times for TRAIL",
        not refined.lower and min(change) >= 1,
        "with predictions that do not change, C decides nothing at all",
    )
    yield from _queue_findings(queue)


def _queue_findings(queue: "pd.DataFrame") -> Iterable[Finding]:
    by = ["option.law", "option.rate", "option.fraction"]
    means = queue.groupby(by).mean(numeric_only=True).to_dict()
    rates, laws = sorted(queue["option.rate"].unique()), list(queue["option.law"].unique())

    def quotient(law: str, rate: float, figure: str, c: float) -> float:
        return float(means[figure][law, rate, c] / means[figure][law, rate, 1.0])

    for figure, name in (("mean_age", "mean memory"), ("peak_age", "peak memory")):
        values = [quotient(law, rate, figure, 0.2) for law in laws for rate in rates]
        yield Finding(
            f"Figure 8: limiting preemption lowers {name}",
            "lower",
            f"C = 0.2: {min(values):.3g} to {max(values):.3g} times that of C = 1",
            max(values) < 1,
            "the peak of a run is the age of its largest job when that is waited for"
            if figure == "peak_age" and max(values) >= 1
            else "",
        )
    values = [quotient(law, rate, "response_time", 0.5) for law in laws for rate in rates]
    yield Finding(
        "Figure 8: limiting preemption maintains a reasonable response time",
        "reasonable",
        f"C = 0.5: {min(values):.3g} to {max(values):.3g} times that of C = 1",
        max(values) <= 1.1,
        "reasonable: at most 10 % more",
    )
    printed, exact = (
        max(
            abs(said / seen - 1)
            for said, seen in zip(
                means[f"{kind}_response_time"].values(),
                means["response_time"].values(),
                strict=True,
            )
        )
        for kind in ("printed", "exact")
    )
    yield Finding(
        "Lemma 1 is the mean response time of this queue",
        "exact",
        f"as printed up to {printed:.1%} off the simulation, corrected up to {exact:.1%}",
        printed < 0.02,
        "the printed lemma is false, even below the optimum at C = 1",
    )
