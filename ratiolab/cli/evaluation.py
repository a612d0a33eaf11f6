"""The command that evaluates policies, and a real engine, on a request log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import (
    Json,
    Seed,
    Tick,
    app,
    end_interrupted,
    load,
    print_json,
    print_rich,
    progress,
    require_no_folder,
)
from ratiolab.cli.traces import Columns, Log, Start, Stop, Strict, TimeUnit, tell_dropped, window_of

if TYPE_CHECKING:
    from ratiolab.model import Instance
    from ratiolab.ratio.evaluate import Evaluation
    from ratiolab.ratio.service import Service

Clock = Annotated[
    str,
    typer.Option(
        help="unit (rounds), llama2-70b-2xa100, llama3-8b-a100, llama3-1b-l4, "
        "vidur-llama2-70b-2xa100, or a profile FILE.csv of batches to fit."
    ),
]
MetricOption = Annotated[
    str,
    typer.Option(
        help="What policies are sorted by: mean, p99 (latency), ttft, p99-ttft, tpot, p99-tpot, "
        "or goodput, the share of requests within --slo."
    ),
]
SloOption = Annotated[
    str | None,
    typer.Option(help="Limits of goodput, seconds: ttft=1,tpot=0.05, or latency=10."),
]
Current = Annotated[str, typer.Option(help="The policy in use, with which others are compared.")]
Policies = Annotated[
    str | None,
    typer.Option(help="Keys, comma separated (see `ratiolab policies`); default: all."),
]


@app.command()
def evaluate(
    file: Log,
    clock: Clock,
    memory: Annotated[
        int | None,
        typer.Option(help="KV cache size in tokens; needed but for an instance file.", min=1),
    ] = None,
    preemption: Annotated[
        str,
        typer.Option(
            help="What an eviction costs, for all policies: restart, recompute, swap, pause."
        ),
    ] = "recompute",
    policies: Policies = None,
    metric: MetricOption = "mean",
    slo: SloOption = None,
    current: Current = "fcfs",
    observed: Annotated[
        bool,
        typer.Option("--observed", help="Judge the log's own first-token and finish times, too."),
    ] = False,
    predict: Annotated[
        str | None, typer.Option(help="Predictions to attach, as of `ratiolab trace --predict`.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Keep so many requests, drawn at random.", min=1)
    ] = None,
    start: Start = None,
    stop: Stop = None,
    columns: Columns = None,
    time_unit: TimeUnit = None,
    strict: Strict = False,
    tick_seconds: Tick = None,
    runs: Annotated[int, typer.Option(help="Seeds of policies that use randomness.", min=1)] = 5,
    seed: Seed = 0,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report: one .html page that works offline, or .md with charts."),
    ] = None,
    json: Json = False,
) -> None:
    """Say how far each policy is from any schedule on a log, and what to deploy.

    FILE is a request log, as `ratiolab trace` reads it, or an instance. All policies run under the
    same clock and the same semantics of evictions, and so does the bound: no schedule whatever is
    below it. Policies that can be deployed stand apart from those that know every output length.
    The recommendation has a 95 % bootstrap interval over blocks of consecutive requests.

    Example: ratiolab evaluate conv.csv --clock llama2-70b-2xa100 --memory 60000 --stop 60
    """
    from ratiolab.online.clock import clock_of
    from ratiolab.ratio.observed import judged, observed_service
    from ratiolab.report.evaluation_report import require_report_format, write_report
    from ratiolab.workloads.predictions import add_predictions
    from ratiolab.workloads.traces import (
        ROUNDS_PER_SECOND,
        instance_from_trace,
        read_trace,
        select,
    )

    clock_of(clock)  # its mistakes come before the work
    if report is not None:
        require_report_format(report)
        require_no_folder(report)
    if observed and sample is not None:
        raise ValueError("--observed needs all requests of the window: leave --sample out")
    window = window_of(start, stop)
    log = None if _is_instance(file) else read_trace(file, columns=columns, time_unit=time_unit)
    if log is None:
        instance = load(file, memory, tick_seconds)
    else:
        if memory is None:
            raise ValueError("--memory is missing: a log does not say the KV cache size in tokens")
        chosen = select(log, memory=memory, window=window)
        instance = instance_from_trace(
            log,
            memory=memory,
            sample=sample,
            seed=seed,
            window=window,
            arrivals="zero" if log.seconds is None else "trace",
            rounds_per_second=ROUNDS_PER_SECOND if clock == "unit" else MILLISECONDS,
            strict=strict,
        )
        tell_dropped(chosen.dropped, len(log) + sum(log.dropped.values()))
        log = log.take(chosen.kept)
    if observed and log is None:
        raise ValueError(f"{file}: --observed needs a log, not an instance")
    if predict is not None:
        instance = add_predictions(instance, predict, seed)
    service = observed_service(log) if observed and log is not None else None
    chosen_options = (policies, clock, preemption, metric, slo, current, runs, seed)
    made = evaluated(instance, *chosen_options, service)
    found = judged(log, instance, made) if observed and log is not None else None
    lines = [] if found is None else found.lines()
    if report is not None:
        write_report(made, report, lines=lines, provenance=_provenance(file, clock, seed))
    if json:
        more = {} if found is None else {"observed": found.to_dict()}
        print_json("evaluation", made.to_dict() | {"clock": clock} | more)
    else:
        show(made)
        print_rich(*lines)
    if made.interrupted:
        end_interrupted("the policies that had run are compared; the others are left out")


def _provenance(file: Path, clock: str, seed: int) -> list[tuple[str, str]]:
    """Return what a report says of the command and of its input."""
    import shlex
    import sys
    from hashlib import sha256

    digest = sha256(file.read_bytes()).hexdigest()
    return [
        ("command", shlex.join(["ratiolab", *sys.argv[1:]])),
        ("file", f"{file.name}, SHA-256 {digest}"),
        ("clock", clock),
        ("seed", str(seed)),
    ]


def _is_instance(file: Path) -> bool:
    """Return whether a file is an instance rather than a log."""
    from ratiolab.model.io import INSTANCE_FORMAT, read_content

    return INSTANCE_FORMAT.encode() in read_content(file)[:200]


def evaluated(
    instance: "Instance",
    policies: str | None,
    clock: str,
    preemption: str,
    metric: str,
    slo: str | None,
    current: str,
    runs: int,
    seed: int,
    observed: "Service | None" = None,
) -> "Evaluation":
    """Evaluate policies, with progress on standard error."""
    from typing import cast

    from ratiolab.cli.solving import keys_of
    from ratiolab.model import Preemption
    from ratiolab.model.schedule import require_preemption
    from ratiolab.online import make
    from ratiolab.online.clock import clock_of
    from ratiolab.ratio.evaluate import evaluate as evaluate_policies
    from ratiolab.ratio.service import Slo

    require_preemption(preemption)
    chosen = None if policies is None else [make(key) for key in keys_of(policies, "--policies")]
    with progress() as display:
        task = display.add_task("simulating")
        return evaluate_policies(
            instance,
            chosen,
            clock=clock_of(clock),
            preemption=cast(Preemption, preemption),
            metric=metric,
            slo=None if slo is None else Slo.parse(slo),
            current=current,
            observed=observed,
            runs=runs,
            seed=seed,
            advance=lambda name: display.update(task, description=f"{name} done"),
        )


def show(made: "Evaluation") -> None:
    """Print an evaluation."""
    from ratiolab.report.evaluation_table import evaluation_table

    print_rich(evaluation_table(made))
    left_out: dict[str, list[str]] = {}
    for key, why in made.skipped:
        left_out.setdefault(why, []).append(key)
    print_rich(*(f"left out {', '.join(keys)}: {why}" for why, keys in left_out.items()))
    print_rich(made.headline)


MILLISECONDS = 1000.0
"""Ticks a second of logs under a clock: arrivals are late by less than a millisecond."""
