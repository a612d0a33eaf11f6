"""The command that writes the integer program of an instance for other solvers."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import (
    EachMemory,
    File,
    Json,
    Replicas,
    answer,
    app,
    progress,
)

MOST_STARTS = 10**6
"""Most binary variables of a program that is written."""

MOST_TERMS = 2 * 10**7
"""Most terms of its rows: PuLP takes a gigabyte and some minutes for them."""


@app.command()
def export(
    file: File,
    memory: EachMemory = None,
    replicas: Replicas = None,
    lp: Annotated[
        Path | None, typer.Option(help="Write the program to this LP file.", writable=True)
    ] = None,
    mps: Annotated[
        Path | None, typer.Option(help="Write the program to this MPS file.", writable=True)
    ] = None,
    printed: Annotated[
        bool,
        typer.Option(
            "--as-printed",
            help="With the horizon of the paper, the sum of all outputs "
            "and arrivals, instead of the last starts that no optimal schedule exceeds.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Write the integer program of the hindsight optimum for any other solver, as LP or MPS.

    One binary x_i_k says that request i starts at round k, x_i_k_r with --replicas that it does so
    on replica r. The optimum is the same with both horizons; the default program is smaller.

    Example: ratiolab lab export mine.json --lp mine.lp
    """
    import tempfile

    import numpy as np

    from ratiolab.hindsight.fleets.solve import fleet_last_starts
    from ratiolab.hindsight.horizon import last_starts, naive_horizon
    from ratiolab.hindsight.programs.pulp import write
    from ratiolab.hindsight.programs.timeindexed import size
    from ratiolab.hindsight.schedules.heuristics import best_list_schedule
    from ratiolab.model.files import write_bytes
    from ratiolab.model.fleet import Fleet, memories_of
    from ratiolab.model.fleet_io import read_fleet

    targets = {".lp": lp, ".mps": mps}
    if lp is None and mps is None:
        raise ValueError("--lp FILE or --mps FILE is missing")
    given = read_fleet(file, memory, replicas)
    instance, memories = memories_of(given)
    last = naive_horizon(instance) - instance.output
    written = []
    with progress() as display:
        task = display.add_task(f"{instance.name}: last starts")
        if not printed and isinstance(given, Fleet):
            last = fleet_last_starts(given)
        elif not printed:
            last = last_starts(instance, best_list_schedule(instance).total_latency)
        places = np.minimum(len(memories), np.arange(1, len(instance) + 1))
        starts = int((places * (last - instance.arrival + 1)).sum())
        terms = len(memories) * size(instance, last, int(last.max()), merge=False)
        for number, most, what in (
            (starts, MOST_STARTS, "binaries"),
            (terms, MOST_TERMS, "terms: one for each round of each possible run of a request"),
        ):
            if number > most:
                shorter = "leave out --as-printed, or " if printed else ""
                raise ValueError(
                    f"{file}: the program has {number} {what}, more than {most}; {shorter}"
                    "take fewer requests"
                )
        for ending, path in targets.items():
            if path is not None:
                display.update(task, description=f"{path}: {starts:,} binaries, {terms:,} terms")
                with tempfile.TemporaryDirectory() as folder:
                    made = Path(folder) / f"program{ending}"
                    write(instance, made, last.tolist(), memories)
                    write_bytes(path, made.read_bytes())
                written.append(str(path))
    data = {"written": written, "binaries": starts}
    answer(json, "exported-program", data, *(f"{path}: {starts:,} binaries" for path in written))
