"""The command that evaluates policies, and a real engine, on a request log."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ratiolab.cli.app import (
    Json,
    Tick,
    app,
    end_interrupted,
    line_width,
    print_json,
    print_rich,
    progress,
    provenance,
    require_clock,
)
from ratiolab.cli.fleets import loaded
from ratiolab.cli.groups import Judged, Log, Logged, Routed, grouped
from ratiolab.cli.traces import dropped_line

if TYPE_CHECKING:
    from ratiolab.evaluation.result import Evaluation
    from ratiolab.evaluation.service import Service
    from ratiolab.hindsight import OptResult
    from ratiolab.hindsight.certificates.certificate import InTimeCertificate, SecondsCertificate
    from ratiolab.model import Instance
    from ratiolab.model.files import Content
    from ratiolab.workloads.traces import Trace

ENDS_SO_FAR = "both ends of the best schedule are those found so far"
OTHERS_LEFT_OUT = "the policies that had run are compared; the others are left out"
"""What Ctrl-C keeps of a comparison of policies."""

MILLISECONDS = 1000.0
"""Ticks a second of logs under a clock: arrivals are late by less than a millisecond."""

Clock = Annotated[
    str,
    typer.Option(
        help="unit (rounds), llama2-70b-2xa100, llama3-8b-a100, llama3-1b-l4, "
        "vidur-llama2-70b-2xa100, or a profile FILE.csv of batches to fit."
    ),
]


@app.command()
@grouped
def evaluate(
    file: Log,
    clock: Clock,
    judged: Judged,
    logged: Logged,
    routed: Routed,
    preemption: Annotated[
        str,
        typer.Option(
            help="Cost of an eviction, for all policies: restart, recompute, swap, pause."
        ),
    ] = "recompute",
    observed: Annotated[
        bool,
        typer.Option("--observed", help="Judge the log's own first-token and finish times, too."),
    ] = False,
    tick_seconds: Tick = None,
    runs: Annotated[int, typer.Option(help="Seeds of policies that use randomness.", min=1)] = 5,
    search: Annotated[
        float,
        typer.Option(
            help="Seconds to look for the best order of all requests, for a tighter interval of "
            "the best schedule; needs a clock.",
            min=0,
        ),
    ] = 0,
    effort: Annotated[
        float,
        typer.Option(
            help="Most seconds to bound the best possible schedule from both ends, under a "
            "clock: a certified bound and a searched schedule; short logs get less.",
            min=0,
        ),
    ] = 10,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="Write the proof of the bound on the mean latency, or with --slo on the requests "
            "in time, for certify.",
            writable=True,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say how far each policy can be from the best schedule of a log, and which to deploy.

    FILE is a request log, as `ratiolab trace` reads it, or an instance. The first lines say how
    much the log asks of the memory, and who keeps up. All policies run under the same clock and the
    same cost of evictions, and no schedule under them is below the bound. Policies that are ready
    to deploy stand apart from policies that need predictions, or know every output length. The
    recommendation has a 95% interval that repeats the choice of the policy: it is chosen on parts
    of the log, and judged on the other parts.

    With --replicas, every policy runs behind every router of --router, and the answer says how far
    each pair can be from the best schedule of all replicas, and what dispatch at once costs.

    Example: ratiolab evaluate conv.csv --clock llama2-70b-2xa100 --memory 60000 --stop 60
    """
    from math import isnan

    from ratiolab.evaluation.observed import judged as judged_log
    from ratiolab.evaluation.observed import observed_service
    from ratiolab.model.files import read_content
    from ratiolab.online.clock import clock_of
    from ratiolab.workloads.traces import ROUNDS_PER_SECOND, select

    clock_of(clock)  # its mistakes come before the work
    require_report(judged.report)
    require_clock(tick_seconds, clock)
    if observed and logged.sample is not None:
        raise ValueError("--observed needs all requests of the window: leave --sample out")
    content = read_content(file)
    dropped: dict[str, int] = {}
    requests = 0
    log = None if _is_instance(content) else logged.read(content)
    if log is None:
        if observed:
            raise ValueError(f"{content.name}: --observed needs a log, not an instance")
        instance, routed = loaded(content, tick_seconds, routed)
        instance = logged.predicted(instance)
    else:
        if tick_seconds is not None:
            raise ValueError(
                f"{content.name}: a log states its own times, so --tick-seconds "
                f"{tick_seconds:g} must be left out"
            )
        if (memory := routed.largest) is None:
            raise ValueError(
                "--memory is missing: a log does not say the KV cache size in tokens; an engine "
                "does when it starts (vLLM: GPU KV cache size)"
            )
        chosen = select(log, memory=memory, window=logged.window)
        instance = logged.cut(
            log,
            memory,
            arrivals="zero" if log.seconds is None else "trace",
            rounds_per_second=ROUNDS_PER_SECOND if clock == "unit" else MILLISECONDS,
        )
        dropped, requests = chosen.dropped, len(log) + sum(log.dropped.values())
        log = log.take(chosen.kept)
    if (fleet := routed.fleet(instance)) is not None:
        from ratiolab.cli.fleets import evaluate_replicas

        told = [] if log is None else log_lines(log, dropped, requests)
        refused: dict[str, object] = {"--observed": observed or None, "--search": search or None}
        if judged.slo is None:
            refused["--certificate without --slo"] = certificate
        more = {} if log is None else {"log": log_dict(log, dropped)}
        options = {"clock": clock, "preemption": preemption, "runs": runs}
        evaluate_replicas(
            *(fleet, routed.routers(), judged, options, refused, content, told, more, json),
            prove=lambda proof: (
                []
                if certificate is None
                else [written(proof, certificate, len(instance), None if log is None else clock)]
            ),
        )
        return
    service, comparable = None, False
    if observed and log is not None:
        service = observed_service(log)
        comparable = log.seconds is not None
    made = evaluated(
        instance, clock, preemption, runs, judged, service, search, comparable, effort=effort
    )
    found = judged_log(log, instance, made) if service is not None and log is not None else None
    more = {} if log is None else {"log": log_dict(log, dropped)}
    if found is not None:
        more["observed"] = found.to_dict()
        if isnan(found.ratio):
            made = made.without_ratio_of_log()
    told = [] if log is None else log_lines(log, dropped, requests)
    lines = [] if found is None else found.lines()
    if clock != "unit" and (search or effort):
        lines += _not_searched(len(instance))
    proof = made.certificate if made.promise is None else made.promise.proof
    if certificate is not None and proof is not None:
        lines.append(written(proof, certificate, len(instance), None if log is None else clock))
    deliver(made, content, clock, judged, lines, more, json, told)
    if certificate is not None and proof is None:
        raise ValueError(
            "--certificate: nothing was certified, as nothing waits, there is no clock, or "
            "--effort is 0; leave it out"
        )


