"""Commands about one instance: solve, compare."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ratiolab.cli.app import (
    EachMemory,
    File,
    Formats,
    Json,
    NodeLimit,
    Plot,
    Replicas,
    Runs,
    Seed,
    SloLatency,
    SloTtft,
    Tick,
    app,
    end_interrupted,
    in_seconds,
    json_line,
    line_width,
    picture_paths,
    print_json,
    print_rich,
    progress,
    require_clock,
    showing,
)
from ratiolab.cli.evaluation import OTHERS_LEFT_OUT, deliver, evaluated, require_report
from ratiolab.cli.fleets import loaded, require_none
from ratiolab.cli.groups import Judged, Routed, grouped, keys_of, predicted
from ratiolab.cli.instances import Predict

if TYPE_CHECKING:
    from ratiolab.hindsight.objective import Aim
    from ratiolab.hindsight.promises import PromiseResult
    from ratiolab.hindsight.result import FleetResult, OptResult, Progress, Report
    from ratiolab.model import Instance
    from ratiolab.model.fleet import Fleet

TELL_EVERY = 1.0
"""Seconds between two lines of ``--progress`` that differ in nothing but the seconds."""

OPTIMUM_CUT_SHORT = "ratios are to the interval around the optimum found so far"
"""Message of a comparison after Ctrl-C in the solve."""


@app.command()
def solve(
    file: File,
    memory: EachMemory = None,
    replicas: Replicas = None,
    objective: Annotated[
        str,
        typer.Option(
            help="total: the least total latency. weighted: latencies count with the column "
            "weight. goodput: the most weight served by the dates deadline and first_by."
        ),
    ] = "total",
    slo_ttft: SloTtft = None,
    slo_latency: SloLatency = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after this many seconds, with both bounds.", min=0)
    ] = None,
    node_limit: NodeLimit = None,
    backend: Annotated[
        str,
        typer.Option(
            help="highs: HiGHS, called directly. pulp or pulp:SOLVER: a second formulation of the "
            "program, for any solver that PuLP finds."
        ),
    ] = "highs",
    method: Annotated[
        str,
        typer.Option(
            help="auto: bounds, the dynamic program over cells or configuration cuts and the "
            "labelling loop, and the program with the cuts. ip: the integer program as printed. "
            "cuts: the bound of the cuts alone. dp: dynamic programming, exact or an interval. "
            "brute: every schedule, for up to 8 requests. certified: auto without the program, so "
            "that a certificate proves every bound."
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
        Path | None,
        typer.Option(help="Write the best schedule found to this JSON file.", writable=True),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="Write a proof of the best bound that `ratiolab certify` can recheck.",
            writable=True,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the best schedule to this png, pdf or svg file.", writable=True),
    ] = None,
    formats: Formats = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the hindsight optimum of an instance, or a proven interval around it.

    With up to 400 requests and no limit the solve runs until the optimum is proven, or until its
    searches exceed their size. With more requests it spends a counted effort on schedules and
    bounds, and prints the interval. A limit or Ctrl-C ends it, and the best schedule and the best
    proven lower bound so far are printed; after Ctrl-C the exit code is 130. The last line shows
    the seconds and the interval after each stage. With --certificate, bounds that rest on a solver
    are proved again by searches that leave a certificate, as far as these reach.

    With --replicas, the optimum is that of equal replicas, for every objective; a request stays on
    one of them. --memory 9000+7000 are replicas that differ, for the total latency. Small fleets
    are solved to proof, larger ones get an interval.

    With --objective goodput the upper end is the proven bound, and the lower one the weight that
    the schedule serves in time; --slo-ttft and --slo-latency, in rounds, set all dates.

    Example: ratiolab solve mine.json --time-limit 30 --schedule best.json
    """
    from ratiolab.hindsight import certified, solve_promises
    from ratiolab.hindsight import solve as solve_instance
    from ratiolab.hindsight.fleets.solve import solve_fleet
    from ratiolab.hindsight.stages import MOST_REQUESTS
    from ratiolab.model.fleet import Fleet
    from ratiolab.model.fleet_io import read_fleet
    from ratiolab.model.promises import with_limits

    if objective not in ("total", "weighted", "goodput"):
        raise ValueError(f"--objective {objective!r} must be total, weighted or goodput")
    given = read_fleet(file, memory, replicas)
    if slo_ttft is not None or slo_latency is not None:
        given = with_limits(given, slo_ttft, slo_latency)
    alone = {"--memory-limit": memory_limit, "--threads": threads, "--plot": plot}
    if isinstance(given, Fleet) and objective == "total":
        require_none(alone)
    pictures = picture_paths(plot, formats)
    if objective != "total" and any(value is not None for value in alone.values()):
        unused = "--memory-limit, --threads or --plot; leave them out"
        raise ValueError(f"objective {objective} takes no {unused}")
    if objective == "total" and not isinstance(given, Fleet):
        if given.promises:
            ignored = ", ".join(given.promises)
            typer.echo(f"objective total leaves {ignored} aside (--objective)", err=True)
        if time_limit is None and method in ("auto", "certified") and len(given) > MOST_REQUESTS:
            typer.echo(
                f"{len(given):,} requests, more than {MOST_REQUESTS}: no integer program, but "
                "schedules and bounds by a fixed effort; --time-limit sets the seconds",
                err=True,
            )
    options: dict[str, Any] = {"time_limit": time_limit, "node_limit": node_limit}
    options |= {"backend": backend, "method": method, "seed": seed}
    result: OptResult | FleetResult | PromiseResult
    with progress(silent=stream) as display:
        tell = _streaming() if stream else showing(display, given, objective)
        if objective != "total":
            result = solve_promises(given, cast("Aim", objective), progress=tell, **options)
        elif isinstance(given, Fleet):
            result = solve_fleet(given, progress=tell, **options)
        else:
            options |= {"memory_limit": memory_limit, "threads": threads}
            told = tell if stream or backend == "highs" else None
            result = solve_instance(given, progress=told, **options)
            if certificate is not None:
                result = certified(result, told)
    _deliver(result, given, schedule, certificate, pictures, json)


