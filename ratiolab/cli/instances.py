"""Commands that make instances: generate, trace."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import Json, Seed, app, print_json, print_rich

if TYPE_CHECKING:
    from ratiolab.model import Instance

Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="File to write: CSV (without the memory) when it ends in .csv, else JSON.",
    ),
]


class Arrivals(StrEnum):
    """When the requests of a trace arrive."""

    trace = "trace"
    zero = "zero"
    poisson = "poisson"


@app.command()
def generate(
    kind: Annotated[str | None, typer.Argument(help="Kind of workload; none lists them.")] = None,
    seed: Seed = 0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the kind, name=value; repeatable."),
    ] = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Generate a synthetic instance, seeded; without a kind, list the kinds and their settings.

    The file records the command that made it, with all settings, so that it can be made again.
    Without --output the instance goes to standard output.

    Example: ratiolab generate two-point --seed 7 --set n=30 --set upper=16 -o mine.json
    """
    from ratiolab.report.tables import kinds_table
    from ratiolab.workloads.generators import KINDS, find_kind
    from ratiolab.workloads.generators import generate as generate_instance

    if kind is None:
        if set_ or output is not None:
            raise ValueError("--set and --output need a KIND; `ratiolab generate` lists the kinds")
        if json:
            listed = [
                {
                    "kind": k.name,
                    "summary": k.summary,
                    "source": k.source,
                    "settings": {s.name: s.default for s in k.parameters},
                }
                for k in KINDS.values()
            ]
            print_json("kinds", {"kinds": listed})
        else:
            print_rich(kinds_table(KINDS.values()))
        return
    settings = find_kind(kind).parse(set_ or [])
    _deliver(generate_instance(kind, seed, **settings), output, json)


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="Azure LLM inference trace, or prefill/decode CSV.")],
    memory: Annotated[int, typer.Option(help="KV cache size in tokens.", min=1)],
    sample: Annotated[
        int | None, typer.Option(help="Keep so many requests, drawn at random.", min=1)
    ] = None,
    seed: Seed = 0,
    start: Annotated[float | None, typer.Option(help="Window: from this second on.")] = None,
    stop: Annotated[float | None, typer.Option(help="Window: before this second.")] = None,
    block: Annotated[
        int,
        typer.Option(help="KV block size: round tokens up to blocks, as paged caches do.", min=1),
    ] = 1,
    arrivals: Annotated[
        Arrivals, typer.Option(help="Times of the trace, all at round 0, or a Poisson process.")
    ] = Arrivals.trace,
    rate: Annotated[float | None, typer.Option(help="Poisson: requests a round.", min=0)] = None,
    rounds_per_second: Annotated[
        float | None,
        typer.Option(help="Trace times: decoding rounds a second; default: 20.", min=0),
    ] = None,
    max_prompt: Annotated[
        int | None, typer.Option(help="Drop requests with longer prompts, tokens.", min=0)
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            help="Predictions to make from the true outputs: exact, rough, buckets:WIDTH, "
            "overlap:X (interval (1-X) o to (1+X) o), noisy:E (uniform error up to E), "
            "gaussian:SIGMA, one-bit:T (above T or not), ranked:NOISE, classified:SPREAD "
            "(ten bins up to 512), log-t, log-t-nu, log-normal (a law of each output), behind "
            "a law misjudged:NOISE (medians off by such factors)."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the instance.")] = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Cut an instance of any size out of a real request trace.

    Reads the public Azure LLM inference traces (TIMESTAMP, ContextTokens, GeneratedTokens) and
    files with num_prefill_tokens and num_decode_tokens. What was dropped stands in the source text.
    Blocks of 16 tokens and a sample of a dozen requests give an instance that is solved exactly.

    Example: ratiolab trace conv.csv --memory 16492 --block 16 --sample 12 -o mine.json
    """
    from math import inf

    from ratiolab.workloads.predictions import add_predictions
    from ratiolab.workloads.traces import ROUNDS_PER_SECOND, instance_from_trace, read_trace

    windowed = start is not None or stop is not None
    instance = instance_from_trace(
        read_trace(file),
        memory=memory,
        sample=sample,
        seed=seed,
        window=(start or 0.0, inf if stop is None else stop) if windowed else None,
        block=block,
        arrivals=arrivals.value,
        rate=rate,
        rounds_per_second=ROUNDS_PER_SECOND if rounds_per_second is None else rounds_per_second,
        max_prompt=max_prompt,
        name=name,
    )
    if predict is not None:
        instance = add_predictions(instance, predict, seed)
    _deliver(instance, output, json)


def _deliver(instance: "Instance", output: Path | None, json: bool) -> None:
    """Write the instance where it was asked for and say what it is."""
    from ratiolab.model import write_instance
    from ratiolab.model.io import instance_text

    if output is None:
        typer.echo(instance_text(instance), nl=False)
        return
    write_instance(instance, output)
    data = {
        "instance": instance.name,
        "digest": instance.digest,
        "file": str(output),
        "requests": len(instance),
        "memory": instance.memory,
        "source": instance.source,
    }
    if json:
        print_json("written-instance", data)
    else:
        print_rich(f"{output}: {len(instance):,} requests, memory {instance.memory:,}")
