"""Figures of one style without any global state, for all pictures."""

from io import BytesIO

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

in_style = mpl.rc_context(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
    }
)
"""Decorator of the functions that draw a chart."""

NOTEBOOK_DPI = 100
PALETTE = 256
"""Number of colours of a picture, including the shades of smoothed edges."""


class Chart(Figure):
    """A figure that notebooks show as it is, without any global state."""

    def _repr_png_(self) -> bytes:
        return self.png(NOTEBOOK_DPI)

    def png(self, dpi: int) -> bytes:
        """Return the figure as a PNG file with few colours and no note of who made it."""
        drawn, content = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", dpi=dpi)
        # A chart has few colours: a palette makes the file three times smaller.
        Image.open(drawn).convert("RGB").quantize(PALETTE).save(content, "png", optimize=True)
        return content.getvalue()


def new_chart(size: tuple[float, float]) -> Chart:
    """Return an empty chart, with its size in inches and a canvas of its own."""
    figure = Chart(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