def written(
    proof: "SecondsCertificate | InTimeCertificate", path: Path, requests: int, cut: str | None
) -> str:
    """Write the proof of a bound, and return in words what it proves and how to check it."""
    from ratiolab.hindsight.certificates.certificate import InTimeCertificate
    from ratiolab.hindsight.certificates.io import write_certificate
    from ratiolab.model.instance import PICOSECONDS

    write_certificate(proof, path)
    claim = f"a mean latency of at least {proof.bound / PICOSECONDS / requests:,.4g} s"
    if isinstance(proof, InTimeCertificate):
        claim = f"that no schedule serves more than {proof.bound:,} requests in time"
    checked = "the instance"
    if cut is not None:
        speed = "" if cut == "unit" else f" --rounds-per-second {MILLISECONDS:g}"
        checked = f"what `ratiolab trace{speed} -o FILE` cuts from the log with the same options"
    return f"{path} proves {claim}. `ratiolab certify` checks it against {checked}."


def log_lines(log: "Trace", dropped: Mapping[str, int], requests: int) -> list[str]:
    """Return what was understood of a log: its layout, units, what was left out or assumed."""
    lines = [f"Layout: {log.layout}." if log.layout else ""]
    if log.seconds is None:
        lines.append("The log has no arrival times: all requests arrive at once.")
    elif log.units:
        lines.append(f"Times: {log.units}.")
    lines.append(dropped_line(dict(dropped), requests))
    lines += log.notes
    return [f"{_capital(line).rstrip('.')}." for line in lines if line]


