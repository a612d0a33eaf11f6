"""Pictures of traces: arrivals over time, and lengths."""

import numpy as np

from ratiolab.report.plots.canvas import BLUE, GREEN, ORANGE, Chart, in_style, new_chart
from ratiolab.workloads.description import Description

BINS = 60


@in_style
def description_chart(seen: Description) -> Chart:
    """Draw requests and tokens a second over the span, and how prompts and outputs are spread."""
    trace = seen.trace
    figure = new_chart((10, 5.6))
    (rate, tokens), (prompts, outputs) = figure.subplots(2, 2)
    if trace.seconds is None or not seen.span:
        for ax in (rate, tokens):
            ax.text(0.5, 0.5, "no times in this log", ha="center", transform=ax.transAxes)
            ax.set_axis_off()
    else:
        edges = np.linspace(0, seen.span, BINS + 1)
        width = edges[1]
        counts = np.histogram(trace.seconds, edges)[0] / width
        rate.stairs(counts, edges, color=BLUE)
        rate.set(title=f"requests a second, in bins of {width:.3g} s", xlabel="seconds")
        for name, column, colour in (
            ("prompt", trace.prompt, GREEN),
            ("output", trace.output, ORANGE),
        ):
            sums = np.histogram(trace.seconds, edges, weights=column)[0] / width
            tokens.stairs(sums, edges, color=colour, label=name)
        tokens.set(title="tokens a second that arrive", xlabel="seconds")
        tokens.legend(frameon=False)
        for ax in (rate, tokens):
            ax.set_ylim(bottom=0)
    for ax, name, column in ((prompts, "prompt", trace.prompt), (outputs, "output", trace.output)):
        most = max(2, int(column.max()))
        ax.hist(column, np.geomspace(1, most, BINS), color=BLUE)
        ax.set_xscale("log")
        ax.axvline(np.median(column), color="black", lw=1, ls="--")
        ax.set(title=f"{name}: requests, the dashed line is the median", xlabel="tokens")
    figure.suptitle(f"{trace.name}: {len(trace):,} requests", x=0.01, ha="left")
    return figure
