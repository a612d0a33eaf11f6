"""Figure 1 of Chen et al. (2025): the ratio of A_min against the longest output."""

from functools import partial
from math import log

import pandas as pd

from ratiolab.papers.chen2025 import figures
from ratiolab.papers.chen2025.claims.theorem_5 import (
    CORRECTED,
    PRINTED,
    determination,
    good_start,
    poor_starts,
)
from ratiolab.papers.finding import Finding
from ratiolab.papers.page import Page
from ratiolab.theory.rayleigh.asymptotics import log_fit

LEAST, SAID = 3, 0.9999
"""The fit begins at u = 3, as at 2 no logarithm has room; the R^2 that the paper states."""

SHOWN = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


def page(frame: pd.DataFrame) -> Page:
    """Compare the exact maxima with the fit that the paper states."""
    ratio = dict(zip(frame["u"].astype(int), frame["ratio"].astype(float), strict=True))
    uppers = [u for u in ratio if u >= LEAST]
    values = [ratio[u] for u in uppers]
    found, last = determination(PRINTED, uppers, values), max(ratio)
    poor = poor_starts(PRINTED, ratio, last)
    start = good_start(poor, last)
    scale, shift, offset = PRINTED
    fitted = log_fit(uppers, values)
    finding = Finding(
        f"{scale} ln(u + {shift}) + {offset} fits the ratio with R² above {SAID}",
        f"above {SAID}",
        found,
        (None if start else False) if poor else True,
        f"no range of u is given; above {SAID} from u = {start} on"
        if start
        else "with u - 1 for u the printed curve fits",
        said=f"{found:.6f} from u = {LEAST} on",
    )
    slots = {
        "least": min(ratio),
        "most": last,
        "shifted": determination(CORRECTED, uppers, values),
        "best": f"{fitted.scale:.4f} ln(u - {-fitted.shift:.4f}) + {fitted.offset:.4f}",
        "rows": [(u, ratio[u], scale * log(u + shift) + offset) for u in SHOWN if u in ratio],
    }
    return Page(slots, [finding], {"ratio": partial(figures.figure_1, last)})