def _capital(line: str) -> str:
    """Return a sentence with its first letter large, unless it begins with the name of a column."""
    return line if "_" in line.split()[0] else f"{line[0].upper()}{line[1:]}"


def log_dict(log: "Trace", dropped: Mapping[str, int]) -> dict[str, object]:
    """Return what was understood of a log, as plain data."""
    return {
        "layout": log.layout,
        "has_arrivals": log.seconds is not None,
        "times": log.units,
        "dropped": dict(dropped),
        "notes": list(log.notes),
    }


def require_report(report: Path | None) -> None:
    """Refuse, before the work, a report that could not be written."""
    if report is not None:
        from ratiolab.report.evaluation_report import require_report_format

        require_report_format(report)


def _not_searched(requests: int) -> list[str]:
    """Return a sentence if there are too many requests to search for a schedule under a clock."""
    from ratiolab.seconds.beam import MOST_REQUESTS

    if requests <= MOST_REQUESTS:
        return []
    return [
        "The searched order is that of the best policy that knows every output: a search takes "
        f"up to {MOST_REQUESTS:,} requests."
    ]


def evaluated(
    instance: "Instance",
    clock: str,
    preemption: str,
    runs: int,
    judged: Judged,
    observed: "Service | None" = None,
    search: float = 0,
    comparable: bool = True,
    optimum: "OptResult | None" = None,
    effort: float = 0,
) -> "Evaluation":
    """Evaluate policies, with progress on standard error."""
    from ratiolab.evaluation.evaluate import evaluate as evaluate_policies
    from ratiolab.model import Preemption
    from ratiolab.model.eviction import require_preemption

    require_preemption(preemption)
    policies = judged.chosen()
    with judged.place(len(instance)) as place, progress(bar=True) as display:
        task = display.add_task("simulating", total=None)

        def tell(part: float) -> None:
            words = "bounding the best schedule from both ends"
            display.update(task, description=words, total=1, completed=part)

        return evaluate_policies(
            instance,
            policies,
            clock=clock,
            preemption=cast(Preemption, preemption),
            metric=judged.metric or "mean",
            slo=judged.slo,
            current=judged.in_use(),
            observed=observed,
            comparable=comparable,
            optimum=optimum,
            runs=runs,
            seed=judged.seed,
            search=search,
            effort=effort,
            executor=place,
            advance=lambda name: display.update(task, description=f"{name} done"),
            tell=tell,
        )


def deliver(
    made: "Evaluation",
    content: "Content",
    clock: str,
    judged: Judged,
    lines: list[str],
    more: Mapping[str, object],
    json: bool,
    log: Sequence[str] = (),
) -> None:
    """Write the requested report, and print an evaluation.

    `lines` stand below the recommendation. `log` says what was understood of the log, `more` has
    further data of the JSON object.
    """
    from rich.text import Text

    from ratiolab.ratio.choice import by_reason
    from ratiolab.report.evaluation_table import cells, evaluation_table
    from ratiolab.seconds.order_search import Planned

    try:
        if judged.report is not None:
            from ratiolab.report.evaluation_report import write_report  # with a library for charts

            told = provenance(content, clock, judged.seed)
            write_report(made, judged.report, lines=lines, provenance=told, log=log)
    finally:  # a report that cannot be written does not cost the answer
        if json:
            print_json("evaluation", {**made.to_dict(), "clock": clock, **more})
            for line in log:
                typer.echo(f"ratiolab: {line}", err=True)
        else:
            print_rich(
                *made.situation,
                *log,
                "",
                *(Text(words, style="bold" * (k == 0)) for k, words in enumerate(made.advice)),
                *lines,
                evaluation_table(made, line_width()),
                *cells(made).folded,
                *(f"{line[0].upper()}{line[1:]}." for line in by_reason(made.skipped)),
            )
    if made.interrupted:
        known = any(row.name == Planned.name for row in made.rows)
        end_interrupted(ENDS_SO_FAR if known else OTHERS_LEFT_OUT)


def _is_instance(content: "Content") -> bool:
    """Return whether a file is an instance rather than a log."""
    from ratiolab.model.fleet_io import FLEET_FORMAT
    from ratiolab.model.io import INSTANCE_FORMAT

    return any(f.encode() in content.data[:200] for f in (INSTANCE_FORMAT, FLEET_FORMAT))
