"""Commands about policies: what there is, and one of them on an instance."""

from typing import Annotated, Any

import typer

from ratiolab.cli.app import (
    EachMemory,
    File,
    Json,
    Key,
    Parameters,
    Replicas,
    Runs,
    Seed,
    SloLatency,
    SloTtft,
    Tick,
    answer,
    app,
    in_seconds,
    keeping,
    print_json,
    print_rich,
    progress,
    require_clock,
    settings,
)
from ratiolab.cli.fleets import end_runs_interrupted, in_time, loaded, sentence, simulate_replicas
from ratiolab.cli.groups import Routed
from ratiolab.cli.listing import listed


@app.command()
def policies(
    routers: Annotated[
        bool, typer.Option("--routers", help="List the routers of several replicas instead.")
    ] = False,
    json: Json = False,
) -> None:
    """List the policies: what each may know, does, takes, and where it comes from.

    A policy never sees more than it declares: the simulator hides the output lengths from all
    policies except `true length`, which assumes perfect predictions.
    """
    from ratiolab.report.tables import policies_table, routers_table

    kind, table = ("routers", routers_table) if routers else ("policies", policies_table)
    rows = listed()[kind]
    answer(json, kind, {kind: rows}, table(rows))


@app.command()
def simulate(
    file: File,
    policy: Key,
    memory: EachMemory = None,
    replicas: Replicas = None,
    router: Annotated[
        str | None,
        typer.Option(help="Router before several replicas, see `ratiolab policies --routers`."),
    ] = None,
    param: Parameters = None,
    preemption: Annotated[
        str | None,
        typer.Option(
            help="Cost of an eviction: restart (all tokens), recompute or swap (only time), or "
            "pause (nothing until others need the memory). Default: what the policy is made for."
        ),
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            help="unit (rounds); llama2-70b-2xa100, llama3-8b-a100, llama3-1b-l4 from data sheets; "
            "vidur-llama2-70b-2xa100, measured by others; or a profile FILE.csv of batches to fit. "
            "With a clock, the instance states the seconds of a tick."
        ),
    ] = "unit",
    tick_seconds: Tick = None,
    slo_ttft: SloTtft = None,
    slo_latency: SloLatency = None,
    seed: Seed = 0,
    runs: Runs = 1,
    json: Json = False,
) -> None:
    """Run one policy on an instance, once or over several seeds.

    `wasted tokens` counts tokens made again after evictions; `outcome` says stalled or looping when
    no request completes any more. TEL and makespan are rounds; the figures below the runs are
    rounds or seconds, with 95% bootstrap intervals over the seeds.

    With dates in rounds, of the file or by --slo-ttft and --slo-latency, the first line states the
    weight in time, and an upper bound on it for every schedule. `ratiolab evaluate --slo` counts
    seconds.

    Example: ratiolab simulate mine.json --policy fcfs --preemption recompute --runs 20
    """
    from statistics import fmean
    from typing import cast

    from rich.table import Table

    from ratiolab.model import Preemption
    from ratiolab.model.promises import with_limits
    from ratiolab.online import make
    from ratiolab.online import simulate as simulate_policy
    from ratiolab.online.clock import clock_of
    from ratiolab.online.registry import describe
    from ratiolab.report.tables import figures_table

    timed, semantics = clock_of(clock), cast(Preemption | None, preemption)  # simulate checks it
    instance, routed = loaded(file, tick_seconds, Routed(replicas, router, memory))
    chosen = make(policy, settings(param or [], "--param"))
    if slo_ttft is not None or slo_latency is not None:
        if timed is not None:
            raise ValueError(
                "--slo-ttft and --slo-latency count rounds; with a clock, use "
                "`ratiolab evaluate --slo`"
            )
        instance = with_limits(instance, slo_ttft, slo_latency)
    if (fleet := routed.fleet(instance)) is not None:
        if router == "all" or "," in (router or ""):
            raise ValueError(
                f"--router {router!r} names several: simulate runs one, evaluate compares them"
            )
        require_clock(tick_seconds, clock)
        simulate_replicas(
            fleet,
            chosen,
            router or "round-robin",
            preemption=semantics,
            clock=timed,
            clock_name=clock,
            seeds=range(seed, seed + runs),
            json=json,
        )
        return
    data: list[dict[str, Any]] = []
    with progress() as display, keeping(data) as ended:
        task = display.add_task(chosen.name, total=runs)
        for s in range(seed, seed + runs):
            done = simulate_policy(instance, chosen, seed=s, preemption=semantics, clock=timed)
            data.append(done.to_dict())
            display.update(task, advance=1, description=f"{chosen.name}: run {len(data)} of {runs}")
    promise = in_time(instance, done.preemption, data)
    costs = [run["tel"] for run in data if run["tel"] is not None]
    mean = fmean(costs) if len(costs) == len(data) else None
    if json:
        head = {"instance": instance.name, "digest": instance.digest, **describe(chosen)}
        head["clock"] = clock
        head |= {"runs": data, "mean_tel": mean, "preemption": done.preemption}
        head |= {"goodput": promise} if promise else {}
        print_json("simulation", head | {"interrupted": ended.interrupted})
    else:
        if promise:
            typer.echo(sentence(promise))
        table = Table(title=f"{instance.name}: {chosen}, {done.preemption}", title_justify="left")
        names = ("seed", "outcome", "tel", "makespan", "evictions", "wasted_tokens")
        for name in names:
            table.add_column(name, justify="right", overflow="fold")
        for run in data:
            cells = (run[name] for name in names)
            table.add_row(*(f"{v:,}" if isinstance(v, int) else str(v) for v in cells))
        print_rich(table)
        if mean is not None:
            print_rich(f"mean TEL {mean:,.1f}", *([] if timed else in_seconds(instance)))
            print_rich(figures_table([run["figures"] for run in data], data[0]["unit"]))
    if ended.interrupted:
        end_runs_interrupted(len(data), runs)
