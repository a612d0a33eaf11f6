"""A chart of counts: one bar for each group, with a segment for each category."""

from collections.abc import Mapping

from ratiolab.report.plots.canvas import Chart, in_style, new_chart


@in_style
def counts(groups: Mapping[str, Mapping[str, int]], colours: Mapping[str, str]) -> Chart:
    """Draw the counts of each group, below one another."""
    figure = new_chart((7, 1.2 + 0.35 * len(groups)))
    ax = figure.subplots()
    left = [0] * len(groups)
    for category, colour in colours.items():
        widths = [group.get(category, 0) for group in groups.values()]
        bars = ax.barh(list(groups), widths, left=left, color=colour, alpha=0.7, label=category)
        ax.bar_label(bars, [str(width or "") for width in widths], label_type="center")
        left = [start + width for start, width in zip(left, widths, strict=True)]
    ax.invert_yaxis()
    figure.legend(loc="outside lower left", ncols=len(colours), frameon=False)
    return figure
