"""TRAIL: Figures 5 to 8 of Shahout et al. (2025), with a model of its classifier."""

from pathlib import Path
from typing import TYPE_CHECKING

from ratiolab.papers.experiment import (
    Experiment,
    findings_table,
    markdown,
)
from ratiolab.papers.shahout2025.experiments._figures import draw
from ratiolab.papers.shahout2025.experiments._findings import disagreements, findings
from ratiolab.papers.shahout2025.experiments._runs import (
    BERT,
    DEFAULT,
    ERRORS,
    EXACT,
    FCFS,
    FIGURES,
    MEMORY,
    PAPER_RATE,
    PRINTED,
    RATE,
    SETTING,
    SHOWN,
    SIMILAR,
    SPREAD,
    SYSTEM,
    TRAIL,
    Errors,
    Runs,
    by_spread,
    named,
    with_c,
    with_spread,
)

if TYPE_CHECKING:
    import pandas as pd


def page(frame: "pd.DataFrame", folder: Path) -> str:
    """Figures, findings and tables."""
    runs = Runs(named(frame[frame["task"] == "against-bound"]))
    errors = by_spread(frame[(frame["task"] == "refinement") & (frame[SETTING] == "rate")])
    queue = frame[frame["task"] == "limited-queue"]
    draw(runs, queue, folder)
    rows = runs.rows
    full = int(rows[MEMORY].max())
    rates = runs.at("rate").rates
    top = rates[-1]
    main = rows[rows[SETTING] == "rate"]
    free = runs.at("memory", memory=full)
    better = errors[SPREAD]["initial_error"] / errors[SPREAD]["filtered_error"]
    return f"""\
**What stands in for what.** The paper serves Alpaca prompts by Llama-3-8B on one A100-80GB with
vLLM 0.5.0. Here batches take what the published figures of model and device give
(`llama3-8b-a100`): absolute seconds, and the load of a given rate, differ. Prompts have the
paper's 44 tokens. Outputs are log-normal, median {_median(main)}, stopped at its 512, as it says
nothing more of them; two other laws stand below. With the memory of
{int(main[MEMORY].iloc[0]):,} tokens, 14 requests a second are about what can be served. Instead of
BERT and of the network on embeddings, a matrix of confusion names one of ten bins: the first
prediction errs by j bins with weight 0.65^j, each later answer, independently, with weight
{SPREAD}^j, so that refined predictions have {better:.2f} times less mean absolute error than
initial ones (the paper: 2.66). An evicted request is discarded and prefilled again with its tokens.
In the paper a preempted request keeps its memory until others need it, which nothing here does.
Figures 2, 3, 4 and Table 1 measure the network itself and have no counterpart.
Each setting has {len(rows["seed"].unique())} seeds of {int(rows["requests"].max()):,} requests (the
paper: 10,000); in parentheses are 95 % bootstrap intervals over seeds, and quotients are paired by
seed.

## What disagrees most

{disagreements(runs, better, free, top)}

## The paper's statements

Rules, fixed beforehand: *lower* and *higher* when the whole interval of the quotient is on that
side of 1, *similar* and *minimal* when means differ by at most {SIMILAR:.0%}; Figure 6 at every
rate from the paper's {PAPER_RATE:g} on.

{findings_table(findings(runs, queue, errors))}

![Figure 5: what C does](shahout2025-c.png)

![Figure 6: request rates](shahout2025-rate.png)

![Figure 7: a burst](shahout2025-burst.png)

## Accuracy is not what counts, stability is

TRAIL (C = {DEFAULT}) at {top:g} requests a second, by the confusion of its classifier; latencies as
quotients to TRAIL-BERT, which never changes its mind:

{_spread_table(runs.at("rate", rate=top), errors)}

## Other memories and lengths

At {_shared_rate(runs):g} requests a second. {full:,} tokens are what the device has left: 90 % of
80 GB less the model, at 128 KiB a token. Uniform lengths are from 1 to 512; those like
LMSYS-Chat-1M have the published mean and median. Their memories are of the same load.

{_setting_table(runs)}

## Against a certified lower bound

Total latency over a bound that holds for every schedule under this clock. It counts the work of
every token once and so holds when evicted requests keep their tokens, too, since prefilling a token
again costs no less than reading it. It is not tight: what no schedule can do is part of
every ratio.

{_bound_table(runs)}

## Appendix D

![Figure 8: one server](shahout2025-queue.png)

The paper shows one simulated peak of the total age of all jobs in the system, which grows with the
length of the simulation; the time average has a formula (the corrected Lemma 1, and Brumelle's
law). Load {queue["option.rate"].max():g}:

{_queue_table(queue)}
"""


