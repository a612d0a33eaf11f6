"""The commands of the record library: generate, verify, improve, page."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli import INTERRUPTED
from ratiolab.cli.app import (
    Formats,
    Json,
    Where,
    answer,
    app,
    end_interrupted,
    require_folder,
)
from ratiolab.cli.studies import bar

Instances = Annotated[Path, typer.Option(help="Folder of the instances.")]
Results = Annotated[Path, typer.Option(help="Folder of records.csv and of its files.")]
Only = Annotated[str, typer.Option(help="Names of records, as a pattern: jaillet2025/model-1-*.")]
INSTANCES, RESULTS = Path("instances"), Path("results")

records = typer.Typer(
    help="The record library: the best proven interval known for each of its instances.",
    no_args_is_help=True,
)
app.add_typer(records, name="records")


@records.command()
def generate(instances: Instances = INSTANCES, json: Json = False) -> None:
    """Draw the instances of the library and write the missing files.

    The source of an instance is the command that draws it; a file that differs from what the
    command draws is an error.
    """
    from ratiolab.model import read_instance, write_instance
    from ratiolab.records.library import recipes

    written, present = [], 0
    for recipe in recipes():
        path, instance = instances / f"{recipe.name}.json", recipe.build()
        if not path.exists():
            write_instance(instance, path)
            written.append(str(path))
        elif read_instance(path) == instance:
            present += 1
        else:
            raise ValueError(f"{path}: is not what {instance.source!r} gives")
    data = {"written": written, "present": present}
    shown = f"{instances}: {len(written)} instances written, {present} were there"
    answer(json, "drawn-instances", data, shown)


@records.command()
def verify(
    only: Only = "*",
    instances: Annotated[
        Path | None, typer.Option(help="Folder of the instances; default: the project's.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder of records.csv and of its files; default: the project's."),
    ] = None,
    json: Json = False,
) -> None:
    """Recheck every record: its certificate by the independent checker, its schedule exactly.

    A bound beyond the certificate, by HiGHS for instance, is named and not checked.

    Exit code 1 when a record does not prove what it says.
    """
    from fnmatch import fnmatch

    from ratiolab.model.shipped import here_or_shipped
    from ratiolab.records.record import read_records
    from ratiolab.records.store import RecordStore, faults

    instances = here_or_shipped("instances") if instances is None else instances
    results = here_or_shipped("results") if results is None else results
    require_folder("--instances", instances)
    store = RecordStore(instances, results)
    chosen = [record for record in read_records(store.table) if fnmatch(record.instance, only)]
    if not chosen:
        raise ValueError(f"--only {only!r}: no record in {store.table} has such a name")
    found: dict[str, list[str]] = {}
    uncertified: list[str] = []
    checked = 0
    with bar("records", results) as advance, suppress(KeyboardInterrupt):
        for listed in chosen:
            # read again: records may be improved meanwhile
            record = store.records().get(listed.instance, listed)
            if wrong := faults(store, record):
                found[record.instance] = wrong
            elif record.proved > record.lower:
                uncertified.append(record.instance)
            checked += 1
            advance(checked, len(chosen))
    stopped = checked < len(chosen)
    answer(
        json,
        "faults",
        {
            "records": len(chosen),
            "checked": checked,
            "faults": found,
            "uncertified": uncertified,
        },
        *(f"{name}: {fault}" for name, wrong in found.items() for fault in wrong),
        f"{checked - len(found)} of {checked} records prove what they say",
        *(f"{name}: the table also has a bound without certificate" for name in uncertified),
        *[f"stopped before the other {len(chosen) - checked}"] * stopped,
    )
    raise typer.Exit(1 if found else INTERRUPTED if stopped else 0)


@records.command()
def improve(
    minutes: Annotated[float, typer.Option(help="Stop after about this many minutes.", min=0)],
    only: Only = "*",
    workers: Annotated[int, typer.Option(help="Processes, each with its own solve.", min=1)] = 1,
    executor: Where = "local",
    instances: Instances = INSTANCES,
    results: Results = RESULTS,
    json: Json = False,
) -> None:
    """Try to beat the records, the widest gaps first; a value is only replaced by a better one.

    Every open instance gets an equal part of the time. Ctrl-C keeps all that was found; the exit
    code is then 130. A solve that fails is reported and does not end the others; the exit code is
    then 1.

    Example: ratiolab records improve --minutes 30 --only 'jaillet2025/*' --workers 2
    """
    from ratiolab.executors import opened
    from ratiolab.records.improve import Failure, Try
    from ratiolab.records.improve import improve as improve_records
    from ratiolab.records.store import RecordStore

    require_folder("--instances", instances)

    def line(done: Try | Failure) -> str:
        if isinstance(done, Failure):
            return f"{done.instance}: failed, {done.error}"
        now = done.now
        known = f"[{now.lower:,}, {now.upper:,}] {float(now.gap):.2%}"
        if done.before is None:
            return f"{now.instance}: {known}, new"
        before = f"[{done.before.lower:,}, {done.before.upper:,}]"
        return f"{now.instance}: {known}, before {before}" if done.better else f"{now.instance}: ="

    tried: list[Try | Failure] = []

    def tell(done: Try | Failure) -> None:
        tried.append(done)
        typer.echo(line(done), err=True)

    store = RecordStore(instances, results)
    stopped = False
    try:
        with opened(executor, workers) as place:
            improve_records(store, minutes, only=only, executor=place, tell=tell)
    except KeyboardInterrupt:
        stopped = True
    better = [done for done in tried if isinstance(done, Try) and done.better]
    failed = {done.instance: str(done.error) for done in tried if isinstance(done, Failure)}
    columns = ("instance", "lower", "upper", "status")
    listed = [{name: getattr(done.now, name) for name in columns} for done in better]
    data = {"tried": len(tried), "better": listed, "failed": failed}
    answer(json, "improvements", data, f"{len(better)} of {len(tried)} tries were better")
    if stopped:
        end_interrupted(f"what was better is kept in {results}")
    raise typer.Exit(1 if failed else 0)


@records.command()
def page(results: Results = RESULTS, formats: Formats = None, json: Json = False) -> None:
    """Write records.md, the table and gaps by family, and records.png, their picture."""
    from ratiolab.report.plots import formats_of
    from ratiolab.report.record_page import write_page

    written = write_page(results, formats_of(formats or "png"))
    data = {"written": [str(path) for path in written]}
    answer(json, "record-pages", data, *(f"{path}: written" for path in written))
