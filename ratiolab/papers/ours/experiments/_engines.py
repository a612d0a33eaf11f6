"""Findings of the pages on serving engines, and what fills their templates."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, Rule, declared, in_settings, inside, rule_of
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs, mean_with_interval
from ratiolab.studies.frames import intervals

Value = TypeVar("Value")

WORKLOAD, LOAD, CLOCK, POLICY = "workload.label", "option.load", "clock", "policy.label"
SHORT = {"vidur-llama2-70b-2xa100": "70B", "llama3-8b-a100": "8B"}
"""Clocks as tables name them."""


def short(clock: str) -> str:
    """Return the name of a clock in tables."""
    return SHORT.get(clock, clock)


VLLM = "vLLM"
VICTIMS = {
    VLLM: "admitted last (vLLM)",
    "victim: least computed": "least computed",
    "victim: most computed": "most computed",
    "victim: longest predicted rest": "longest predicted rest",
}
LEAST = "victim: least computed"
SHORTEST, AGED = "order: shortest predicted output", "order: shortest, ageing 0.02"
BLOCKS = "blocks of 16"
ORDERS = {
    "order: shortest prompt": "shortest prompt",
    SHORTEST: "shortest predicted output",
    AGED: "shortest predicted output, ageing 0.02",
    "order: shortest, ageing 0.1": "ageing 0.1",
    "order: shortest, ageing 0.5": "ageing 0.5",
    "queues, recompute": "queues, recompute",
    "queues, swap": "queues, swap",
}
CHUNKS = {
    "chunks of 256": 256,
    "chunks of 512": 512,
    "chunks of 1024": 1024,
    VLLM: 2048,
    "chunks of 4096": 4096,
    "whole prompts": 16_492,
}
"""Tokens that a batch computes at most; never more than the memory holds."""

SARATHI = "Sarathi, 512 tokens"

WHOLE, SWAP = "whole prompts", "whole prompts, swap"
FIRST, VOLUME = "knows all: FCFS", "knows all: least volume first"
LADDER = {
    LEAST: "another victim: least computed",
    SWAP: "no tax: caches survive on the host",
    AGED: "another order: shortest predicted, ageing",
    "order and victim": "that order, and least computed",
    FIRST: "lengths known, order of arrival: no evictions",
    "knows all: shortest first": "lengths known, shortest first: no evictions",
    VOLUME: "lengths known, least volume first: no evictions",
    "knows all: least work first": "lengths known, least work in seconds first: no evictions",
    "bound": "bound: no schedule is below",
}
"""Rungs from vLLM's default engine down to the bound."""


class Engines:
    """Runs by setting: workload, load and clock."""

    def __init__(self, frame: pd.DataFrame) -> None:
        bounds = frame[frame[POLICY] == VLLM].assign(**{POLICY: "bound"})
        bounds = bounds.assign(mean_latency=bounds["lower"], mean_ttft=bounds["lower_ttft"])
        self.frame = frame
        self.runs = Runs(pd.concat([frame, bounds]), [WORKLOAD, LOAD, CLOCK, POLICY])
        keys = frame[[WORKLOAD, LOAD, CLOCK]].drop_duplicates().itertuples(index=False)
        self.settings = {
            f"{workload}, {short(clock)}, load {load:g}": (workload, load, clock)
            for workload, load, clock in keys
        }

    def there(self, names: Mapping[str, Value]) -> dict[str, Value]:
        """Return the entries whose policies the study has, and the bound."""
        known = {*self.frame[POLICY], "bound"}
        return {policy: value for policy, value in names.items() if policy in known}

    def ratio(self, setting: str, policy: str, other: str, metric: str) -> Ratio:
        """Return the paired ratio of two policies in a setting."""
        place = self.settings[setting]
        return self.runs.ratio((*place, policy), (*place, other), metric)

    def figure(self, setting: str, policy: str, metric: str) -> Ratio:
        """Return the mean of a figure with its interval."""
        return mean_with_interval(self.runs.values((*self.settings[setting], policy), metric))

    def pressed(self) -> list[str]:
        """Return the settings of conversations above capacity, where memory is short."""
        return [s for s, (w, load, _) in self.settings.items() if w == "conversations" and load > 1]

    def over(self) -> list[str]:
        """Return the settings above capacity."""
        return [name for name, (_, load, _) in self.settings.items() if load > 1]

    def relative(self, frame: pd.DataFrame, metric: str) -> pd.Series:
        """Return a figure of some rows over that of vLLM in the same setting and seed."""
        place = [WORKLOAD, LOAD, CLOCK, "seed"]
        base = self.frame[self.frame[POLICY] == VLLM].set_index(place)[metric]
        ratio: pd.Series = frame[metric] / base.reindex(frame.set_index(place).index).to_numpy()
        return ratio


