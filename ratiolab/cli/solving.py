"""Commands about one instance: solve, compare."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import (
    File,
    Formats,
    Json,
    Memory,
    NodeLimit,
    Runs,
    Seed,
    Tick,
    app,
    end_interrupted,
    in_seconds,
    json_line,
    line_width,
    load,
    picture_paths,
    print_json,
    print_rich,
    progress,
    require_no_folder,
)

if TYPE_CHECKING:
    from ratiolab.hindsight.result import Progress, Report

TELL_EVERY = 1.0
"""Seconds between two lines of ``--progress`` that differ in nothing but the seconds."""


@app.command()
def solve(
    file: File,
    memory: Memory = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after so many seconds with both bounds.", min=0)
    ] = None,
    node_limit: NodeLimit = None,
    backend: Annotated[
        str,
        typer.Option(
            help="highs: sparse arrays straight to HiGHS. pulp, pulp:SOLVER: the program written "
            "a second time, for any solver that PuLP finds."
        ),
    ] = "highs",
    method: Annotated[
        str,
        typer.Option(
            help="auto: bounds, configuration cuts, dynamic programming, the program with the "
            "cuts. ip: the integer program as printed. cuts: the bound of the cuts alone. dp: "
            "dynamic programming, exact or an interval. beam: the same with few states, for a good "
            "schedule. brute: every schedule, up to 8 requests."
        ),
    ] = "auto",
    memory_limit: Annotated[
        int | None,
        typer.Option(
            help="Megabytes of the whole process: stages that need more are narrowed or left out.",
            metavar="MB",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="2: with a time limit, a second thread looks for schedules. By default where "
            "there are two cores.",
            min=1,
            max=2,
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--progress",
            help="Stream JSON lines on standard error: seconds, stage, lower, upper, nodes.",
        ),
    ] = False,
    schedule: Annotated[
        Path | None, typer.Option(help="Write the best schedule found to this JSON file.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the proof of the best bound that needs no solver, for `certify`."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the best schedule to this png, pdf or svg file.")
    ] = None,
    formats: Formats = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the hindsight optimum of an instance, or a proven interval around it.

    Without limits it runs until the optimum is proved; Ctrl-C or a limit stops it and prints the
    best schedule and the best proven lower bound so far; after Ctrl-C the exit code is 130. Large
    instances are bracketed by bounds that need no integer program, and the source of the lower
    bound says so. The last line tells what was done: after each stage the seconds and the interval.

    Example: ratiolab solve mine.json --time-limit 30 --schedule best.json
    """
    from ratiolab.hindsight import solve as solve_instance
    from ratiolab.hindsight.certificates.certificate import write_certificate
    from ratiolab.model import read_instance, write_schedule
    from ratiolab.report.tables import stages_line

    instance = read_instance(file, memory)
    require_no_folder(schedule, certificate)
    pictures = picture_paths(plot, formats)
    with progress(silent=stream) as display:
        task = display.add_task(f"{instance.name}: {len(instance)} requests")

        def show(now: "Progress") -> None:
            interval = f"optimum in [{now.lower:,}, {now.upper:,}]"
            doing = f"{now.stage}, {now.nodes:,} nodes" if now.nodes else now.stage
            display.update(task, description=f"{instance.name}: {interval}, {doing}")

        result = solve_instance(
            instance,
            time_limit=time_limit,
            node_limit=node_limit,
            memory_limit=memory_limit,
            threads=threads,
            backend=backend,
            method=method,
            seed=seed,
            progress=_streaming() if stream else show if backend == "highs" else None,
        )
    try:
        try:
            if schedule is not None:
                write_schedule(result.schedule, schedule)
        finally:
            if certificate is not None:
                write_certificate(result.certificate, certificate)
        if pictures:
            from ratiolab.report.panels import optimum_panel
            from ratiolab.report.plots import picture, save

            drawing = picture([optimum_panel(result)])
            for path in pictures:
                save(drawing, path)
    finally:  # a file that cannot be written does not cost the other, nor the answer
        if json:
            print_json("optimum", result.to_dict())
        else:
            print_rich(instance.headline)
            print_rich(f"{result.status}: {result.headline}, {result.seconds:.1f} s")
            print_rich(*in_seconds(instance))
            print_rich(*[result.note] * bool(result.note))
            print_rich(stages_line(result))
    if result.interrupted:
        end_interrupted("the schedule and the bound are the best found so far")


