"""What a trace holds, as tables for the terminal."""

from rich.table import Table

from ratiolab.workloads.description import Description


def description_table(seen: Description) -> list[str | Table]:
    """Return the headline of a trace, its quantiles as a table, and the load that it offers."""
    trace = seen.trace
    lines: list[str | Table] = [f"{trace.name}: {len(trace):,} requests; layout: {trace.layout}"]
    if seen.span is None:
        lines.append("no times: arrivals are zero or drawn")
    elif seen.rate is not None and seen.largest_rate is not None:
        varied = "" if seen.variation is None else f", gaps vary by {seen.variation:.2f}"
        lines.append(
            f"{seen.span:,.1f} s, {seen.rate:.3g} requests a second, "
            f"{seen.largest_rate:.3g} in the busiest minute{varied} (Poisson: 1)"
        )
    columns = {"prompt": trace.prompt, "output": trace.output}
    rows = {name: seen.quantiles(tokens) for name, tokens in columns.items()}
    table = Table("tokens", "mean", *rows["prompt"])
    for name, row in rows.items():
        table.add_row(name, f"{columns[name].mean():,.1f}", *(f"{v:,.0f}" for v in row.values()))
    for column in table.columns[1:]:
        column.justify = "right"
    lines.append(table)
    if seen.load is not None:
        lines.append(
            f"load {seen.load:.3g}: token-rounds needed, over what {seen.memory:,} tokens offer at "
            f"{seen.speed:g} rounds a second; above 1 no scheduler keeps up"
        )
    told = seen.to_dict()["observed"]
    if told:
        lines.append(f"the log observed: {', '.join(told)}")
    return lines
