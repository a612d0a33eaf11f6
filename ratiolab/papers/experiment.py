"""Experiments of papers: how one is found, run, and written as a page."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ratiolab.executors import Executor
from ratiolab.model import write_text
from ratiolab.papers.page import Head, Page, read_template
from ratiolab.papers.page_table import kept_columns, stored, take_over
from ratiolab.papers.paper import PACKAGE, papers, register_tasks
from ratiolab.report.templating import write_page
from ratiolab.studies import Study, read_study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store, csv_text

if TYPE_CHECKING:
    import pandas as pd

    from ratiolab.report.plots.canvas import Format

PNG: "tuple[Format, ...]" = ("png",)

QUICK = "**A quick run: too small to judge anything by. It has no verdicts.**\n\n"


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, or one of our own: three files of one name.

    The module computes what the page says. Files of the same name beside it hold the study
    (``.toml``) and the template of the page (``.md``), whose head names the experiment.
    """

    module: str

    def page(self, frame: "pd.DataFrame") -> Page:
        """Return what the page says; every figure on it is computed from the study's table.

        The module, which may need matplotlib, is imported now: who lists experiments needs none.
        """
        page: Page = import_module(self.module).page(frame)
        return page

    @cached_property
    def head(self) -> Head:
        """Return the head of the template: name, title, source and columns to keep."""
        with self.file("md") as template:
            return read_template(template)[0]

    @property
    def name(self) -> str:
        """Return the key of the experiment, by which its results are named."""
        return self.head.name

    def study(self, *, quick: bool = False, traces: Path | None = None) -> Study:
        """Return the study, by default in full."""
        register_tasks()
        with self.file() as path:
            return read_study(path, quick=quick, traces=traces)

    def stored(self, study: Study, out: Path) -> "pd.DataFrame":
        """Return the table ``NAME.csv`` of a folder, as `ratiolab.papers.page_table.stored`."""
        return stored(out / f"{self.name}.csv", study, self.head.figures)

    def file(self, ending: str = "toml") -> AbstractContextManager[Path]:
        """Return the path of the study's file or of the template, beside the module."""
        package, _, name = self.module.rpartition(".")
        return as_file(files(package) / f"{name}.{ending}")


@cache
def experiments() -> Mapping[str, Experiment]:
    """Return what ``ratiolab reproduce`` knows, by name, read-only."""
    folders = {f"{PACKAGE}.{paper}": files(f"{PACKAGE}.{paper}") for paper in papers()}
    found = [
        Experiment(f"{package}.experiments.{template.removesuffix('.md')}")
        for package, folder in folders.items()
        if (folder / "experiments").is_dir()
        for template in sorted(file.name for file in (folder / "experiments").iterdir())
        if template.endswith(".md") and not template.startswith("_")
    ]
    return MappingProxyType({experiment.name: experiment for experiment in found})


def reproduce(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool = False,
    traces: Path | None = None,
    workers: int = -1,
    executor: Executor | None = None,
    formats: "Sequence[Format]" = PNG,
    advance: Callable[[int, int], None] | None = None,
    extend: bool = False,
) -> Path:
    """Run an experiment and write ``NAME.csv``, ``NAME.md`` and its figures; the page's path.

    The page shows figures in PNG; other formats stand beside them, for papers. Finished cells, with
    all their figures, are kept in ``OUT/.cells/NAME``. `workers` and `executor` are those of
    `ratiolab.studies.run.run_study`. With `extend`, cells that ``NAME.csv`` has are not run again,
    see `ratiolab.papers.page_table.take_over`.

    Raises
    ------
    FormatError
        with `extend`, when the table is not there, or not one of this study.
    """
    study = experiment.study(quick=quick, traces=traces)
    store = Store(out / ".cells" / study.name)
    if extend:
        take_over(out / f"{experiment.name}.csv", study, experiment.head.figures, store)
    frame = run_study(study, store, workers=workers, executor=executor, advance=advance)
    columns = kept_columns(frame, experiment.head.figures)
    write_text(out / f"{experiment.name}.csv", csv_text(list(store.rows(study)), columns))
    return _write_page(experiment, frame, out, quick, formats)


def redraw(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool = False,
    traces: Path | None = None,
    formats: "Sequence[Format]" = PNG,
) -> Path:
    """Write the page and its figures again from ``NAME.csv`` alone; nothing is run."""
    study = experiment.study(quick=quick, traces=traces)
    return _write_page(experiment, experiment.stored(study, out), out, quick, formats)


def _write_page(
    experiment: Experiment,
    frame: "pd.DataFrame",
    out: Path,
    quick: bool,
    formats: "Sequence[Format]",
) -> Path:
    page = out / f"{experiment.name}.md"
    write_page(page, page_text(experiment, frame, out, quick=quick, formats=formats))
    return page


def page_text(
    experiment: Experiment,
    frame: "pd.DataFrame",
    out: Path,
    *,
    quick: bool,
    formats: "Sequence[Format]" = PNG,
) -> str:
    """Return the whole page, and write its charts into a folder as ``NAME-*.png``, or otherwise.

    Templates have, beside the slots of their page, ``seeds``, the number of them, and ``first``,
    the first row of the table, for what is the same in all rows.
    """
    command = f"ratiolab reproduce {experiment.name}{' --quick' if quick else ''}"
    seeds = frame["seed"].nunique()
    made = (
        f"Made by `{command}`, version {', '.join(map(str, frame['version'].unique()))}: "
        f"{len(frame):,} rows, {seeds} {'seed' if seeds == 1 else 'seeds'}. "
        f"All numbers: [`{experiment.name}.csv`]({experiment.name}.csv)."
    )
    from ratiolab.report.plots.canvas import save_all

    page = experiment.page(frame)
    with experiment.file("md") as template:
        body = page.text(template, judged=not quick, seeds=seeds, first=frame.iloc[0])
    for name, draw in page.charts.items():
        save_all(draw(), out / f"{experiment.name}-{name}", formats)
    head = f"# {experiment.head.title}\n\n{experiment.head.source}.\n\n{QUICK if quick else ''}"
    return f"{head}{body}\n\n---\n\n{made}\n"
