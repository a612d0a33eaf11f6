"""The command that reads request logs: it describes them, and cuts instances out of them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import Formats, Json, answer, app, picture_paths, tokens
from ratiolab.cli.groups import Log, Logged, grouped
from ratiolab.cli.instances import Output, deliver

if TYPE_CHECKING:
    from ratiolab.workloads.traces import Trace

RoundsPerSecond = Annotated[
    float | None, typer.Option(help="Trace times: decoding rounds a second; default: 20.", min=0)
]


class Arrivals(StrEnum):
    """When the requests of a trace arrive."""

    trace = "trace"
    zero = "zero"
    poisson = "poisson"


def tell_dropped(dropped: dict[str, int], requests: int) -> None:
    """Say on standard error how many requests were left out, and why."""
    if line := dropped_line(dropped, requests):
        typer.echo(f"ratiolab: {line}", err=True)


def dropped_line(dropped: dict[str, int], requests: int) -> str:
    """Return how many requests were left out, and why; nothing when none were."""
    if not dropped:
        return ""
    total = sum(dropped.values())
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
    return f"{total:,} of {requests:,} requests dropped ({total / requests:.2%}): {reasons}"


@app.command()
@grouped
def trace(
    file: Log,
    logged: Logged,
    memory: Annotated[
        int | None,
        typer.Option(
            help="KV cache size in tokens; needed, except with --describe.", parser=tokens
        ),
    ] = None,
    describe: Annotated[
        bool,
        typer.Option("--describe", help="Print what the log holds, and cut no instance out of it."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --describe: draw it to this png, pdf or svg file.", writable=True),
    ] = None,
    formats: Formats = None,
    block: Annotated[
        int,
        typer.Option(help="KV block size: round tokens up to blocks, as paged caches do.", min=1),
    ] = 1,
    arrivals: Annotated[
        Arrivals, typer.Option(help="Times of the trace, all at round 0, or a Poisson process.")
    ] = Arrivals.trace,
    rate: Annotated[float | None, typer.Option(help="Poisson: requests a round.", min=0)] = None,
    rounds_per_second: RoundsPerSecond = None,
    max_prompt: Annotated[
        int | None, typer.Option(help="Drop requests with longer prompts, tokens.", min=0)
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the instance.")] = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Cut an instance of any size out of a request log, or describe the log.

    Known layouts: traces of Azure, BurstGPT, Mooncake, Qwen-Bailian, Vidur and BLIS; results of the
    benchmarks of vLLM and SGLang, GuideLLM, AIPerf, inference-perf, LLMPerf, BLIS and
    LLMServingSim; logs of SGLang, LiteLLM and Langfuse. Requests that are dropped are counted by
    reason, on standard error and in the source text of the instance. Blocks of 16 tokens and a
    sample of a dozen requests give an instance that is solved exactly.

    Example: ratiolab trace conv.csv --memory 16492 --block 16 --sample 12 -o mine.json

    Example: ratiolab trace mine.jsonl --columns arrival=ts,prompt=n_in,output=n_out --describe

    Example: zcat log.csv.gz | ratiolab trace - --describe
    """
    from ratiolab.model.files import read_content
    from ratiolab.workloads.layout import PROMISED
    from ratiolab.workloads.traces import ROUNDS_PER_SECOND, require_speed, select

    speed = ROUNDS_PER_SECOND if rounds_per_second is None else rounds_per_second
    require_speed(speed)
    if plot is not None and not describe:
        raise ValueError("--plot needs --describe")
    pictures = picture_paths(plot, formats)
    log = logged.read(read_content(file))
    requests = len(log) + sum(log.dropped.values())
    if describe:
        tell_dropped(dict(log.dropped), requests)
        _describe(log, memory, speed, pictures, json)
        return
    if memory is None:
        raise ValueError("--memory is missing: an instance needs the KV cache size in tokens")
    if (
        rounds_per_second is not None
        and arrivals != Arrivals.trace
        and not {*log.promises} & {*PROMISED}
    ):
        raise ValueError(
            f"rounds_per_second {rounds_per_second:g} is for arrivals 'trace' and promised times "
            f"only, not for {arrivals.value!r}"
        )
    instance = logged.cut(
        log,
        memory,
        block=block,
        arrivals=arrivals.value,
        rate=rate,
        rounds_per_second=speed,
        max_prompt=max_prompt,
        name=name,
    )
    left_out = select(log, memory=memory, window=logged.window, block=block, max_prompt=max_prompt)
    tell_dropped(left_out.dropped, requests)
    for note in log.notes:
        typer.echo(f"ratiolab: {note}", err=True)
    deliver(instance, output, json)


def _describe(
    log: "Trace", memory: int | None, speed: float, pictures: list[Path], json: bool
) -> None:
    """Print what a log holds, and draw it."""
    from ratiolab.ratio.prefix_bound import prefix_bounds
    from ratiolab.report.tables import description_table
    from ratiolab.workloads.description import Description

    seen = Description(log, memory, speed)
    if pictures:
        from ratiolab.report.plots import save
        from ratiolab.report.plots.traces import description_chart

        drawing = description_chart(seen)
        for path in pictures:
            save(drawing, path)
    data, lines = seen.to_dict(), description_table(seen)
    bounds = None if memory is None else prefix_bounds(log, memory, speed)
    if bounds is not None:
        data["mean_latency_at_least"] = {"shared_prefixes": bounds[0], "no_sharing": bounds[1]}
        lines.append(
            f"bound on the mean latency: {bounds[0]:,.1f} rounds with shared prefixes, "
            f"{bounds[1]:,.1f} without sharing"
        )
    answer(json, "trace-description", data, *lines)
