"""Commands about proofs: make a lower bound with its certificate, check a certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ratiolab.cli.app import File, Json, Memory, app, print_json, print_rich, progress

if TYPE_CHECKING:
    from ratiolab.hindsight.cut_bound import Progress


@app.command()
def lower_bound(
    file: File,
    memory: Memory = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this JSON file, for `certify`.")
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Most rounds of cuts: the same bound on every machine.", min=0)
    ] = 40,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after so many seconds.", min=0)
    ] = None,
    json: Json = False,
) -> None:
    """A lower bound on the optimum from configuration cuts, proven in integers.

    For small memories (up to 200 tokens). Stopping early makes the bound weaker, never wrong.
    """
    from ratiolab.hindsight.certificate import write_certificate
    from ratiolab.hindsight.cut_bound import cut_bound
    from ratiolab.hindsight.heuristics import good_schedule
    from ratiolab.model import read_instance

    instance = read_instance(file, memory)
    with progress() as display:
        task = display.add_task(f"{instance.name}: {len(instance)} requests")
        known = good_schedule(instance)

        def show(now: "Progress") -> None:
            interval = f"optimum in [{now.lower:,}, {known.total_latency:,}]"
            display.update(task, description=f"{instance.name}: {interval}, round {now.rounds}")

        result = cut_bound(
            instance,
            horizon=known.makespan,
            rounds=rounds,
            time_limit=time_limit,
            target=known.total_latency,
            progress=show,
        )
    if certificate is not None:
        write_certificate(result.certificate, certificate)
    if json:
        print_json(
            {
                "instance": instance.name,
                "digest": instance.digest,
                "lower": result.lower,
                "upper": known.total_latency,
                "plain": result.plain,
                "rounds": result.rounds,
                "stopped": result.stopped,
                "seconds": round(result.seconds, 3),
            }
        )
        return
    print_rich(
        f"{instance.name}: the optimum is at least {result.lower:,} "
        f"(without cuts {result.plain:,}) and at most {known.total_latency:,}; "
        f"{result.rounds} rounds, {result.stopped}, {result.seconds:.1f} s"
    )


@app.command()
def certify(
    certificate: Annotated[
        Path, typer.Argument(help="Certificate of a lower bound: JSON (ratiolab-certificate/1).")
    ],
    file: File,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Check the certificate of a lower bound in exact integers, without any solver.

    Exit code 0 when it proves what it claims, 1 when it does not.
    """
    from ratiolab.hindsight.certificate import read_certificate
    from ratiolab.hindsight.certify import CertificateError
    from ratiolab.hindsight.certify import certify as check
    from ratiolab.model import read_instance

    instance = read_instance(file, memory)
    claim = read_certificate(certificate)
    reason = ""
    try:
        check(claim, instance)
    except CertificateError as error:
        reason = str(error)
    if json:
        print_json(
            {
                "instance": instance.name,
                "digest": instance.digest,
                "claimed": claim.bound,
                "proven": not reason,
                "reason": reason,
            }
        )
    elif reason:
        print_rich(f"{certificate} does not prove its claim: {reason}")
    else:
        print_rich(f"proven: every schedule of {instance.name} has latency >= {claim.bound:,}")
    raise typer.Exit(1 if reason else 0)