FIGURES = {
    "mean_latency": "mean latency",
    "mean_ttft": "mean time to first token",
    "p99_tpot": "P99 of time per output token",
}
"""Figures that chunks are about."""


def victims_table(engines: Engines) -> str:
    """Return mean latencies by victim over vLLM's."""
    return grid(
        "setting",
        engines.settings.keys(),
        {words: p for p, words in engines.there(VICTIMS).items() if p != VLLM},
        lambda s, p: f"{engines.ratio(s, p, VLLM, 'mean_latency')}",
    )


def tax_table(engines: Engines) -> str:
    """Return the recompute tax by setting and scheduler."""

    def cell(setting: str, column: str) -> str:
        if column == "evictions":
            return f"{engines.figure(setting, VLLM, 'evictions').mean:.0f}"
        return f"{engines.figure(setting, column, 'recompute_tax').mean:.1%}"

    columns = {"evictions (vLLM)": "evictions"} | {
        words: p for p, words in engines.there(VICTIMS).items()
    }
    columns |= {"shortest predicted first": SHORTEST, "lengths known": FIRST}
    return grid("setting", engines.settings.keys(), columns, cell)


def orders_table(engines: Engines) -> str:
    """Return mean and longest latencies by order over vLLM's."""

    def cell(setting: str, policy: str) -> str:
        mean, longest = (
            engines.ratio(setting, policy, VLLM, f"{figure}_latency").mean
            for figure in ("mean", "max")
        )
        return f"{mean:.2f}, {longest:.2f}"

    return grid(
        "setting",
        engines.settings.keys(),
        {words: policy for policy, words in engines.there(ORDERS).items()},
        cell,
    )


def chunks_table(engines: Engines) -> str:
    """Return figures by chunk size over the default's."""
    sizes = CHUNKS | {SARATHI: 512}
    return grid(
        ("setting", "figure"),
        {(s, words): (s, metric) for s in engines.settings for metric, words in FIGURES.items()},
        {_chunk(p, size): p for p, size in engines.there(sizes).items() if p != VLLM},
        lambda row, policy: f"{engines.ratio(row[0], policy, VLLM, row[1])}",
    )


def _chunk(policy: str, size: int) -> str:
    return "whole" if policy == WHOLE else "Sarathi (512)" if policy == SARATHI else str(size)


def ladder_table(engines: Engines) -> str:
    """Return mean latencies from vLLM down to the bound."""
    return grid(
        "mean latency, s",
        {"vLLM": VLLM} | {words: policy for policy, words in engines.there(LADDER).items()},
        engines.settings.keys(),
        lambda policy, s: float(engines.figure(s, policy, "mean_latency").mean),
    )


def closed_table(engines: Engines) -> str:
    """Return shares of the way from vLLM down to the bound, of means over the seeds."""

    def cell(policy: str, setting: str) -> str:
        top, at, bottom = (
            engines.figure(setting, p, "mean_latency").mean for p in (VLLM, policy, "bound")
        )
        return f"{(top - at) / (top - bottom):.0%}"

    rows = {words: policy for policy, words in engines.there(LADDER).items() if policy != "bound"}
    return grid("share of the way from vLLM to the bound", rows, engines.settings.keys(), cell)


def victims_chart(engines: Engines) -> Panels:
    """Return the chart of tax and latency by victim."""
    frame = engines.frame[engines.frame[POLICY].isin(VICTIMS)]
    frame = frame.assign(
        victim=frame[POLICY].map(VICTIMS),
        tax=100 * frame["recompute_tax"],
        setting=_engine_and_load(frame),
        ratio=engines.relative(frame, "mean_latency"),
    )
    by = ["setting", "victim"]
    workloads = {name: frame[frame[WORKLOAD] == name] for name in frame[WORKLOAD].unique()}
    figures = {"tax": "recompute tax (%)", "ratio": "mean latency / vLLM's"}
    panels = [
        Panel(intervals(rows, by, figure), f"{name}: {words}", base=float(figure == "ratio"))
        for figure, words in figures.items()
        for name, rows in workloads.items()
    ]
    options = {"small": 8}
    return Panels(
        "grouped_bars",
        "setting",
        "victim",
        panels,
        list(VICTIMS.values()),  # and not those there alone: pages have the same colours
        legend=4,
        size=(9, 6),
        options=options,
    )


