"""The command that generates instances."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli import json_output
from ratiolab.cli.app import Json, Seed, answer, app, print_json, print_rich

if TYPE_CHECKING:
    from ratiolab.model import Instance

Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="File to write: CSV (without the memory) when it ends in .csv, else JSON.",
        writable=True,
    ),
]

Predict = Annotated[
    str | None,
    typer.Option(
        help="Predictions to make from the true outputs: exact, rough, buckets:WIDTH, "
        "overlap:X (interval (1-X) o to (1+X) o), noisy:E (uniform error up to E), "
        "gaussian:SIGMA, one-bit:T (above T or not), ranked:NOISE, classified:SPREAD "
        "(ten bins up to 512), log-t, log-t-nu, log-normal (a distribution of each output), and "
        "after a distribution misjudged:NOISE (its median is off by a random factor)."
    ),
]


@app.command()
def generate(
    kind: Annotated[str | None, typer.Argument(help="Kind of workload; none lists them.")] = None,
    seed: Seed = 0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the kind, name=value; repeatable."),
    ] = None,
    predict: Predict = None,
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
        if set_ or predict is not None or output is not None:
            raise ValueError(
                "--set, --predict and --output need a KIND; `ratiolab generate` lists the kinds"
            )
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
    deliver(generate_instance(kind, seed, predict, **settings), output, json)


def deliver(instance: "Instance", output: Path | None, json: bool) -> None:
    """Write an instance to a file and describe it, or print it."""
    from ratiolab.model import write_instance
    from ratiolab.model.io import instance_text

    if output is None:
        typer.echo(instance_text(instance), nl=False, file=json_output())
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
    shown = f"{output}: {len(instance):,} requests, memory {instance.memory:,}"
    answer(json, "written-instance", data, shown)
