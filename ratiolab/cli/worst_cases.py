"""The command of the worst instances known: worst-cases."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import (
    Evaluations,
    Json,
    Seed,
    Starts,
    answer,
    app,
    end_interrupted,
    progress,
)
from ratiolab.cli.outputs import require_apart


@app.command("worst-cases")
def worst_cases(
    evaluations: Evaluations = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Processor seconds of search for each policy.", min=0),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Search for this entry alone; repeatable.")
    ] = None,
    start: Starts = None,
    seed: Seed = 0,
    runs: Annotated[
        int, typer.Option(help="Fresh seeds of each policy with randomness.", min=2)
    ] = 400,
    instances: Annotated[Path, typer.Option(help="Folder of the instances.")] = Path(
        "instances/worst-cases"
    ),
    page: Annotated[Path, typer.Option(help="Page to write.", writable=True)] = Path(
        "results/worst-cases.md"
    ),
    json: Json = False,
) -> None:
    """Replay the worst instances known of all policies, and write their page.

    With --evaluations or --seconds, first search for worse instances, beginning with those of all
    entries; a file is replaced only by a worse one. Ctrl-C keeps the files that are finished and
    leaves the page as it is.
    """
    from ratiolab.adversary.library import PROOF_NODES, improve, replays, targets
    from ratiolab.model import read_instance
    from ratiolab.model.names import unknown
    from ratiolab.report.worst_cases_page import write_page

    require_apart({f"--page {page}": page}, list(instances.glob("*.json")))
    names = [target.name for target in targets()]
    for name in only or ():
        if name not in names:
            raise ValueError(unknown("--only", name, names))
    searching = evaluations is not None or seconds is not None
    if not searching and not any(instances.glob("*.json")):
        raise ValueError(f"--instances {instances}: has no instance; --seconds S searches for some")
    try:
        with progress() as display:
            task = display.add_task("worst cases")
            if searching:
                improve(
                    instances,
                    evaluations,
                    seconds=seconds,
                    seed=seed,
                    only=only or (),
                    extra=[read_instance(file) for file in start or ()],
                    tell=lambda name, found: display.update(
                        task, description=f"{name}: {'worse found' if found else 'as before'}"
                    ),
                )
            entries, missing = replays(
                instances,
                runs,
                tell=lambda name: display.update(task, description=f"{name}: replay"),
            )
    except KeyboardInterrupt:
        end_interrupted(f"finished searches are kept in {instances}")
    write_page(entries, page, PROOF_NODES, missing)
    listed = [
        {
            "name": entry.target.name,
            "ratio": None if entry.ratio is None else float(entry.ratio),
            "error_95": entry.error,
            "optimum": entry.optimum,
            "confirmed": entry.confirmed,
        }
        for entry in entries
    ]
    lines = [f"{page}: {len(entries)} instances replayed"]
    if missing:
        lines.append(f"not searched: {', '.join(missing)}; --evaluations N searches")
    data = {"page": str(page), "entries": listed, "not_searched": missing}
    answer(json, "worst-cases", data, *lines)
