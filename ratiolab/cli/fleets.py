"""Commands for several replicas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ratiolab.cli.app import (
    end_interrupted,
    keeping,
    line_width,
    load,
    print_json,
    print_rich,
    progress,
    provenance,
    showing,
    ticking,
)
from ratiolab.cli.groups import Judged, Routed

if TYPE_CHECKING:
    from ratiolab.hindsight.certificates.certificate import InTimeCertificate
    from ratiolab.model import Instance
    from ratiolab.model.files import Content
    from ratiolab.model.fleet import Fleet
    from ratiolab.online import Policy
    from ratiolab.online.clock import BatchTime
    from ratiolab.online.fleets.loop import FleetSimulation


def loaded(
    file: "Path | Content", tick_seconds: float | None, routed: Routed
) -> "tuple[Instance, Routed]":
    """Return the requests of an instance or a fleet, and the replicas that its file states."""
    from ratiolab.model.files import Content, read_content
    from ratiolab.model.fleet import memories_of
    from ratiolab.model.fleet_io import FLEET_FORMAT, read_fleet

    content = file if isinstance(file, Content) else read_content(file)
    if FLEET_FORMAT.encode() not in content.data[:200]:
        return load(content, routed.largest, tick_seconds), routed
    given = read_fleet(content, routed.memory, routed.replicas)
    instance, memories = memories_of(given)
    instance = ticking(instance, tick_seconds, content.name)
    each = memories if len(set(memories)) > 1 else None
    return instance, replace(routed, replicas=len(memories), memory=each)


def require_none(refused: Mapping[str, object]) -> None:
    """Refuse options that are for one replica alone."""
    for option, value in refused.items():
        if value is not None:
            raise ValueError(f"{option} is for one replica: leave it out, or take --replicas 1")


def evaluate_replicas(
    fleet: "Fleet",
    routers: Sequence[str],
    judged: Judged,
    options: Mapping[str, Any],
    refused: Mapping[str, object],
    content: "Content",
    log: Sequence[str],
    more: Mapping[str, object],
    json: bool,
    lower: float = 0.0,
    prove: "Callable[[InTimeCertificate], list[str]]" = lambda _: [],
) -> None:
    """Evaluate policies behind routers, write the requested report, and print the answer.

    `options` are clock, preemption and runs of `ratiolab.evaluation.fleets.evaluate_fleet`.
    `refused` are options for one replica, with their values. `prove` writes the proof of the
    requests in time, if that is wanted.
    """
    from rich.text import Text

    from ratiolab.evaluation.fleets import evaluate_fleet
    from ratiolab.report.fleet_report import fleet_table, require_fleet_report, write_fleet_report

    require_none(refused)
    if judged.report is not None:
        require_fleet_report(judged.report)
    with judged.place(len(fleet)) as place, progress() as display:
        task = display.add_task("simulating")
        made = evaluate_fleet(
            fleet,
            judged.chosen(),
            routers,
            **options,
            metric=judged.metric or "mean",
            slo=judged.slo,
            current=judged.in_use(),
            seed=judged.seed,
            executor=place,
            advance=lambda name: display.update(task, description=f"{name} done"),
        )
    if lower > made.bounds["mean"]:
        made = replace(made, bounds=made.bounds | {"mean": lower})
    proved = [] if made.promise is None else prove(made.promise.proof)
    try:
        if judged.report is not None:
            told = provenance(content, options["clock"], judged.seed)
            write_fleet_report(made, judged.report, provenance=told, log=log)
    finally:  # a report that cannot be written does not cost the answer
        if json:
            print_json("fleet-evaluation", {**made.to_dict(), "clock": options["clock"], **more})
        else:
            advice = [Text(words, style="bold" * (k == 0)) for k, words in enumerate(made.advice)]
            print_rich(*made.situation, *log, "", *advice, *proved, fleet_table(made, line_width()))
    if made.interrupted:
        end_interrupted("the pairs of policy and router that had run are compared")


def compare_replicas(
    fleet: "Fleet",
    routers: Sequence[str],
    judged: Judged,
    options: Mapping[str, Any],
    refused: Mapping[str, object],
    limits: Mapping[str, Any],
    content: "Content",
    json: bool,
) -> None:
    """Compare policies behind routers with the optimum of all replicas, or with a bound."""
    from ratiolab.hindsight.fleets.solve import solve_fleet

    lower, lines = 0.0, list[str]()
    more: dict[str, object] = {}
    require_none(refused)
    if options["clock"] == "unit" and options["preemption"] == "restart":
        with progress() as display:
            tell = showing(display, fleet)
            solved = solve_fleet(fleet, progress=tell, seed=judged.seed, **limits)
        lower = solved.lower / len(fleet)
        lines, more = [f"{solved.headline}."], {"optimum": [solved.lower, solved.upper]}
    evaluate_replicas(fleet, routers, judged, options, {}, content, lines, more, json, lower=lower)


def simulate_replicas(
    fleet: "Fleet",
    policy: "Policy",
    router: str,
    *,
    preemption: Any,
    clock: "BatchTime | None",
    clock_name: str,
    seeds: range,
    json: bool,
) -> None:
    """Run a router and a policy on each replica, with several seeds, and print the figures."""
    from rich.table import Table

    from ratiolab.online.fleets.loop import simulate_fleet
    from ratiolab.online.registry import describe

    runs: list[FleetSimulation] = []
    with progress() as display, keeping(runs) as ended:
        task = display.add_task(f"{policy.name} behind {router}", total=len(seeds))
        for seed in seeds:
            what = {"seed": seed, "preemption": preemption, "clock": clock}
            runs.append(simulate_fleet(fleet, policy, router, **what))
            display.update(task, advance=1)
    data = [run.to_dict() for run in runs]
    promise = in_time(fleet, runs[0].preemption, data)
    if json:
        head = {"instance": fleet.name, "digest": fleet.digest, "replicas": fleet.replicas}
        head |= describe(policy) | {"router": router, "preemption": runs[0].preemption}
        head |= {"goodput": promise} if promise else {}
        head |= {"clock": clock_name, "runs": data, "interrupted": ended.interrupted}
        print_json("fleet-simulation", head)
    else:
        if promise:
            typer.echo(sentence(promise))
        mean = f"mean latency, {data[0]['unit']}"
        title = f"{fleet.headline}: {policy} behind {router}, {runs[0].preemption}"
        table = Table(title=title, title_justify="left")
        for name in ("seed", "outcome", mean, "mean TTFT", "mean TPOT", "evictions"):
            table.add_column(name, justify="right")
        for run in data:
            means = ["-" if v is None else f"{v:,.4g}" for v in run["mean"].values()]
            table.add_row(str(run["seed"]), run["outcome"], *means, f"{run['evictions']:,}")
        print_rich(table)
    if ended.interrupted:
        end_runs_interrupted(len(runs), len(seeds))


def end_runs_interrupted(finished: int, asked: int) -> NoReturn:
    """End a command after Ctrl-C, saying which runs it has printed."""
    end_interrupted(f"{finished:,} of {asked:,} runs had finished; the others are left out")


def in_time(given: "Instance | Fleet", preemption: str, runs: Sequence[dict[str, Any]]) -> Any:
    """Return the weight in time, the bound on it, and the requests that are late even alone.

    Nothing for runs that state no ``goodput``.
    """
    from ratiolab.hindsight.promises import certified_goodput, covered
    from ratiolab.model.fleet import replicas_of
    from ratiolab.model.promises import last_starts_in_time, weights

    if "goodput" not in runs[0]:
        return {}
    instance, _ = replicas_of(given)
    late = last_starts_in_time(instance) < instance.arrival
    kept = preemption != "restart"  # tokens, which the proof for evictions takes to be lost
    return {
        "mean": sum(run["goodput"] for run in runs) / len(runs),
        "weight": int(weights(instance).sum()),
        "bound": certified_goodput(given).bound,
        "covers": "schedules without evictions" if kept else covered(instance, "goodput"),
        "unreachable": late.nonzero()[0].tolist(),
    }


def sentence(promise: dict[str, Any]) -> str:
    """Return what `in_time` found in one line."""
    return (
        f"in time: weight {promise['mean']:,.6g} of {promise['weight']:,}; of "
        f"{promise['covers']}, none serves more than {promise['bound']:,} (certified); "
        f"{len(promise['unreachable']):,} requests are late even alone"
    )
