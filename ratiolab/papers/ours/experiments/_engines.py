"""Findings of the pages on serving engines, and what fills their templates."""

from collections.abc import Iterator

import pandas as pd

from ratiolab.papers.finding import Finding, Rule, alike, higher, in_settings, inside, lower
from ratiolab.papers.ours.experiments import _engine_tables as show
from ratiolab.papers.ours.experiments._engine_tables import (
    BLOCKS,
    FIRST,
    LEAST,
    MOST,
    SHORTEST,
    VLLM,
    WHOLE,
    Engines,
)
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio


def page(frame: pd.DataFrame, name: str) -> Page:
    """Compute findings, tables and charts of one of the pages."""
    engines = Engines(frame)
    known = frame["policy.label"].str.startswith("knows all")
    slots = {
        "name": name,
        "tax": show.tax_table(engines),
        "victims": show.victims_table(engines),
        "orders": show.orders_table(engines),
        "chunks": show.chunks_table(engines),
        "ladder": show.ladder_table(engines),
        "closed": show.closed_table(engines),
        "blocks": [
            engines.ratio(s, policy, VLLM, "mean_latency").mean
            for s in engines.settings
            for policy in engines.there({BLOCKS: ""})
        ],
        "known_evictions": int(frame.loc[known, "evictions"].sum()),
        "queues": "queues, swap" in set(frame["policy.label"]),
        "two_clocks": frame["clock"].nunique() > 1,
        "requests": int(frame["requests"].max()),
    }
    charts = {
        "victims": show.victims_chart(engines),
        "ladder": show.ladder_chart(engines),
        "chunks": show.chunks_chart(engines),
    }
    return Page(slots, list(findings(engines)), charts)


def findings(engines: Engines) -> Iterator[Finding]:
    """Compare what others say of engines, and what we ask, with the runs."""
    pressed, over = engines.pressed(), engines.over()
    every = list(engines.settings)

    def judged(
        statement: str, source: str, rule: Rule, found: dict[str, Ratio], why: str = ""
    ) -> Finding:
        means = [ratio.mean for ratio in found.values()]
        said = f"{min(means):.2f} to {max(means):.2f} in {len(means)} settings"
        if len(found) < 3:
            said = "; ".join(f"{name}: {ratio}" for name, ratio in found.items())
        return in_settings(statement, source, found, rule, why, said=said)

    def compared(
        statement: str,
        source: str,
        rule: Rule,
        names: list[str],
        pair: tuple[str, str],
        metric: str,
        why: str = "",
    ) -> Iterator[Finding]:
        if len(engines.there(dict.fromkeys(pair, ""))) == len(pair):
            found = {name: engines.ratio(name, *pair, metric) for name in names}
            yield judged(statement, source, rule, found, why)

    yield judged(
        "Under memory pressure 10 to 23% of all computed tokens are computed again "
        "(vLLM issue 54644)",
        "0.10 to 0.23",
        inside(0.10, 0.23),
        {name: engines.figure(name, VLLM, "recompute_tax") for name in pressed},
    )
    yield from compared(
        "Evicting the least computed first wastes fewer tokens (issue 54644)",
        "fewer: 0.70 to 0.76 of them there",
        lower(),
        pressed,
        (LEAST, VLLM),
        "recomputed",
    )
    yield from compared(
        "Throughput is unchanged with that victim (issue 54644: unchanged)",
        "within 5%",
        alike(0.05),
        pressed,
        (LEAST, VLLM),
        "throughput",
    )
    yield from compared(
        "Mean latency is unchanged with that victim (issue 54644: unchanged)",
        "within 5%",
        alike(0.05),
        every,
        (LEAST, VLLM),
        "mean_latency",
    )
    yield from compared(
        "Evicting the most computed first is worse than evicting the last (issue 54644)",
        "more tokens wasted",
        higher(),
        pressed,
        (MOST, VLLM),
        "recomputed",
    )
    yield from compared(
        "The order of admission matters more than the victim: shortest prediction first "
        "against least computed, above capacity",
        "our question",
        lower(),
        over,
        (SHORTEST, LEAST),
        "mean_latency",
    )
    yield from compared(
        "Ageing shortens the longest latency that shortest-first causes, above capacity",
        "our question",
        lower(),
        over,
        ("order: shortest, ageing 0.5", SHORTEST),
        "max_latency",
    )
    yield from compared(
        "Skip-join queues with caches on the host have a shorter mean latency than first come, "
        "first served with whole prompts (Wu et al. 2023)",
        "shorter",
        lower(),
        every,
        ("queues, swap", WHOLE),
        "mean_latency",
    )
    yield from compared(
        "Chunks of 512 shorten the 99th percentile of the time between tokens against whole "
        "prompts (Agrawal et al. 2024)",
        "shorter",
        lower(),
        every,
        ("chunks of 512", WHOLE),
        "p99_tpot",
    )
    yield from compared(
        "They do so at no cost in mean time to first token",
        "our question",
        Rule(lambda ours, paper: ours.low <= 1),
        every,
        ("chunks of 512", WHOLE),
        "mean_ttft",
        "the clock adds the fixed time of every batch to the time of its tokens: it cannot see "
        "that a chunk may hide the weights' traffic",
    )
    yield from compared(
        "Nothing of the tax is unavoidable: a scheduler that knows the lengths, keeps the order "
        "of arrival and never evicts is faster than vLLM with whole prompts",
        "our question",
        lower(),
        every,
        (FIRST, WHOLE),
        "mean_latency",
    )
