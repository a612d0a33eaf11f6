"""The page of ranges: the best constant without knowledge of the lengths, from both ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.model.files import write_text
from ratiolab.theory.limits.finite_range import Enclosure
from ratiolab.theory.limits.volume_restart import best

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

HEAD = """# What a range of lengths is worth

How good can a policy be that does not know the lengths, when all volumes lie within a factor R? In
the fluid limit (many requests, all at round 0, a memory for many, evicted requests lose their
tokens) the best constant is V(R). It is 1 at R = 1, (1 + sqrt(R))/2 up to R = 2.618, where killing
is of no use, does not fall, and tends to {limit:.5f}. The volume of a request is the memory that a
run holds, summed over its rounds: with lengths l to u and no prompts R is about (u/l)^2, with long
prompts u/l.

Knowing the law of the lengths is worth nothing at any R: V(R) is the same for policies that know
it. So each end comes from one side of a game. Below, a law and a price of work that no policy can
beat; above, a mixture of policies that know nothing but R, and a bound on their cost for all laws.
Both are floats, right but for rounding, and proved in
[the text](../ratiolab/papers/ours/proofs/volume_restart.md), section 5. The largest gap here is
{gap:.2%}.

`ratiolab ranges` computes [the table]({table}) and writes this page. For one range of lengths,
`ratiolab design --lower 1 --upper 4` prints both ends.

![the best constant over R]({figure})

| R | at least | at most | gap | never to kill |
|--:|--:|--:|--:|--:|
"""


def write_page(rows: Sequence[Enclosure], page: Path, table: str, figure: str) -> None:
    """Write the page."""
    gap = max(row.gap for row in rows)
    text = HEAD.format(limit=float(best()[1]), table=table, figure=figure, gap=gap)
    for row in rows:
        ends = f"{row.lower:.4f} | {row.upper:.4f} | {row.gap:.2%}"
        text += f"| {row.ratio:,.4g} | {ends} | {row.never_kill:.4f} |\n"
    write_text(page, text)


def picture(rows: Sequence[Enclosure]) -> "Chart":
    """Draw both ends over R, beside the limit and the constant of never killing."""
    from ratiolab.report.plots.canvas import BLUE, ORANGE
    from ratiolab.report.plots.curves import FAINT, OTHER, Curve, Panel, chart

    limit = float(best()[1])
    x = [row.ratio for row in rows]
    fine = np.geomspace(1, x[-1], 200)
    never = (1 + np.sqrt(fine)) / 2
    inside = never <= 3.0
    look = {"color": BLUE, "marker": "o", "ms": 3, "lw": 1.2}
    curves = [
        Curve("at most: a policy", x, [row.upper for row in rows], look),
        Curve("at least: a law", x, [row.lower for row in rows], look | {"color": ORANGE}),
        Curve("never to kill", fine[inside].tolist(), never[inside].tolist(), FAINT),
        Curve("limit, 2.728", [x[0], x[-1]], [limit, limit], OTHER | {"ls": "--"}),
    ]
    title = "The best constant without knowledge"
    panel = Panel(title, "R", "ratio", curves, log_x=True, y_range=(1.0, 3.0))
    return chart([panel], height=4.4)
