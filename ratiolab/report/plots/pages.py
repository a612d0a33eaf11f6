"""Pages of a PDF file, A4: headings, paragraphs, tables that go over pages, and charts."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from ratiolab.report.plots.canvas import UNDATED, in_style

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

WIDTH, HEIGHT, MARGIN = 8.27, 11.69, 0.7
INNER = WIDTH - 2 * MARGIN
LEADING = 1.35 / 72
"""Inches from line to line, for a point of the font."""

FONTS = ["STIXGeneral", "DejaVu Sans"]
"""The second has letters that the first lacks. Pages embed these fonts."""

GAP = 0.12
"""Inches between the columns of a table."""


def width_of(words: str, size: float, weight: str = "normal") -> float:
    """Return the width of a line of text, inches."""
    font = FontProperties(family=FONTS[0], size=size, weight=weight)
    found, _, _ = text_to_path.get_text_width_height_descent(words, font, ismath=False)
    return float(found) / 72


def wrapped(words: str, size: float, width: float, weight: str = "normal") -> list[str]:
    """Return the lines of a paragraph; a word that is wider than a line is broken."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, weight) <= width:
            lines[-1] = longer
            continue
        lines.append("")
        for letter in word:
            if width_of(lines[-1] + letter, size, weight) > width:
                lines.append("")
            lines[-1] += letter
    return [line for line in lines if line]


class Pages:
    """A PDF file that grows from top to bottom."""

    def __init__(self) -> None:
        self._content = BytesIO()
        self._file = PdfPages(self._content, metadata=UNDATED["pdf"])
        self._page: Figure | None = None
        self._left = 0.0

    def heading(self, words: str, size: float = 12) -> None:
        """Add a heading; it is not left alone at the end of a page."""
        self._space(0.1 + 6 * size * LEADING)
        self._left -= 0.1
        for line in wrapped(words, size, INNER, "bold"):
            self._line(line, size, weight="bold")
        self._left -= 0.05

    def paragraph(self, words: str, size: float = 10) -> None:
        """Add a paragraph."""
        for line in wrapped(words, size, INNER):
            self._line(line, size)
        self._left -= 0.06

    def pairs(self, pairs: Sequence[tuple[str, str]], size: float = 8) -> None:
        """Add names and values, in two columns."""
        indent = max(width_of(name, size) for name, _ in pairs) + GAP
        for name, value in pairs:
            for number, line in enumerate(wrapped(value, size, INNER - indent) or [""]):
                self._line(line, size, indent=indent, before=name if number == 0 else "")

    def table(
        self, header: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[str]]]]
    ) -> None:
        """Add a table of groups of rows; a page that it goes over to repeats the header.

        The first two columns are words and stand left, the others are numbers and stand right.
        """
        rows = [row for _, own in groups for row in own]
        size = 9.0
        while True:
            widths = [
                max([width_of(row[k], size) for row in rows] + [self._head_width(header[k], size)])
                for k in range(len(header))
            ]
            total = sum(widths) + GAP * (len(header) - 1)
            if total <= INNER or size <= 4:
                break
            size -= 0.25
        height = size * LEADING
        places = [sum(widths[:k]) + GAP * k for k in range(len(header))]
        self._header(header, places, widths, size)
        for title, own in groups:
            if self._space((len(own[:2]) + 2) * height):
                self._header(header, places, widths, size)
            self._line(title, size, style="italic")
            for row in own:
                if self._space(height):
                    self._header(header, places, widths, size)
                self._cells(row, places, widths, size)
            self._rule(0.4)
        self._left -= 0.08

    def chart(self, draw: "Callable[[FigureBase], None]", caption: str, height: float) -> None:
        """Add a chart with its caption, on a page of its own when it does not fit."""
        self._space(height + 0.6)
        self.heading(caption, 10.5)
        assert self._page is not None
        below = self._left - height + MARGIN
        cells = GridSpec(
            *(3, 3, self._page),
            width_ratios=[MARGIN, INNER, MARGIN],
            height_ratios=[HEIGHT - below - height, height, below],
            wspace=0,
            hspace=0,
        )
        draw(self._page.add_subfigure(cells[1, 1]))
        self._left -= height + 0.1

    def content(self) -> bytes:
        """End the file and return it."""
        self._end_page()
        self._file.close()  # type: ignore[no-untyped-call]
        return self._content.getvalue()

    def _space(self, height: float) -> bool:
        """Begin a page if fewer inches are left; return whether a page began."""
        if self._page is not None and self._left >= height:
            return False
        self._end_page()
        self._page = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasAgg(self._page)
        self._left = HEIGHT - 2 * MARGIN
        return True

    def _end_page(self) -> None:
        if self._page is not None:
            self._file.savefig(self._page)  # type: ignore[no-untyped-call]
            self._page = None

    def _line(
        self,
        words: str,
        size: float,
        *,
        indent: float = 0.0,
        before: str = "",
        weight: str = "normal",
        style: str = "normal",
    ) -> None:
        self._space(size * LEADING)
        self._left -= size * LEADING
        for x, text in ((0.0, before), (indent, words)):
            self._text(x, text, size, weight=weight, style=style)

    def _text(self, x: float, words: str, size: float, **font: str) -> None:
        assert self._page is not None
        self._page.text(
            (MARGIN + x) / WIDTH,
            (MARGIN + self._left) / HEIGHT,
            words,
            fontfamily=FONTS,
            fontsize=size,
            parse_math=False,  # names come from files: a dollar is a dollar
            **font,  # type: ignore[arg-type]
        )

    def _head_width(self, words: str, size: float) -> float:
        return max(width_of(line, size) for line in words.split(" "))

    def _header(
        self, header: Sequence[str], places: Sequence[float], widths: Sequence[float], size: float
    ) -> None:
        lines = [name.split(" ") for name in header]
        most = max(map(len, lines))
        self._space((most + 3) * size * LEADING)
        self._rule(0.8)
        for k in range(most):
            row = [
                words[k - most + len(words)] if k >= most - len(words) else "" for words in lines
            ]
            self._cells(row, places, widths, size)
        self._rule(0.4)

    def _cells(
        self, row: Sequence[str], places: Sequence[float], widths: Sequence[float], size: float
    ) -> None:
        self._left -= size * LEADING
        for k, (text, place, width) in enumerate(zip(row, places, widths, strict=True)):
            self._text(place if k < 2 else place + width - width_of(text, size), text, size)

    def _rule(self, thickness: float) -> None:
        assert self._page is not None
        self._left -= 0.03
        y = (MARGIN + self._left) / HEIGHT
        ends = [MARGIN / WIDTH, 1 - MARGIN / WIDTH]
        self._page.add_artist(Line2D(ends, [y, y], color="black", lw=thickness))
        self._left -= 0.01


@in_style
def pages(write: Callable[[Pages], None]) -> bytes:
    """Return the PDF file that a function writes, in the style of all pictures."""
    made = Pages()
    write(made)
    return made.content()
