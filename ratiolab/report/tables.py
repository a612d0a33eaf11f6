"""Tables for people, drawn by rich."""

from collections.abc import Iterable

from rich.table import Table

from ratiolab.hindsight import OptResult
from ratiolab.online import POLICIES, make
from ratiolab.online.registry import parameters_of, summary
from ratiolab.ratio import Comparison
from ratiolab.report.data import row_data
from ratiolab.theory.bound_catalogue import Bound
from ratiolab.workloads.kinds import Kind


def optimum_line(result: OptResult) -> str:
    """The optimum in one line: its value, or the proven interval around it, and who vouches."""
    if result.is_exact:
        return f"optimum {result.upper:,} (proved: {result.lower_source})"
    return (
        f"optimum in [{result.lower:,}, {result.upper:,}], gap {float(result.gap):.2%} "
        f"(lower bound: {result.lower_source})"
    )


def comparison_table(comparison: Comparison) -> Table:
    """One row a policy: latency, ratio to the optimum, evictions, and what requests feel."""
    instance = comparison.instance
    table = Table(
        title=f"{instance.name}: {len(instance):,} requests, memory {instance.memory:,}",
        caption=optimum_line(comparison.optimum),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("policy", style="bold", no_wrap=True)
    table.add_column("knows")
    for name in ("TEL", "95 %", "ratio", "evictions", "wasted", "mean", "P99", "first token"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.rows:
        data = row_data(row)
        if row.ratio is None:
            table.add_row(data["policy"], data["information"], "stalled")
            continue
        interval = data["tel_interval_95"]
        table.add_row(
            data["policy"],
            data["information"],
            _number(data["mean_tel"]),
            "" if interval is None else f"± {_number((interval[1] - interval[0]) / 2)}",
            str(row.ratio),
            _number(data["evictions"]),
            _number(data["wasted_tokens"]),
            _number(data["mean_latency"]),
            _number(data["p99_latency"]),
            _number(data["mean_first_token"]),
        )
    return table


def policies_table(keys: Iterable[str]) -> Table:
    """What policies there are, what each may know, its parameters and its source."""
    table = Table(show_lines=True)
    for name in ("policy", "knows", "what it does", "parameters", "source"):
        table.add_column(name, style="bold" if name == "policy" else None)
    for key in keys:
        parameters = "\n".join(f"{n}={d}" for n, (_, d) in parameters_of(key).items())
        information = make(key).information.value
        table.add_row(key, information, summary(key), parameters, POLICIES[key].source)
    return table


def bounds_table(bounds: Iterable[Bound]) -> Table:
    """The named formulas: where they come from and what they assume."""
    table = Table(show_lines=True)
    for name in ("name", "arguments", "assumptions", "source"):
        table.add_column(name, overflow="fold")
    for bound in bounds:
        table.add_row(bound.name, bound.domain, bound.assumptions, bound.source)
    return table


def kinds_table(kinds: Iterable[Kind]) -> Table:
    """The kinds of workload with their settings and defaults."""
    table = Table(show_lines=True)
    for name in ("kind", "what it makes", "settings", "source"):
        table.add_column(name, overflow="fold")
    for kind in kinds:
        settings = "\n".join(f"{s.name}={s.default} ({s.domain.unit})" for s in kind.settings)
        table.add_row(kind.name, kind.summary, settings, kind.source)
    return table


def _number(value: float) -> str:
    """Thousands separated; decimals only where they say something."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.1f}"
