"""The command of the adversary: attack."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import (
    Evaluations,
    Json,
    Key,
    Parameters,
    Seed,
    Starts,
    Where,
    Workers,
    answer,
    app,
    end_interrupted,
    print_rich,
    progress,
    settings,
)

if TYPE_CHECKING:
    from ratiolab.adversary import Attack, Case, Limits
    from ratiolab.adversary.limit import LimitAttack


@app.command()
def attack(
    policy: Key,
    param: Parameters = None,
    headroom: Annotated[
        int, typer.Option(help="Memory is at least this many times the largest prompt + output.")
    ] = 1,
    prompts: Annotated[str, typer.Option(help="equal for all requests, or any.")] = "equal",
    arrivals: Annotated[str, typer.Option(help="zero: all at round 0; or any.")] = "zero",
    requests: Annotated[int, typer.Option(help="Largest number of requests.")] = 16,
    memory: Annotated[int, typer.Option(help="Largest KV cache size, tokens.")] = 24,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds of search; 60 when --evaluations is not given.", min=0),
    ] = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    runs: Annotated[
        int, typer.Option(help="Fresh seeds of the final mean of a policy with randomness.", min=1)
    ] = 400,
    start: Starts = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the instance to this JSON file.", writable=True),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="Write the proof of the optimum's lower bound, for `certify`.", writable=True
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            help="Write the schedule that attains the optimum to this JSON file.", writable=True
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the policy's schedule beside an optimal one (png, pdf, svg).", writable=True
        ),
    ] = None,
    course: Annotated[
        Path | None,
        typer.Option(
            help="Draw how the best ratio grew with the evaluations (png, pdf, svg).", writable=True
        ),
    ] = None,
    limit: Annotated[
        bool,
        typer.Option(
            "--limit",
            help="Search for a family: each case stands for k times its requests on k times its "
            "memory, k to infinity; the optimum is a linear program.",
        ),
    ] = False,
    searches: Annotated[
        int, typer.Option(help="Searches with seeds SEED, SEED+1, ...; the worst counts.", min=1)
    ] = 1,
    workers: Workers = 1,
    executor: Where = "local",
    json: Json = False,
) -> None:
    """Search for the instance on which a policy is farthest from the proven optimum.

    The search starts from known families and from random instances, and goes on from the worst
    instance found so far for each number of requests, memory over the largest request, and longest
    output. Every ratio is to an exact optimum; `solve` confirms the last one. For a policy that
    uses randomness, the final ratio is a mean over fresh seeds. Policies that need predictions get
    the interval from 1 to the largest output, or the exact outputs. Ctrl-C keeps the worst
    instance so far.

    Example: ratiolab attack --policy mc-sf --evaluations 200 -o worst.json
    """
    from ratiolab.adversary import Limits
    from ratiolab.adversary.limit import LimitAttack
    from ratiolab.adversary.several import Order, search, worst_of
    from ratiolab.executors import opened
    from ratiolab.hindsight.certificates.io import write_certificate
    from ratiolab.model import write_instance, write_schedule
    from ratiolab.online import make
    from ratiolab.online.registry import describe

    if limit and (certificate or schedule or plot):
        raise ValueError(
            "--limit searches for a family: it has no certificate of one instance, and no "
            "schedule to write or draw; leave out --certificate, --schedule and --plot"
        )
    for picture_file in (plot, course):
        if picture_file is not None:
            from ratiolab.report.plots import require_format

            require_format(picture_file)
    parameters = settings(param or [], "--param")
    chosen = make(policy, parameters)
    if time_limit is None and evaluations is None:
        time_limit = 60.0
    limits = Limits(headroom, prompts, arrivals, requests, memory)  # type: ignore[arg-type]
    order = Order(
        policy,
        parameters,
        limits,
        limit,
        evaluations,
        time_limit,
        runs,
        tuple(_start(file, limits) for file in start or ()),
    )
    with progress() as display:
        task = display.add_task(f"{chosen.name}: no instance yet")

        def tell(ratio: float, evaluations: int) -> None:
            text = f"{chosen.name}: {ratio:.4f} after {evaluations:,} evaluations"
            display.update(task, description=text)

        if searches == 1 and executor == "local":
            found = search(seed, order, lambda moment: tell(moment.ratio, moment.evaluations))
            stopped = found.interrupted
        else:
            with opened(executor, workers) as place:
                found, stopped = worst_of(
                    order,
                    range(seed, seed + searches),
                    place,
                    lambda one: tell(one.history[-1].ratio, one.evaluations),
                )
    lines = _limit_lines(found) if isinstance(found, LimitAttack) else _lines(found)
    # a file that cannot be written does not cost the answer
    answer(json, "attack", {**describe(chosen), **found.to_dict()}, *lines)
    if output is not None:
        one = found.best.case.instance(chosen.information, f"worst family for {chosen.name}")
        write_instance(one if isinstance(found, LimitAttack) else found.instance, output)
    if course is not None:
        from ratiolab.report.plots import save
        from ratiolab.report.plots.worst_cases import course as draw_course

        title = f"{chosen.name}, seed {found.seed}"
        save(draw_course(found.history, found.evaluations, title), course)
    if not isinstance(found, LimitAttack):
        if schedule is not None:
            write_schedule(found.optimum.schedule, schedule)
        if certificate is not None:
            write_certificate(found.optimum.certificate, certificate)
            if not json:
                print_rich(f"{certificate}: proves >= {found.optimum.certified:,}")
        if plot is not None:
            _plot(found, plot)
    if stopped:
        end_interrupted("this is the worst instance found so far")


def _start(file: Path, limits: "Limits") -> "Case":
    """Read a case to begin with; ValueError when the limits do not allow it."""
    from ratiolab.adversary import Case
    from ratiolab.model import read_instance

    case = Case.of_instance(read_instance(file))
    if (broken := limits.broken(case)) is not None:
        raise ValueError(f"--start {file}: {broken}")
    return case


def _kinds(case: "Case") -> str:
    return "  " + ", ".join(f"{n} x (a {a}, s {s}, o {o})" for a, s, o, n in case.blocks)


def _lines(found: "Attack") -> list[str]:
    """Return what is printed of an instance."""
    optimum, name = found.optimum, found.policy.name
    lines = [
        f"{found.instance.headline}; {optimum.headline}",
        _kinds(found.best.case),
    ]
    if found.endless:
        return [*lines, f"{name} never completes it: it comes back to the same state"]
    error = f" +- {found.error:.4f}" * (len(found.costs) > 1)
    return [
        *lines,
        f"{name} over the optimum: {float(found.ratio):.6f}{error}",
        f"{len(found.costs)} runs, {found.evaluations:,} evaluations",
    ]


def _limit_lines(found: "LimitAttack") -> list[str]:
    """Return what is printed of a family."""
    limit = found.limit
    lines = [
        f"k times these requests, memory k times {limit.case.memory}:",
        _kinds(limit.case),
        f"optimum over k, k to infinity: {limit.optimum.value:.6f}",
        f"{found.policy.name} over the optimum, by k:",
    ]
    for member in limit.members:
        low, high = map(float, member.ratio)
        lines.append(f"  k = {member.factor:,}: {low:.6f} to {high:.6f}")
    return [*lines, f"{found.evaluations:,} evaluations"]


def _plot(found: "Attack", path: Path) -> None:
    """Draw the first run of the final mean beside an optimal schedule."""
    from ratiolab.adversary.attack import FRESH
    from ratiolab.online import simulate
    from ratiolab.report.plots import picture, save

    run = simulate(found.instance, found.policy, seed=FRESH)
    best = found.optimum.schedule
    panels = [(f"optimum: TEL {best.total_latency:,}", best)]
    if not found.endless:
        panels.insert(0, (f"{found.policy.name}: TEL {run.total_latency:,}", run.schedule))
    save(picture(panels), path)
