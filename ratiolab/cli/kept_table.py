"""Tables that are computed row by row and kept: with their page and figure, and through Ctrl-C."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias, TypeVar

import typer

from ratiolab.cli.app import answer, end_interrupted, progress
from ratiolab.cli.outputs import require_apart

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart

Row = TypeVar("Row")
Shown = TypeVar("Shown", contravariant=True)

Anew: TypeAlias = Annotated[
    bool, typer.Option("--anew", help="Compute again what the table has already.")
]
Page: TypeAlias = Annotated[
    Path, typer.Option(help="Page to write; table and figure stand beside it.", writable=True)
]


class Files(Protocol[Row]):
    """How rows of a table are read and written: a module, or what looks like one."""

    def read_rows(self, path: Path, /) -> list[Row]: ...
    def write_rows(self, found: Sequence[Row], path: Path, /) -> None: ...


class Pages(Protocol[Shown]):
    """How a figure and a page are made of rows: a module, or what looks like one."""

    def picture(self, rows: Sequence[Shown], /) -> "Chart": ...
    def write_page(self, rows: Sequence[Shown], page: Path, table: str, figure: str, /) -> None: ...


def fill_table(
    name: str,
    page: Path,
    files: Files[Row],
    pages: Pages[Row],
    compute: Callable[[list[Row], Callable[[str], None], Callable[[list[Row]], None]], list[Row]],
    *,
    anew: bool,
    json: bool,
) -> None:
    """Compute the rows that a table lacks, and write table, page and figure.

    `compute` returns all rows; it receives the known rows, a progress display, and a function that
    keeps the rows so far. With `anew`, known rows are computed again.
    """
    from ratiolab.report.plots import save

    rows_file, figure = page.with_suffix(".csv"), page.with_suffix(".png")
    require_apart(
        {
            f"--page {page}": page,
            f"the table {rows_file}": rows_file,
            f"the figure {figure}": figure,
        }
    )
    known = [] if anew or not rows_file.exists() else files.read_rows(rows_file)
    try:
        with progress() as display:
            task = display.add_task(name)
            found = compute(
                known,
                lambda words: display.update(task, description=words),
                lambda rows: files.write_rows(rows, rows_file),
            )
    except KeyboardInterrupt:
        end_interrupted(f"{rows_file} keeps the {name} that were computed; {page} is as it was")
    files.write_rows(found, rows_file)
    save(pages.picture(found), figure)
    pages.write_page(found, page, rows_file.name, figure.name)
    data = {"page": str(page), name: len(found)}
    answer(json, name, data, f"{page}: {len(found)} {name}")