def _streaming() -> "Report":
    """Return a reporter to standard error: new bounds at once, the rest now and then."""
    last: list[Progress] = []

    def write(now: "Progress") -> None:
        told = last[-1:]
        if told and told[0][2:] == now[2:] and now.seconds < told[0].seconds + TELL_EVERY:
            return
        last[:] = [now]
        data = now._asdict() | {"seconds": round(now.seconds, 3)}
        typer.echo(json_line(data), err=True)

    return write


@app.command()
def compare(
    file: File,
    memory: Memory = None,
    policies: Annotated[
        str | None,
        typer.Option(help="Keys, comma separated (see `ratiolab policies`); default: all."),
    ] = None,
    runs: Runs = 10,
    seed: Seed = 0,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for the optimum; then its bounds are used.", min=0)
    ] = 60,
    node_limit: NodeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the schedules to this png, pdf or svg file.")
    ] = None,
    formats: Formats = None,
    show: Annotated[
        str | None,
        typer.Option(help="Policies to draw, comma separated; default: the best and the worst."),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(help="Compare in seconds, as `ratiolab evaluate` does: a clock, see there."),
    ] = None,
    preemption: Annotated[
        str | None,
        typer.Option(help="What an eviction costs, for all: restart, recompute, swap, pause."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What to sort by, see `ratiolab evaluate`.")
    ] = None,
    slo: Annotated[str | None, typer.Option(help="Limits of goodput: ttft=1,tpot=0.05.")] = None,
    current: Annotated[
        str, typer.Option(help="With these options: the policy that others are compared with.")
    ] = "fcfs",
    tick_seconds: Tick = None,
    json: Json = False,
) -> None:
    """Compare the costs of policies on an instance with the certified optimum.

    One row a policy: total end-to-end latency (TEL; mean over the seeds and its 95 % interval),
    its ratio to the optimum as a proven interval, evictions and tokens lost by them, mean and P99
    latency, and rounds to the first token. Policies without randomness run once.

    With --clock, --preemption, --metric or --slo, all policies and a certified bound have the same
    clock and semantics, and the table is that of `ratiolab evaluate`.

    Example: ratiolab compare mine.json --policies mc-sf,a-min,fcfs --runs 50 --plot mine.png
    """
    from ratiolab.online import make
    from ratiolab.ratio import compare as compare_policies
    from ratiolab.ratio.compare import default_policies
    from ratiolab.report.panels import comparison_panels
    from ratiolab.report.tables import comparison_table

    instance = load(file, memory, tick_seconds)
    if any(option is not None for option in (clock, preemption, metric, slo)):
        from ratiolab.cli.evaluation import evaluated
        from ratiolab.cli.evaluation import show as show_evaluation

        if plot is not None or show is not None:
            raise ValueError("--plot and --show are for comparisons in rounds: leave them out")
        made = evaluated(
            instance,
            *(policies, clock or "unit", preemption or "restart", metric or "mean", slo, current),
            *(runs, seed),
        )
        print_json("evaluation", made.to_dict()) if json else show_evaluation(made)
        if made.interrupted:
            end_interrupted("the policies that had run are compared; the others are left out")
        return
    chosen = None if policies is None else [make(key) for key in keys_of(policies, "--policies")]
    # what is asked of the picture is checked before minutes are spent on what it shows
    drawn = None if show is None else keys_of(show, "--show")
    names = [p.name for p in chosen or default_policies(instance)[0]]
    for key in drawn or ():
        if key not in names:
            raise ValueError(f"--show {key!r} is not among the policies: {', '.join(names)}")
    pictures = picture_paths(plot, formats)
    with progress() as display:
        task = display.add_task("solving for the optimum")
        result = compare_policies(
            instance,
            chosen,
            runs=runs,
            seed=seed,
            time_limit=time_limit,
            node_limit=node_limit,
            advance=lambda name: display.update(task, description=f"{name} done"),
        )
    try:
        if pictures:
            from ratiolab.report.plots import picture, save

            drawing = picture(comparison_panels(result, drawn))
            for path in pictures:
                save(drawing, path)
    finally:  # a picture that cannot be drawn or written does not cost the table
        if json:
            print_json("comparison", result.to_dict())
        else:
            print_rich(comparison_table(result, line_width()))
            print_rich(*in_seconds(instance))
            print_rich(*(f"left out {key}: {why}" for key, why in result.skipped))
    if result.optimum.interrupted:
        end_interrupted("ratios are to the interval around the optimum found so far")


def keys_of(words: str, option: str) -> list[str]:
    """Return the keys of a comma separated list, each once."""
    keys = [key.strip() for key in words.split(",")]
    for key in keys:
        if not key:
            raise ValueError(f"{option} {words!r} has an empty place between its commas")
        if keys.count(key) > 1:
            raise ValueError(f"{option} names {key!r} twice")
    return keys
