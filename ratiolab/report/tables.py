"""Tables for the terminal, drawn by rich."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult
    from ratiolab.hindsight.promises import PromiseResult
    from ratiolab.hindsight.result import FleetResult
    from ratiolab.ratio import Comparison, PolicyRow
    from ratiolab.theory.bound import Bound
    from ratiolab.workloads.description import Description
    from ratiolab.workloads.kinds import Kind


def stages_line(result: "OptResult | FleetResult | PromiseResult") -> str:
    """Return the stages of a solve in one line, each with its seconds and its interval.

    Stages that had nothing to do are left out; their notes say why.
    """
    done = [result.stages[0]]
    for before, stage in pairwise(result.stages):
        if before[2:5] != stage[2:5] or stage.seconds >= before.seconds + NOTHING:
            done.append(stage)
    return " > ".join(f"{s.name} {s.seconds:.1f} s [{s.lower:,}, {s.upper:,}]" for s in done)


NOTHING = 0.05
"""Seconds; a stage that took fewer and changed nothing is not shown."""

DISPENSABLE = ("knows", "wasted", "mean", "TTFT", "evictions", "P99", "95%")
"""Columns of a comparison that are left out on a narrow terminal, in this order."""


def comparison_table(comparison: "Comparison", width: int | None = None) -> Table:
    """Return a table with one row for each policy: latency, ratio to the optimum, evictions, TTFT.

    Policies that can be deployed come first, then policies that know every output length, each
    group in the order of the total latency. Columns that do not fit into `width` letters are left
    out.
    """
    groups = [[_comparison_row(row) for row in rows] for _, rows in comparison.groups]
    rows = [row for group in groups for row in group]
    names = rows[0] if rows else ("policy", "TEL", "ratio")  # Ctrl-C may come before the first
    sizes = {name: max([len(name), *(len(row[name]) for row in rows)]) for name in names}
    dropped = []
    for name in DISPENSABLE:
        if width is None or sum(size + 3 for size in sizes.values()) + 1 <= width:
            break
        del sizes[name]
        dropped.append(name)
    caption = comparison.optimum.headline
    if dropped:
        caption += f"\na wider terminal also shows: {', '.join(dropped)}; so does --json"
    table = Table(
        title=comparison.instance.headline,
        caption=caption,
        title_justify="left",
        caption_justify="left",
    )
    for name in sizes:
        words = name in ("policy", "knows")
        style = "bold" if name == "policy" else None
        table.add_column(name, justify="left" if words else "right", no_wrap=True, style=style)
    for group in groups:
        for row in group:
            table.add_row(*(row[name] for name in sizes))
        table.add_section()
    return table


def _comparison_row(row: "PolicyRow") -> dict[str, str]:
    """Return the cells of one row by the names of their columns."""
    data = row.to_dict()
    names = ("TEL", "95%", "ratio", "evictions", "wasted", "mean", "P99", "TTFT")
    cells = {"policy": row.name, "knows": data["information"]} | dict.fromkeys(names, "")
    if row.ratio is None:
        return cells | {"TEL": next(r.outcome for r in row.runs if r.outcome != "complete")}
    interval = data["tel_interval_95"]
    return cells | {
        "TEL": _number(data["mean_tel"]),
        "95%": "" if interval is None else f"± {_number((interval[1] - interval[0]) / 2)}",
        "ratio": str(row.ratio),
        "evictions": _number(data["evictions"]),
        "wasted": _number(data["wasted_tokens"]),
        "mean": _number(data["mean_latency"]),
        "P99": _number(data["p99_latency"]),
        "TTFT": _number(data["mean_ttft"]),
    }


WORDS = {
    "latency": "latency",
    "ttft": "TTFT",
    "tpot": "TPOT",
    "per_token": "latency per token",
    "waiting": "waiting",
    "slowdown": "slowdown (x)",
}
"""Names of the times of `ratiolab.online.metrics`."""


def figures_table(runs: Sequence[Mapping[str, float]], unit: str) -> Table:
    """Return a table of the requests' times, means over complete runs; a caption has the rest."""
    import numpy as np

    from ratiolab.online.metrics import interval

    mean, ends = {}, {}
    for name in runs[0]:
        values = np.array([run[name] for run in runs], np.float64)
        mean[name], *ends[name] = interval(values[~np.isnan(values)])
    several = len(runs) > 1
    table = Table(title=f"times of requests, {unit}", title_justify="left", caption_justify="left")
    table.add_column("", overflow="fold")
    for name in ("mean", *(["95%"] * several), "median", "P90", "P99"):
        table.add_column(name, justify="right", overflow="fold")
    for name, words in WORDS.items():
        if np.isnan(mean[f"mean_{name}"]):
            continue  # with one token a request there is no time between tokens
        low, high = ends[f"mean_{name}"]
        whole, *tails = (
            f"{mean[f'{kind}_{name}']:,.4g}" for kind in ("mean", "median", "p90", "p99")
        )
        table.add_row(words, whole, *([f"{low:,.4g} to {high:,.4g}"] * several), *tails)
    table.caption = (
        f"throughput {mean['throughput']:,.4g} tokens a {unit.removesuffix('s')}, longest waiting "
        f"{mean['starvation']:,.4g}\nfairness {mean['fairness']:.3f} (Jain), memory "
        f"{mean['mean_memory']:,.0f} on average, {mean['peak_memory']:,.0f} at most"
    )
    return table