def ladder_chart(engines: Engines) -> Panels:
    """Return the chart of the rungs down to the bound: a row each, a point for each setting."""
    frame = engines.runs.frame
    frame = frame[frame[POLICY].isin(LADDER)]
    frame = frame.assign(
        rung=frame[POLICY].map(LADDER),
        setting=frame[WORKLOAD] + ", " + frame[CLOCK].map(short),
        ratio=engines.relative(frame, "mean_latency"),
    )
    order = {rung: place for place, rung in enumerate(LADDER.values())}
    frame = frame.sort_values("rung", key=lambda c: c.map(order), kind="stable")
    settings = list(frame["setting"].unique())
    panels = [
        Panel(intervals(frame[frame[LOAD] == load], ["rung", "setting"], "ratio"), f"load {load:g}")
        for load in sorted(frame[LOAD].unique())
    ]
    options = {"x_label": "mean latency / vLLM's", "left": 0.0, "reference": 1.0}
    return Panels(
        "dots", "rung", "setting", panels, settings, size=(9.5, 4.8), legend=4, options=options
    )


def chunks_chart(engines: Engines) -> Panels:
    """Return the chart of figures by chunk size over the default's, a row for each workload."""
    there = engines.there(CHUNKS)
    frame = engines.frame[engines.frame[POLICY].isin(there)]
    frame = frame.assign(size=frame[POLICY].map(CHUNKS), setting=_engine_and_load(frame))
    by = ["setting", "size"]
    panels = [
        Panel(
            intervals(rows.assign(ratio=engines.relative(rows, m)), by, "ratio"), f"{name}: {words}"
        )
        for name, rows in frame.groupby(WORKLOAD, sort=False)
        for m, words in FIGURES.items()
    ]
    ticks = {size: "whole" if policy == WHOLE else f"{size:,}" for policy, size in there.items()}
    options = {
        "x_label": "tokens that a batch computes at most",
        "y_label": "over that with 2,048",
        "log_x": True,
        "ticks": ticks,
        "reference": 1.0,
    }
    return Panels(
        "lines", "size", "setting", panels, columns=3, height=2.9, legend=4, options=options
    )


def _engine_and_load(frame: pd.DataFrame) -> pd.Series:
    return frame[CLOCK].map(short) + ", load " + frame[LOAD].map("{:g}".format)


def page(frame: pd.DataFrame, name: str) -> Page:
    """Compute findings, tables and charts of one of the pages."""
    engines = Engines(frame)
    known = frame["policy.label"].str.startswith("knows all")
    slots = {
        "name": name,
        "tax": tax_table(engines),
        "victims": victims_table(engines),
        "orders": orders_table(engines),
        "chunks": chunks_table(engines),
        "ladder": ladder_table(engines),
        "closed": closed_table(engines),
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
        "victims": victims_chart(engines),
        "ladder": ladder_chart(engines),
        "chunks": chunks_chart(engines),
    }
    return Page(slots, list(findings(engines)), charts)


def findings(engines: Engines) -> Iterator[Finding]:
    """Compare what others say of engines, and what we ask, with the runs."""
    pressed = engines.pressed()
    settings = {"pressed": pressed, "over": engines.over(), "all": list(engines.settings)}
    tax = {name: engines.figure(name, VLLM, "recompute_tax") for name in pressed}
    statement = "Under memory pressure 10 to 23% of all computed tokens are computed again "
    yield _judged(f"{statement}(vLLM issue 54644)", "0.10 to 0.23", tax, inside(0.10, 0.23))
    for row in declared(__name__, "engines"):
        one, other, metric = row["ratio"]
        if {one, other} <= {*engines.frame[POLICY]}:
            found = {s: engines.ratio(s, one, other, metric) for s in settings[row["settings"]]}
            words = row["statement"], row["paper"]
            yield _judged(*words, found, rule_of(row["rule"]), row.get("why", ""))


def _judged(
    statement: str, source: str, found: dict[str, Ratio], rule: Rule, why: str = ""
) -> Finding:
    means = [ratio.mean for ratio in found.values()]
    said = f"{min(means):.2f} to {max(means):.2f} in {len(means)} settings"
    if len(found) < 3:
        said = "; ".join(f"{name}: {ratio}" for name, ratio in found.items())
    return in_settings(statement, source, found, rule, why, said=said)