def _spread_table(busy: Runs, errors: Errors) -> str:
    requests = float(busy.rows["requests"].max())

    def line(name: str, error: float, system: str) -> tuple[str | float, ...]:
        return (
            name,
            error,
            busy.mean(system, "evictions") / requests,
            busy.mean(system, "wasted_tokens") / requests,
            str(busy.over(system, BERT, "mean_latency")),
            str(busy.over(system, BERT, "mean_ttft")),
        )

    rows = [line("none: TRAIL-BERT", errors[SPREAD]["initial_error"], BERT)]
    rows += [
        line(f"{spread:g}", errors[spread]["filtered_error"], with_spread(spread))
        for spread in sorted(errors)
    ]
    rows.append(line(f"{SPREAD:g}, printed filter", errors[SPREAD]["printed_error"], PRINTED))
    header = (
        *("confusion", "mean absolute error (tokens)", "evictions a request"),
        *("tokens again a request", "mean latency", "mean TTFT"),
    )
    return markdown(header, rows)


def _shared_rate(runs: Runs) -> float:
    return float(runs.at("memory").rates[0])


def _setting_table(runs: Runs) -> str:
    rate = _shared_rate(runs)
    places = [("rate", int(runs.at("rate").rows[MEMORY].iloc[0]))]
    places += [("memory", int(m)) for m in runs.at("memory").rows[MEMORY].unique()]
    places.sort(key=lambda place: place[1])
    places += [(s, int(runs.at(s).rows[MEMORY].iloc[0])) for s in ("uniform", "lmsys")]
    rows = []
    for setting, memory in places:
        there = runs.at(setting, rate=rate, memory=memory)
        kind = "log-normal" if setting in ("rate", "memory") else setting
        rows.append(
            (
                f"{kind}, {memory:,}",
                there.mean(TRAIL, "mean_latency"),
                *(
                    str(there.over(a, b, "mean_latency"))
                    for a, b in (
                        (FCFS, BERT),
                        (TRAIL, BERT),
                        (with_c(0.2), TRAIL),
                        (with_c(1.0), TRAIL),
                    )
                ),
            )
        )
    header = (
        *("lengths, memory (tokens)", "TRAIL, mean latency (s)", "FCFS / TRAIL-BERT"),
        *("TRAIL / TRAIL-BERT", "C = 0.2 / 0.8", "C = 1 / 0.8"),
    )
    return markdown(header, rows)


def _bound_table(runs: Runs) -> str:
    rows = runs.at("rate").rows
    rows = rows.assign(ratio=rows["total_latency"] / rows["lower"])
    burst = runs.at("burst").rows
    burst = burst.assign(ratio=burst["total_latency"] / burst["lower"])
    rates = runs.at("rate").rates
    table = rows.groupby([SYSTEM, RATE])["ratio"].mean()
    once = burst.groupby(SYSTEM)["ratio"].mean()
    lines = [
        (system, *(float(table.loc[(system, r)]) for r in rates), float(once.loc[system]))
        for system in (*SHOWN, EXACT)
    ]
    return markdown(("system", *(f"{r:g} a second" for r in rates), "burst"), lines)


def _queue_table(queue: "pd.DataFrame") -> str:
    rows = queue[queue["option.rate"] == queue["option.rate"].max()]
    columns = {
        "response_time": "mean response, simulated",
        "exact_response_time": "corrected lemma",
        "printed_response_time": "printed lemma",
        "mean_age": "mean age, simulated",
        "exact_mean_age": "formula",
        "peak_age": "peak age, simulated",
    }
    means = rows.groupby(["option.law", "option.fraction"], sort=False)[list(columns)].mean()
    lines = [
        (law, f"{c:g}", *(float(v) for v in row))
        for (law, c), row in zip(means.index, means.to_numpy(), strict=True)
    ]
    return markdown(("predictions", "C", *columns.values()), lines)


def _median(main: "pd.DataFrame") -> int:
    from math import exp

    return round(exp(float(main["workload.mu"].iloc[0])))


EXPERIMENT = Experiment(
    "shahout2025",
    __name__,
    "TRAIL: refined predictions and limited preemption",
    "Shahout et al. (2025), Section 4.2, Figures 5, 6, 7, and Appendix D, Figure 8, "
    "arXiv 2410.01035",
    page,
    figures=(
        *("instance", "requests", *FIGURES, "total_latency", "lower"),
        *("evictions", "wasted_tokens"),
        *("peak_memory", *ERRORS, "response_time", "mean_age", "peak_age"),
        *("exact_response_time", "exact_mean_age", "printed_response_time"),
    ),
)
