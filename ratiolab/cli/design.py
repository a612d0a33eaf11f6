"""The command that designs caps for known lengths: design."""

from typing import Annotated

import typer

from ratiolab.cli.app import File, Json, Memory, app, print_json, print_rich, progress


@app.command()
def design(
    file: File,
    memory: Memory = None,
    atoms: Annotated[
        int, typer.Option(help="Most volumes that the law may have; more are merged.", min=1)
    ] = 24,
    steps: Annotated[
        int, typer.Option(help="Time steps of the bound on all policies.", min=2, max=1000)
    ] = 160,
    json: Json = False,
) -> None:
    """Find the best caps for the law of volumes of an instance, and what no policy can go below.

    The requests of the file stand for a law that a policy knows, while it does not know which
    request has which length. Costs are over the optimum in the fluid limit: many requests, all at
    round 0. `ratiolab generate` and `ratiolab trace` make files of laws and of traces.

    Example: ratiolab design instances/small/geometric.json --steps 40
    """
    from collections import Counter
    from dataclasses import asdict

    from ratiolab.model import read_instance
    from ratiolab.theory.limits.cap_design import MOST_ATOMS, coarsened
    from ratiolab.theory.limits.cap_design import design as best_for

    if atoms > MOST_ATOMS:
        raise ValueError(f"--atoms {atoms} must be at most {MOST_ATOMS}")
    instance = read_instance(file, memory)
    counted = sorted(Counter(instance.volume.tolist()).items())
    exact = [(float(v), n / len(instance)) for v, n in counted]
    law = coarsened(exact, atoms)
    with progress() as display:
        display.add_task(f"{len(law)} volumes, {steps} steps")
        found = best_for(law, steps)
    if json:
        data = {"instance": instance.name, "digest": instance.digest, "volumes": len(law)}
        print_json("design", {**data, **asdict(found), "coarsened": len(law) < len(exact)})
        return
    note = f", {len(exact)} of the file brought together" if len(law) < len(exact) else ""
    print_rich(
        f"{instance.name}: {len(law)} volumes{note}",
        f"no policy that knows the law: below {found.bound:.4f}",
        f"best list of caps: {found.cost:.4f}, in volume "
        + ", ".join(f"{cap:,.0f}" for cap in found.caps),
        f"volume-restart, which knows nothing: {found.universal:.4f}",
        f"never to kill: {found.never_kill:.4f}",
    )
