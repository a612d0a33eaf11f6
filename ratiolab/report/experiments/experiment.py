"""What an experiment is, and how its page is made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.model.io import write_text
from ratiolab.studies import Study, read_study, shipped
from ratiolab.studies.run import run_study
from ratiolab.studies.store import FIRST, Store, csv_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, or one of our own.

    Its study is the file ``NAME.toml`` of the folder ``ratiolab/studies/files``.

    Parameters
    ----------
    name : key; results are named so.
    title : one line, for the head of the page and the list.
    source : paper, section and figures.
    page : from the table of the study and a folder, the text below the head of the page in
        Markdown; figures are written into the folder as ``NAME-*.png``. Every figure of the text
        is computed from the table.
    figures : columns of results that ``NAME.csv`` keeps; what tells its rows apart is kept anyway.
    """

    name: str
    title: str
    source: str
    page: Callable[["pd.DataFrame", Path], str]
    figures: tuple[str, ...]

    def study(self, *, quick: bool = False, traces: Path | None = None) -> Study:
        """The study, by default in full."""
        with shipped(self.name) as path:
            return read_study(path, quick=quick, traces=traces)


@dataclass(frozen=True)
class Finding:
    """One statement of a paper beside what was found.

    Parameters
    ----------
    statement : in our words.
    paper, ours : the number or ordering there and here.
    reproduced : None when the paper does not say enough to decide.
    why : what explains a difference, or what limits an agreement.
    """

    statement: str
    paper: str
    ours: str
    reproduced: bool | None
    why: str = ""

    @property
    def verdict(self) -> str:
        """Yes, no, or undecided."""
        return {True: "yes", False: "no", None: "undecided"}[self.reproduced]


def reproduce(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool = False,
    traces: Path | None = None,
    workers: int = -1,
    advance: Callable[[int, int], None] | None = None,
) -> Path:
    """Run an experiment and write ``NAME.csv``, ``NAME.md`` and its figures; the page's path.

    Finished cells, with all their figures, are kept in ``OUT/.cells/NAME``.
    """
    study = experiment.study(quick=quick, traces=traces)
    store = Store(out / ".cells" / study.name)
    frame = run_study(study, store, workers=workers, advance=advance)
    columns = kept_columns(frame, experiment.figures)
    write_text(out / f"{experiment.name}.csv", csv_text(list(store.rows(study)), columns))
    page = out / f"{experiment.name}.md"
    write_text(page, page_text(experiment, frame, out, quick=quick))
    return page


def page_text(experiment: Experiment, frame: "pd.DataFrame", out: Path, *, quick: bool) -> str:
    """The whole page: head, what the experiment says, and how it was made."""
    command = f"ratiolab reproduce {experiment.name}{' --quick' if quick else ''}"
    seeds = frame["seed"].nunique()
    made = (
        f"Made by `{command}`, version {', '.join(map(str, frame['version'].unique()))}: "
        f"{len(frame):,} rows, {seeds} {'seed' if seeds == 1 else 'seeds'}. "
        f"All numbers: [`{experiment.name}.csv`]({experiment.name}.csv)."
    )
    body = experiment.page(frame, out).strip()
    return f"# {experiment.title}\n\n{experiment.source}.\n\n{body}\n\n---\n\n{made}\n"


def kept_columns(frame: "pd.DataFrame", figures: Sequence[str]) -> list[str]:
    """Some figures, and of what the cells are all that differs between rows."""
    differs = [
        name
        for name in map(str, frame.columns)
        if name.partition(".")[0] in FIRST and frame[name].nunique(dropna=False) > 1
    ]
    missing = [name for name in figures if name not in frame]
    assert not missing, missing
    return list(dict.fromkeys([*differs, "seed", *figures, "version"]))


def findings_table(findings: Iterable[Finding]) -> str:
    """Findings as a Markdown table."""
    names = ("statement", "paper", "ours", "reproduced", "why")
    rows = [(f.statement, f.paper, f.ours, f.verdict, f.why) for f in findings]
    return markdown(names, rows)


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; floats with three significant digits, numbers to the right.

    >>> print(markdown(("policy", "ratio"), [("a-min", 1.23456), ("a|b", 1234)]))
    | policy | ratio |
    |---|---:|
    | a-min | 1.23 |
    | a\\|b | 1,234 |
    """
    rows = [list(row) for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        for i in range(len(header))
    ]
    lines = [header, *([_shown(value) for value in row] for row in rows)]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", "\\|").replace("\n", " ")
