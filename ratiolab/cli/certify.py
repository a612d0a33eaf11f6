"""The command that checks the certificate of a lower bound."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import File, Json, Memory, app, print_json, print_rich


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
    from ratiolab.hindsight.certificates.certificate import read_certificate
    from ratiolab.hindsight.certificates.certify import CertificateError
    from ratiolab.hindsight.certificates.certify import certify as check
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
            "proof",
            {
                "instance": instance.name,
                "digest": instance.digest,
                "claimed": claim.bound,
                "proven": not reason,
                "reason": reason,
            },
        )
    elif reason:
        print_rich(f"{certificate} does not prove its claim: {reason}")
    else:
        print_rich(f"proven: every schedule of {instance.name} has latency >= {claim.bound:,}")
    raise typer.Exit(1 if reason else 0)
