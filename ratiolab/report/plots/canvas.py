"""The figures that all pictures are drawn on: one style, no global state."""

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
}

NOTEBOOK_DPI = 100
PALETTE = 256
"""Colours of a picture in a notebook, shades of smoothed edges included."""


class Chart(Figure):
    """A figure that notebooks show as it is, without any global state."""

    def _repr_png_(self) -> bytes:
        return self.png(NOTEBOOK_DPI)

    def png(self, dpi: int) -> bytes:
        """Return the figure as a PNG file of few colours and no note of who made it."""
        drawn, content = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", dpi=dpi)
        # A chart has few colours: a palette makes the file three times smaller.
        Image.open(drawn).convert("RGB").quantize(PALETTE).save(content, "png", optimize=True)
        return content.getvalue()


def new_chart(size: tuple[float, float]) -> Chart:
    """Return an empty chart of some inches with a canvas of its own."""
    figure = Chart(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
