"""Commands about baselines: check, and baseline add, list, explain."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import (
    Json,
    answer,
    app,
    end_interrupted,
    keeping,
    print_json,
    print_rich,
    progress,
    settings,
)

Baseline = Annotated[Path, typer.Argument(help="Baseline file (ratiolab-baseline/1).")]
AllowPolicyFiles = Annotated[
    bool,
    typer.Option(
        "--allow-policy-files",
        help="Run the Python files that entries name as policies, below the baseline's folder.",
    ),
]

baselines = typer.Typer(
    help="Baselines: pinned results that `ratiolab check` recomputes.", no_args_is_help=True
)
app.add_typer(baselines, name="baseline")


@app.command()
def check(
    baseline: Annotated[
        Path | None,
        typer.Argument(help="Baseline file (ratiolab-baseline/1); default: the project's own."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite the values, printing what changes.")
    ] = False,
    allow_policy_files: AllowPolicyFiles = False,
    json: Json = False,
) -> None:
    """Recompute pinned ratios, bounds, spectra and verdicts, and name every drift.

    Integers, fractions and verdicts must be the same; floats stay within the entry's tolerance. A
    ratio-at-most fails only when it gets worse, and --update tightens it; with at_most, the bound
    of a theorem, it fails only above that, and --update leaves the bound alone. --update prints
    every value that it changes, old and new. All entries are judged, even when one of them cannot
    be computed. The exit code is 1 when anything drifted or could not be computed, and the file was
    not updated. Ctrl-C leaves the file as it was.
    """
    from dataclasses import asdict

    from ratiolab.baseline import (
        Judged,
        Unreadable,
        annotations,
        judge,
        read_placed,
        write_baseline,
    )
    from ratiolab.model.shipped import shipped

    if baseline is None:
        if update:
            raise ValueError("--update needs a baseline file: the project's own is not changed")
        baseline = shipped("results") / "baseline.json"
    entries = read_placed(baseline)
    judged: list[Judged] = []
    with progress() as display, _left_as_it_was(baseline), keeping(judged) as ended:
        task = display.add_task("baseline", total=len(entries))
        for placed in entries:
            judged.append(judge(placed, baseline.parent, allow_policy_files=allow_policy_files))
            display.update(task, advance=1, description=str(placed.entry)[:60])
    drifts = [each.drift for each in judged if each.drift is not None]
    failed = {each.placed.number: each.reason for each in judged if each.reason}
    kept, changes = [], []
    for each in judged:
        entry = each.placed.entry
        if not isinstance(entry, Unreadable):
            if (each.drift is not None and not entry.is_fixed) or each.improved:
                changes.append({"entry": str(entry), "old": entry.value, "new": each.value})
                entry.value = each.value
            kept.append(entry)
    broken = [each for each in judged if each.drift is not None and each.is_fixed]
    updated = update and not failed and not ended.interrupted
    if updated:
        try:
            write_baseline(kept, baseline)
        except OSError:  # what was found is told all the same
            print_rich(*(each.failure for each in judged if each.failure))
            raise
    if json:
        found = {
            "entries": len(entries),
            "judged": len(judged),
            "drifts": [asdict(d) for d in drifts],
            "failed": failed,
            "changes": changes if updated else [],
            "interrupted": ended.interrupted,
        }
        print_json("drifts", found)
    else:
        print_rich(*(each.failure for each in judged if each.failure))
        done = f", updated: {len(changes)} values changed" if updated else ""
        if updated:
            print_rich(*(f"changed {c['entry']}: {c['old']} -> {c['new']}" for c in changes))
            for each in broken:
                print_rich(f"not changed {each.placed.entry}: --update moves no bound of a theorem")
        print_rich(f"{len(judged)} entries, {len(drifts)} drifted, {len(failed)} failed{done}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotations(baseline, judged):
            typer.echo(line, err=True)
    if ended.interrupted:
        end_interrupted(f"{len(judged)} of {len(entries)} entries were judged; {_same(baseline)}")
    if failed or broken or (drifts and not update):
        raise typer.Exit(1)


@baselines.command()
def add(
    baseline: Baseline,
    kind: Annotated[str, typer.Argument(help="ratio, ratio-at-most, bound, rayleigh or verdict.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="name=value, as `ratiolab lab schema baseline` has them."),
    ] = None,
    allow_policy_files: AllowPolicyFiles = False,
    json: Json = False,
) -> None:
    """Compute a value and pin it, in a new file or as one more entry.

    Paths of instances and policies are relative to the baseline. at-most=B pins the bound of a
    theorem: the entry fails when the ratio exceeds B, and nothing but you changes B.

    Example: ratiolab baseline add new.json ratio-at-most instance=mine.json policy=fcfs at-most=3
    """
    from ratiolab.baseline import entry_of, read_baseline, write_baseline

    entry = entry_of(kind, settings(arguments or [], "argument"))
    entries = read_baseline(baseline) if baseline.exists() else []
    if any(str(entry) == str(other) for other in entries):
        raise ValueError(f"{baseline}: {entry} is pinned already")
    entry.value = entry.compute(baseline.parent, allow_policy_files=allow_policy_files)
    if entry.is_fixed and entry.drift(entry.value) is not None:
        raise ValueError(f"{entry}: the ratio is {entry.value} now, above the bound: not pinned")
    write_baseline([*entries, entry], baseline)
    data = {"entry": str(entry), "value": entry.value}
    shown = f"{baseline}: entry {len(entries)}, {entry}: {entry.value}"
    answer(json, "pinned-entry", data, shown)


@baselines.command("list")
def list_entries(baseline: Baseline, json: Json = False) -> None:
    """List the entries of a baseline with their values."""
    from rich.table import Table

    from ratiolab.baseline import read_baseline

    entries = read_baseline(baseline)
    if json:
        listed = [{"kind": e.kind, **e.arguments(), "value": e.value} for e in entries]
        print_json("baseline-entries", {"entries": listed})
        return
    table = Table("entry", "what", "value")
    for number, entry in enumerate(entries):
        table.add_row(str(number), str(entry), str(entry.value))
    print_rich(table)


@baselines.command()
def explain(
    baseline: Baseline,
    number: Annotated[int, typer.Argument(help="Number of the entry in `baseline list`.", min=0)],
    allow_policy_files: AllowPolicyFiles = False,
    json: Json = False,
) -> None:
    """Print the pinned and the present value of an entry, and when it fails."""
    from ratiolab.baseline import read_baseline

    entries = read_baseline(baseline)
    if number >= len(entries):
        raise ValueError(f"{baseline}: there is no entry {number}, only 0 to {len(entries) - 1}")
    entry = entries[number]
    now = entry.compute(baseline.parent, allow_policy_files=allow_policy_files)
    drift = entry.drift(now)
    if json:
        found = {"entry": str(entry), "pinned": entry.value, "now": now, "rule": entry.rule}
        print_json("explained-entry", found | {"drifted": drift is not None})
    else:
        print_rich(str(entry), (type(entry).__doc__ or "").splitlines()[0])
        print_rich(f"pinned: {entry.value}", f"now: {now}", f"rule: {entry.rule}")
        print_rich("it has drifted" if drift else "it holds")
    raise typer.Exit(1 if drift else 0)


@contextmanager
def _left_as_it_was(file: Path) -> Iterator[None]:
    """Say after Ctrl-C that a file is unchanged."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(_same(file), err=True)
        raise


def _same(file: Path) -> str:
    return f"{file} is as it was"
