"""The command of the adversary: attack."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import (
    Json,
    Seed,
    app,
    end_interrupted,
    print_json,
    print_rich,
    progress,
    require_no_folder,
    settings,
)

if TYPE_CHECKING:
    from ratiolab.adversary import Attack


@app.command()
def attack(
    policy: Annotated[
        str,
        typer.Option(
            help="Key (see `ratiolab policies`), or path/to/file.py:ClassName of your own."
        ),
    ],
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the policy, name=value; repeatable.")
    ] = None,
    headroom: Annotated[
        int, typer.Option(help="Memory is at least so many times the largest prompt + output.")
    ] = 1,
    prompts: Annotated[str, typer.Option(help="equal for all requests, or any.")] = "equal",
    arrivals: Annotated[str, typer.Option(help="zero: all at round 0; or any.")] = "zero",
    requests: Annotated[int, typer.Option(help="Requests at most.")] = 16,
    memory: Annotated[int, typer.Option(help="KV cache size in tokens, at most.")] = 24,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds of search; 60 when --evaluations is not given.", min=0),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(help="Cases to run the policy on: the same answer on every machine.", min=1),
    ] = None,
    seed: Seed = 0,
    runs: Annotated[
        int, typer.Option(help="Fresh seeds of the final mean of a policy with randomness.", min=1)
    ] = 400,
    start: Annotated[
        list[Path] | None, typer.Option(help="An instance to begin with; repeatable.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the instance to this JSON file.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the proof of the optimum's lower bound, for `certify`."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the policy's schedule beside an optimal one (png, pdf, svg)."),
    ] = None,
    course: Annotated[
        Path | None, typer.Option(help="Draw the best ratio over the evaluations, likewise.")
    ] = None,
    json: Json = False,
) -> None:
    """Search for the instance on which a policy is farthest from the proven optimum.

    The search climbs from closed families, drawn instances, and the worst found for each number of
    requests, memory over the largest request, and longest output. Every ratio in it is to an exact
    optimum; the last one is solved again by `solve`. For a policy that uses randomness the final
    figure is a mean over fresh seeds. Lengths known to policies: an interval from 1 to the largest
    output, exact predictions. Ctrl-C keeps the worst instance so far.

    Example: ratiolab attack --policy mc-sf --evaluations 200 -o worst.json
    """
    from ratiolab.adversary import Case, Limits
    from ratiolab.adversary import attack as search
    from ratiolab.adversary.result import Moment
    from ratiolab.hindsight.certificates.certificate import write_certificate
    from ratiolab.model import read_instance, write_instance
    from ratiolab.online import make
    from ratiolab.online.registry import describe

    require_no_folder(output, certificate, plot, course)
    for picture_file in (plot, course):
        if picture_file is not None:
            from ratiolab.report.plots import require_format

            require_format(picture_file)
    chosen = make(policy, settings(param or [], "--param"))
    limits = Limits(headroom, prompts, arrivals, requests, memory)  # type: ignore[arg-type]
    if time_limit is None and evaluations is None:
        time_limit = 60.0
    with progress() as display:
        task = display.add_task(f"{chosen.name}: no instance yet")

        def tell(moment: Moment) -> None:
            text = f"{chosen.name}: {moment.ratio:.4f} after {moment.evaluations:,} evaluations"
            display.update(task, description=text)

        found = search(
            chosen,
            limits,
            seed=seed,
            evaluations=evaluations,
            time_limit=time_limit,
            runs=runs,
            starts=[Case.of_instance(read_instance(file)) for file in start or ()],
            tell=tell,
        )
    if output is not None:
        write_instance(found.instance, output)
    if certificate is not None:
        write_certificate(found.optimum.certificate, certificate)
    if course is not None:
        from ratiolab.report.plots import save
        from ratiolab.report.plots.adversary import course as draw_course

        save(draw_course(found.history, found.evaluations, f"{chosen.name}, seed {seed}"), course)
    if plot is not None:
        _plot(found, plot)
    if json:
        print_json("attack", {**describe(chosen), **found.to_dict()})
    else:
        instance, optimum = found.instance, found.optimum
        print_rich(f"{instance.headline}; optimum {optimum.lower:,} to {optimum.upper:,}")
        kinds = (f"{n} x (a {a}, s {s}, o {o})" for a, s, o, n in found.best.case.blocks)
        print_rich("  " + ", ".join(kinds))
        if found.endless:
            print_rich(f"{chosen.name} never completes it: it comes back to the same state")
        else:
            error = f" +- {found.error:.4f}" * (len(found.costs) > 1)
            print_rich(f"{chosen.name} over the optimum: {float(found.ratio):.6f}{error}")
            print_rich(f"{len(found.costs)} runs, {found.evaluations:,} evaluations")
    if found.interrupted:
        end_interrupted("this is the worst instance found so far")


def _plot(found: "Attack", path: Path) -> None:
    """Draw the first run of the final mean beside an optimal schedule."""
    from ratiolab.adversary.attack import FRESH
    from ratiolab.online import simulate
    from ratiolab.report.plots import picture, save

    run = simulate(found.instance, found.policy, seed=FRESH)
    best = found.optimum.schedule
    panels = [
        (f"{found.policy.name}: TEL {run.schedule.total_latency:,}", run.schedule),
        (f"optimum: TEL {best.total_latency:,}", best),
    ]
    save(picture(panels[found.endless :]), path)


@app.command("worst-cases")
def worst_cases(
    evaluations: Annotated[
        int, typer.Option(help="Search first, so many cases for each policy.", min=0)
    ] = 0,
    only: Annotated[
        list[str] | None, typer.Option(help="Search for this entry alone; repeatable.")
    ] = None,
    start: Annotated[
        list[Path] | None, typer.Option(help="A further instance to begin with; repeatable.")
    ] = None,
    seed: Seed = 0,
    runs: Annotated[
        int, typer.Option(help="Fresh seeds of each policy with randomness.", min=2)
    ] = 400,
    instances: Annotated[Path, typer.Option(help="Folder of the instances.")] = Path(
        "instances/worst-cases"
    ),
    page: Annotated[Path, typer.Option(help="Page to write.")] = Path("results/worst-cases.md"),
    json: Json = False,
) -> None:
    """Replay the worst instances known of all policies, and write their page.

    With --evaluations a search for worse ones goes first, from the instances of all entries; a file
    is replaced only by a worse one. Ctrl-C keeps the files that are finished and leaves the page.
    """
    from ratiolab.adversary.library import PROOF_NODES, improve, read, replay, targets
    from ratiolab.model import read_instance
    from ratiolab.report.worst_cases_page import write_page

    require_no_folder(page)
    names = [target.name for target in targets()]
    for name in only or ():
        if name not in names:
            raise ValueError(f"--only {name!r} must be one of {', '.join(names)}")
    try:
        with progress() as display:
            task = display.add_task("worst cases")
            if evaluations:
                improve(
                    instances,
                    evaluations,
                    seed=seed,
                    only=only or (),
                    extra=[read_instance(file) for file in start or ()],
                    tell=lambda name, found: display.update(
                        task, description=f"{name}: {'worse found' if found else 'as before'}"
                    ),
                )
            entries, missing = [], []
            for target in targets():
                display.update(task, description=f"{target.name}: replay")
                instance = read(target, instances)
                if instance is None:
                    missing.append(target.name)
                else:
                    entries.append(replay(target, instance, runs))
    except KeyboardInterrupt:
        end_interrupted(f"finished searches are kept in {instances}")
    write_page(entries, page, PROOF_NODES, missing)
    if json:
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
        print_json("worst-cases", {"page": str(page), "entries": listed, "not_searched": missing})
    else:
        print_rich(f"{page}: {len(entries)} instances replayed")
        if missing:
            print_rich(f"not searched: {', '.join(missing)}; --evaluations N searches")
