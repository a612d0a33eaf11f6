"""Commands that run studies and the papers' experiments."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import (
    Formats,
    Json,
    Where,
    Workers,
    answer,
    app,
    description_column,
    print_json,
    print_rich,
    shown,
)
from ratiolab.cli.outputs import require_apart

Quick = Annotated[bool, typer.Option("--quick", help="A small version, for a first look.")]
Traces = Annotated[
    Path | None,
    typer.Option(
        envvar="RATIOLAB_TRACES", help="Folder of the traces and instances that a study names."
    ),
]


@app.command()
def study(
    file: Annotated[
        Path | None, typer.Argument(help="Study, TOML; none prints an example.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; default: the name of the study.")
    ] = None,
    quick: Quick = False,
    workers: Workers = -1,
    executor: Where = "local",
    scheduler: Annotated[str | None, typer.Option(hidden=True)] = None,
    traces: Traces = None,
    json: Json = False,
) -> None:
    """Run a declared grid of workloads, policies and seeds, or continue a stopped grid.

    Every finished cell is kept in the folder, so that Ctrl-C, a crash or a lost worker costs no
    finished work. The tables, CSV and Parquet, do not depend on the number of workers.

    Example: ratiolab study > mine.toml, then ratiolab study mine.toml --workers 2
    """
    from ratiolab.executors import opened
    from ratiolab.papers import register_tasks
    from ratiolab.studies import example, read_study
    from ratiolab.studies.run import run_study
    from ratiolab.studies.store import Store, tables

    if file is None:
        with example() as path:
            text = path.read_text(encoding="utf-8")
        print_json("study-example", {"example": text}) if json else typer.echo(text, nl=False)
        return
    if scheduler is not None:  # the older way to say it
        if executor != "dask":
            raise ValueError("--scheduler ADDRESS needs --executor dask; say dask=ADDRESS")
        executor = f"dask={scheduler}"
    register_tasks()
    chosen = read_study(file, quick=quick, traces=traces)
    store = Store(Path(chosen.name) if out is None else out)
    results = {f"--out {store.folder}: {path}": path for path in tables(store.table(chosen))}
    require_apart(results, {file}.union(*(cell.files for cell in chosen.cells)))
    with opened(executor, workers) as place, bar(chosen.name, store.folder) as advance:
        frame = run_study(chosen, store, executor=place, advance=advance)
    table = store.table(chosen)
    if json:
        cells = len(chosen.cells)
        data = {"study": chosen.name, "cells": cells, "rows": len(frame), "table": str(table)}
        print_json("study-table", data)
        return
    print_rich(f"{table}: {len(frame):,} rows of {len(chosen.cells):,} cells")


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="Experiment; none lists them.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the results; default: results, results-quick with --quick."),
    ] = None,
    quick: Quick = False,
    again: Annotated[
        bool,
        typer.Option(
            "--redraw", help="Run nothing: page and figures from the table in the folder."
        ),
    ] = False,
    extend: Annotated[
        bool,
        typer.Option(
            "--extend",
            help="Run only what the table in the folder lacks: more seeds of the same study.",
        ),
    ] = False,
    formats: Formats = None,
    workers: Workers = -1,
    executor: Where = "local",
    traces: Traces = None,
    json: Json = False,
) -> None:
    """Run an experiment of the papers and write its page, table and figures.

    The page sets each of the paper's statements beside what was found. Without a name, list the
    experiments.

    Example: ratiolab reproduce chen2025 --quick
    """
    from ratiolab.executors import opened
    from ratiolab.model.names import unknown
    from ratiolab.papers import experiments, redraw
    from ratiolab.papers import reproduce as reproduce_experiment
    from ratiolab.report.tables import folding_table

    known = experiments()
    if name is None:
        rows = [(e.name, e.head.title, e.head.source) for e in known.values()]
        if json:
            listed = [dict(zip(("name", "title", "source"), row, strict=True)) for row in rows]
            print_json("experiments", {"experiments": listed})
            return
        table = folding_table("name", "title", "source", show_lines=False, keys=known)
        for row in rows:
            table.add_row(*row)
        print_rich(table)
        return
    if name not in known:
        raise ValueError(unknown("experiment", name, known, "`ratiolab reproduce`"))
    folder = Path("results-quick" if quick else "results") if out is None else out
    from ratiolab.report.plots import formats_of

    kinds = formats_of(formats or "png")
    if again and extend:
        raise ValueError("--redraw runs nothing and --extend what is missing: say one of them")
    if again:
        page = redraw(known[name], folder, quick=quick, traces=traces, formats=kinds)
    else:
        with opened(executor, workers) as place, bar(name, folder) as advance:
            page = reproduce_experiment(
                known[name],
                folder,
                quick=quick,
                traces=traces,
                executor=place,
                formats=kinds,
                advance=advance,
                extend=extend,
            )
    answer(json, "experiment-page", {"experiment": name, "page": str(page)}, str(page))


@contextmanager
def bar(name: str, folder: Path) -> Iterator[Callable[[int, int], None]]:
    """Show a bar of finished cells on standard error; Ctrl-C says what is kept."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    columns = [description_column(), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with shown(*columns) as display:
        task = display.add_task(name, total=None)

        def advance(done: int, cells: int) -> None:
            display.update(task, completed=done, total=cells)

        try:
            yield advance
        except KeyboardInterrupt:
            kept = f"what is finished is kept in {folder}; run again to go on"
            display.console.print(kept, markup=False)
            raise
