"""The one style of all pictures, and the files that they become, without any global state."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler
from PIL import Image

from ratiolab.model.files import PathLike, write_bytes

Format: TypeAlias = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)

DPI = 300
"""Of files; a picture has the width of a page, 6 to 11 inches."""

NOTEBOOK_DPI = 100

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, BROWN = "#CC79A7", "#56B4E9", "#8C510A"
"""The colours of Okabe and Ito, told apart by colour-blind readers, and one more."""

PALETTE = 256
"""Number of colours of a picture, including the shades of smoothed edges."""

in_style = mpl.rc_context(
    {
        # serifs as in the formulas, from fonts that come with matplotlib: the same on every machine
        "font.family": ["STIXGeneral"],
        "mathtext.fontset": "stix",
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.labelsize": 10,
        "legend.fontsize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "lines.markersize": 4,
        "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PINK, SKY, "black"]),
        "svg.fonttype": "path",
        "svg.hashsalt": "ratiolab",  # the same picture is the same file
        "pdf.fonttype": 42,
    }
)
"""Decorator of the functions that draw."""

UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


class Chart(Figure):
    """A figure that notebooks show as it is, without any global state."""

    def _repr_png_(self) -> bytes:
        return self.png(NOTEBOOK_DPI)

    @in_style
    def png(self, dpi: int = DPI) -> bytes:
        """Return the figure as a PNG file with few colours and no note of who made it."""
        drawn, content = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", dpi=dpi)
        # A chart has few colours: a palette makes the file three times smaller.
        picture = Image.open(drawn).convert("RGB").quantize(PALETTE)
        picture.save(content, "png", optimize=True, dpi=(dpi, dpi))
        return content.getvalue()

    @in_style
    def vector(self, kind: Format) -> bytes:
        """Return the figure as an SVG or PDF file, undated."""
        content = BytesIO()
        self.savefig(content, format=kind, metadata=UNDATED[kind])
        return content.getvalue()


@in_style
def new_chart(size: tuple[float, float]) -> Chart:
    """Return an empty chart, with its size in inches and a canvas of its own."""
    figure = Chart(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Chart, path: PathLike) -> None:
    """Write a figure in the format of its ending (png, svg, pdf), in one step."""
    kind = require_format(path)
    write_bytes(path, figure.png() if kind == "png" else figure.vector(kind))


def save_all(figure: Chart, path: PathLike, formats: Sequence[Format]) -> list[Path]:
    """Write a figure in several formats, beside one another; return the paths."""
    paths = [Path(path).with_suffix(f".{kind}") for kind in formats]
    for each in paths:
        save(figure, each)
    return paths


def require_format(path: PathLike) -> Format:
    """Return the format that the ending of a path names; `ValueError` for an unknown one."""
    ending = Path(path).suffix.lstrip(".").lower() or "png"
    for kind in FORMATS:
        if ending == kind:
            return kind
    raise ValueError(f"{path}: pictures can be {', '.join(FORMATS)}, not {ending!r}")


def formats_of(words: str) -> list[Format]:
    """Return the formats of a comma separated list, each once.

    >>> formats_of("svg, png,svg")
    ['svg', 'png']
    """
    found: list[Format] = []
    for word in (word.strip().lower() for word in words.split(",")):
        kinds = [kind for kind in FORMATS if kind == word]
        if not kinds:
            raise ValueError(f"--format {word!r} must be one of {', '.join(FORMATS)}")
        found += [kind for kind in kinds if kind not in found]
    return found