def _deliver(
    result: "OptResult | FleetResult | PromiseResult",
    given: "Instance | Fleet",
    schedule: Path | None,
    certificate: Path | None,
    pictures: list[Path],
    json: bool,
) -> None:
    """Write the requested files of a solve, and print the interval."""
    from ratiolab.hindsight.certificates.io import write_certificate
    from ratiolab.hindsight.result import OptResult
    from ratiolab.model import Schedule, write_schedule
    from ratiolab.model.fleet_io import write_fleet_schedule
    from ratiolab.report.tables import stages_line

    proved = ""
    try:
        try:
            if schedule is not None:
                if isinstance(result.schedule, Schedule):
                    write_schedule(result.schedule, schedule)
                else:
                    write_fleet_schedule(result.schedule, schedule)
        finally:
            if certificate is not None:
                write_certificate(result.certificate, certificate)
                sign = "<=" if getattr(result, "objective", "") == "goodput" else ">="
                proved = f"{certificate}: proves {sign} {result.certificate.bound:,}"
        if pictures:
            from ratiolab.report.panels import optimum_panel
            from ratiolab.report.plots import picture, save

            assert isinstance(result, OptResult)
            drawing = picture([optimum_panel(result)])
            for path in pictures:
                save(drawing, path)
    finally:  # a file that cannot be written does not cost the other, nor the answer
        if json:
            print_json("optimum", result.to_dict())
        else:
            print_rich(given.headline)
            print_rich(f"{result.status}: {result.headline}, {result.seconds:.1f} s")
            if unreachable := getattr(result, "unreachable", 0):
                print_rich(f"{unreachable:,} requests cannot be in time, even alone")
            if (instance := getattr(result, "instance", None)) is not None:
                print_rich(*in_seconds(instance))
            print_rich(*[result.note] * bool(result.note))
            print_rich(stages_line(result))
            print_rich(*[proved] * bool(proved))
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
@grouped
def compare(
    file: File,
    judged: Judged,
    routed: Routed,
    runs: Runs = 10,
    time_limit: Annotated[
        float,
        typer.Option(
            help="Seconds for the optimum; after them, its bounds serve. inf: no limit, and the "
            "same answer on every machine.",
            min=0,
        ),
    ] = 60,
    node_limit: NodeLimit = None,
    plot: Plot = None,
    formats: Formats = None,
    show: Annotated[
        str | None,
        typer.Option(help="Policies to draw, comma separated; default: the best and the worst."),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(help="Compare in seconds, under a clock of `ratiolab evaluate`."),
    ] = None,
    preemption: Annotated[
        str | None,
        typer.Option(help="Cost of an eviction, for all: restart, recompute, swap, pause."),
    ] = None,
    predict: Predict = None,
    tick_seconds: Tick = None,
    json: Json = False,
) -> None:
    """Compare the costs of policies on an instance with the certified optimum.

    Each policy has a row: total end-to-end latency (TEL; mean over the seeds with a 95% interval),
    its ratio to the optimum as a proven interval, evictions and the tokens that they lose, mean and
    P99 latency, and rounds to the first token. Policies without randomness run once.

    With --clock, --preemption, --metric, --slo or --report, all policies and a certified bound have
    the same clock and the same cost of evictions, and the table is that of `ratiolab evaluate`.
    With --replicas it is that of several replicas, each policy behind each router of --router.

    Example: ratiolab compare mine.json --policies mc-sf,a-min,fcfs --runs 50 --plot mine.png
    """
    from ratiolab.model.files import read_content
    from ratiolab.ratio import compare as compare_policies
    from ratiolab.ratio.choice import by_reason
    from ratiolab.ratio.compare import default_policies, enclosed
    from ratiolab.report.panels import comparison_panels
    from ratiolab.report.tables import comparison_table

    content = read_content(file)
    instance, routed = loaded(content, tick_seconds, routed)
    instance = predicted(instance, predict, judged.seed)
    pictures = picture_paths(plot, formats)
    limits: dict[str, Any] = {"time_limit": time_limit, "node_limit": node_limit}
    if (fleet := routed.fleet(instance)) is not None:
        from ratiolab.cli.fleets import compare_replicas

        require_clock(tick_seconds, clock or "unit")
        options = {"clock": clock or "unit", "preemption": preemption or "restart", "runs": runs}
        refused = {"--plot": plot, "--show": show}
        compare_replicas(fleet, routed.routers(), judged, options, refused, limits, content, json)
        return
    asked = (clock, preemption, judged.metric, judged.slo, judged.report)
    if any(option is not None for option in asked):
        if show is not None:
            raise ValueError("--show is for comparisons in rounds: leave it out")
        from ratiolab.report.plots import save
        from ratiolab.report.plots.results import plot as plot_result

        require_report(judged.report)
        clock = clock or "unit"
        require_clock(tick_seconds, clock)
        optimum, unfinished = None, False
        if clock == "unit" and preemption in (None, "restart"):
            with progress() as display:
                solved = enclosed(instance, progress=showing(display, instance), **limits)
            if solved.interrupted or solved.certified < solved.lower:
                typer.echo(solved.headline, err=True)
            optimum, unfinished = solved, solved.interrupted
        made = evaluated(instance, clock, preemption or "restart", runs, judged, optimum=optimum)
        for path in pictures:
            save(plot_result(made), path)
        deliver(made, content, clock, judged, [], {}, json)
        if unfinished:
            end_interrupted(OPTIMUM_CUT_SHORT)
        return
    chosen = judged.chosen()
    # what is asked of the picture is checked before minutes are spent on what it shows
    drawn = None if show is None else keys_of(show, "--show")
    names = [p.name for p in chosen or default_policies(instance)[0]]
    for key in drawn or ():
        if key not in names:
            raise ValueError(f"--show {key!r} is not among the policies: {', '.join(names)}")
    with judged.place(len(instance)) as place, progress() as display:
        solved = enclosed(instance, progress=showing(display, instance), **limits)
        if solved.interrupted:
            typer.echo(
                f"interrupted: {solved.headline}; now {len(names)} policies run, and Ctrl-C "
                "leaves out the rest of them",
                err=True,
            )
        result = compare_policies(
            instance,
            chosen,
            runs=runs,
            seed=judged.seed,
            optimum=solved,
            executor=place,
            advance=lambda name: display.update(display.task_ids[0], description=f"{name} done"),
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
            print_rich(*by_reason(result.skipped))
    if result.optimum.interrupted:
        end_interrupted(OPTIMUM_CUT_SHORT)
    if result.interrupted:
        end_interrupted(OTHERS_LEFT_OUT)