def policies_table(policies: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table of policies: information level, preemption, parameters and source."""
    names = "policy", "knows, preemption", "what it does", "parameters", "source"
    policies = list(policies)
    table = folding_table(*names, keys=[policy["policy"] for policy in policies])
    table.columns[0].style = "bold"
    for policy in policies:
        knows = f"{policy['information']},\n{policy['preemption']}"
        parameters = _parameters(policy)
        table.add_row(policy["policy"], knows, policy["summary"], parameters, policy["source"])
    return table


def routers_table(routers: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table of routers: what each does, its parameters and source."""
    routers = list(routers)
    names = "router", "what it does", "parameters", "source"
    table = folding_table(*names, keys=[router["router"] for router in routers])
    for router in routers:
        table.add_row(router["router"], router["summary"], _parameters(router), router["source"])
    return table


def _parameters(described: Mapping[str, Any]) -> str:
    """Return the parameters of a policy or router with their defaults, one in a line."""
    return "\n".join(f"{name}={value}" for name, value in described["params"].items())


def folding_table(*names: str, show_lines: bool = True, keys: Iterable[str] = ()) -> Table:
    """Return a table without rows yet, whose cells are folded rather than cut."""
    table = Table(show_lines=show_lines)
    for number, name in enumerate(names):
        least = max(map(len, keys), default=0) if number == 0 else 0
        table.add_column(name, overflow="fold", min_width=least)
    return table


def bounds_table(bounds: "Iterable[Bound]") -> Table:
    """Return a table of the named formulas with their sources and assumptions."""
    table = folding_table("name", "arguments", "assumptions", "source")
    for bound in bounds:
        table.add_row(bound.name, bound.domain, bound.assumptions, bound.source)
    return table


def kinds_table(kinds: "Iterable[Kind]") -> Table:
    """Return a table of the kinds of workload with their settings and defaults."""
    table = folding_table("kind", "what it makes", "settings", "source")
    for kind in kinds:
        settings = "\n".join(f"{s.name}={s.default} ({s.domain.unit})" for s in kind.parameters)
        table.add_row(kind.name, kind.summary, settings, kind.source)
    return table


def _number(value: float) -> str:
    """Return a number with separated thousands, and decimals only where they matter."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.1f}"


def description_table(seen: "Description") -> list[str | Table]:
    """Return the headline of a trace, its quantiles as a table, and the load that it offers."""
    trace = seen.trace
    lines: list[str | Table] = [f"{trace.name}: {len(trace):,} requests; layout: {trace.layout}"]
    if seen.span is None:
        lines.append("no arrival times: all requests arrive at once, or at times that are drawn")
    elif seen.rate is not None:
        words = [seconds(seen.span), f"{seen.rate:.3g} requests a second"]
        if seen.largest_rate is not None:
            words.append(f"{seen.largest_rate:.3g} in the busiest minute")
        if seen.variation is not None:
            words.append(f"gaps vary by {seen.variation:.2f} (Poisson: 1)")
        lines.append(", ".join(words))
    if trace.units:
        lines.append(f"times: {trace.units}")
    lines += trace.notes
    if dropped := seen.to_dict()["dropped"]:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        lines.append(f"an instance leaves out {sum(dropped.values()):,} of the requests: {reasons}")
    columns = {"prompt": trace.prompt, "output": trace.output}
    quantiles = [seen.quantiles(tokens) for tokens in columns.values()]
    table = Table("tokens", *columns)
    table.add_row("mean", *(f"{tokens.mean():,.1f}" for tokens in columns.values()))
    for name in quantiles[0]:
        table.add_row(name, *(f"{each[name]:,.0f}" for each in quantiles))
    for column in table.columns[1:]:
        column.justify = "right"
    lines.append(table)
    if seen.load is not None:
        lines.append(
            f"load {seen.load:.3g}: token-rounds needed, over what {seen.memory:,} tokens offer at "
            f"{seen.speed:g} rounds a second; above 1 no scheduler keeps up"
        )
    if trace.prefixes is not None:
        shared = trace.prefixes.to_dict(trace.prompt)
        lines.append(
            f"prefixes: {shared['named_before']:.1%} of the prompt tokens were named before; "
            f"{shared['blocks']:,} blocks of {shared['block']} tokens in {shared['roots']:,} "
            f"trees, {shared['shared_by_two_or_more']:,} of them shared, one by "
            f"{shared['most_users']:,} requests"
        )
    told = seen.to_dict()["observed"]
    if told:
        means = seen.observed_means
        figures = ", ".join(f"mean {name} {value:.6g} s" for name, value in means.items())
        lines.append(f"the log observed: {', '.join(told)}{f' ({figures})' if figures else ''}")
    return lines


def seconds(value: float) -> str:
    """Return a span of time, in seconds and, when it is long, in hours or days.

    >>> seconds(23.0049), seconds(8622), seconds(604_800)
    ('23.005 s', '8,622 s (2.4 hours)', '604,800 s (7 days)')
    """
    words = f"{value:,.3f}" if value < 1000 else f"{value:,.0f}"
    if value < 3600:
        return f"{words} s"
    part, unit = (value / 3600, "hours") if value < 48 * 3600 else (value / 86_400, "days")
    return f"{words} s ({part:.3g} {unit})"
