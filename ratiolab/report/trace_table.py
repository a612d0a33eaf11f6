"""Contents of a trace, as tables for the terminal."""

from rich.table import Table

from ratiolab.workloads.description import Description


def description_table(seen: Description) -> list[str | Table]:
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
