"""The command that checks the certificate of a lower bound."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli import REFUSED
from ratiolab.cli.app import File, Json, Memory, Replicas, answer, app


@app.command()
def certify(
    certificate: Annotated[
        Path, typer.Argument(help="Certificate of a lower bound: JSON (ratiolab-certificate/1).")
    ],
    file: File,
    memory: Memory = None,
    replicas: Replicas = None,
    seconds: Annotated[
        float, typer.Option(help="Refuse a check that could take longer, by an upper estimate.")
    ] = 30,
    json: Json = False,
) -> None:
    """Check the certificate of a lower bound in exact integers, without any solver.

    Exit code 0 when it proves what it claims, 1 when it does not, 3 when it is refused unchecked,
    because checking would take more than --seconds, or more than a gigabyte, up to five where these
    are 120 or more; with long outputs states take up to three times as much.
    """
    from ratiolab.hindsight.certificates.certify import CertificateError
    from ratiolab.hindsight.certificates.certify import certify as check
    from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
    from ratiolab.hindsight.certificates.io import read_certificate
    from ratiolab.model.fleet_io import read_fleet

    instance = read_fleet(file, memory, replicas)
    claim = read_certificate(certificate)
    reason, code = "", 0
    try:
        with allowing(seconds):
            check(claim, instance)
    except TooCostlyError as error:
        reason, code = str(error), REFUSED
    except CertificateError as error:
        reason, code = str(error), 1
    shown = f"proven: every schedule of {instance.name} has latency >= {claim.bound:,}"
    if reason:
        fault = "is not checked" if code == REFUSED else "does not prove its claim"
        shown = f"{certificate} {fault}: {reason}"
    data = {
        "instance": instance.name,
        "digest": instance.digest,
        "claimed": claim.bound,
        "proven": not reason,
        "refused": code == REFUSED,
        "reason": reason,
    }
    answer(json, "proof", data, shown)
    raise typer.Exit(code)
