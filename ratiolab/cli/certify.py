"""The command that checks the certificate of a lower bound."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ratiolab.cli import REFUSED
from ratiolab.cli.app import (
    EachMemory,
    File,
    Json,
    Replicas,
    SloLatency,
    SloTtft,
    answer,
    app,
)


@app.command()
def certify(
    certificate: Annotated[
        Path, typer.Argument(help="Certificate of a bound: JSON (ratiolab-certificate/1).")
    ],
    file: File,
    memory: EachMemory = None,
    replicas: Replicas = None,
    slo_ttft: SloTtft = None,
    slo_latency: SloLatency = None,
    seconds: Annotated[
        float, typer.Option(help="Refuse a check that could take longer, by an upper estimate.")
    ] = 30,
    json: Json = False,
) -> None:
    """Check the certificate of a bound in exact integers, without any solver.

    The bound is a lower one on total or weighted latency, an upper one on goodput. Limits that the
    solve was given for all requests have to be given again. A proof about a log is about the
    instance that `ratiolab trace` cuts from the log.

    Exit code 0 when it proves what it claims, 1 when it does not, 3 when it is refused unchecked,
    because checking would take more than --seconds, or more than a gigabyte for each 30 of them, up
    to half of the memory of the machine. States of labellings take five gigabytes at most, and up
    to three times as much with long outputs.
    """
    from ratiolab.hindsight.certificates.certificate import (
        InTimeCertificate,
        Promised,
        SecondsCertificate,
    )
    from ratiolab.hindsight.certificates.certify import CertificateError
    from ratiolab.hindsight.certificates.certify import certify as check
    from ratiolab.hindsight.certificates.certify_promises import certify_promises
    from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
    from ratiolab.hindsight.certificates.io import read_certificate
    from ratiolab.model.fleet import replicas_of
    from ratiolab.model.fleet_io import read_fleet
    from ratiolab.model.instance import PICOSECONDS
    from ratiolab.model.promises import with_limits

    instance = read_fleet(file, memory, replicas)
    if slo_ttft is not None or slo_latency is not None:
        instance = with_limits(instance, slo_ttft, slo_latency)
    claim = read_certificate(certificate)
    reason, code = "", 0
    try:
        with allowing(seconds):
            if isinstance(claim, Promised):
                certify_promises(claim, instance)
            else:
                check(claim, instance)
    except TooCostlyError as error:
        reason, code = str(error), REFUSED
    except CertificateError as error:
        reason, code = str(error), 1
    objective = claim.objective if isinstance(claim, Promised) else "total"
    least, assumed = f"{claim.bound:,}", _assumed(claim)
    if isinstance(claim, SecondsCertificate):
        least = f"{claim.bound / PICOSECONDS:,.3f} s, {_model(assumed)}"
    shown = f"proven: every schedule of {instance.name} has latency >= {least}"
    if objective == "weighted":
        shown = f"proven: every schedule of {instance.name} has weighted latency >= {claim.bound:,}"
    if isinstance(claim, InTimeCertificate):
        names, unit = ("TTFT", "TPOT", "latency"), "rounds" if claim.in_rounds else "s"
        limits = " and ".join(
            f"{name} <= {limit / PICOSECONDS:.6g} {unit}"
            for name, limit in zip(names, claim.limits, strict=True)
            if limit
        )
        shown = (
            f"proven upper bound: no schedule of {instance.name} serves more than {claim.bound:,} "
            f"of {len(instance):,} requests with {limits}, {_model(assumed)}"
        )
    elif objective == "goodput":
        evicting = replicas_of(instance)[0].first_by is None
        which = "schedule" if evicting else "schedule without evictions"
        shown = (
            f"proven upper bound: no {which} of {instance.name} serves a weight above "
            f"{claim.bound:,} in time"
        )
    if reason:
        fault = "is not checked" if code == REFUSED else "does not prove its claim"
        shown = f"{certificate} {fault}: {reason}"
        if code == REFUSED:
            shown += f"; --seconds {4 * seconds:g} allows more, memory up to half of this machine's"
    data = {
        "instance": instance.name,
        "digest": instance.digest,
        "objective": objective,
        "claimed": claim.bound,
        "assumed": assumed,
        "proven": not reason,
        "refused": code == REFUSED,
        "reason": reason,
    }
    answer(json, "proof", data, shown)
    raise typer.Exit(code)


def _assumed(claim: Any) -> dict[str, Any]:
    """Return what a claim about seconds assumes, in seconds; nothing for one about rounds."""
    from ratiolab.hindsight.certificates.certificate import InTimeCertificate, SecondsCertificate
    from ratiolab.model.instance import PICOSECONDS

    if not isinstance(claim, SecondsCertificate | InTimeCertificate):
        return {}
    if getattr(claim, "in_rounds", False):
        return {"preemption": claim.preemption}
    clock, tick = [part / PICOSECONDS for part in claim.clock], claim.tick / PICOSECONDS
    return {"preemption": claim.preemption, "clock": clock, "tick_seconds": tick}


def _model(assumed: dict[str, Any]) -> str:
    """Return what a claim about seconds assumes, in words."""
    evictions = f"if evictions are of kind {assumed['preemption']}"
    if "clock" not in assumed:
        return evictions
    batch, prefill, decode, kv = (f"{part:.6g}" for part in assumed["clock"])
    return (
        f"{evictions}, a tick of the arrivals lasts {assumed['tick_seconds']:.6g} s, and a batch "
        f"takes {batch} s + {prefill} s per token prefilled + {decode} s per request decoding + "
        f"{kv} s per token of cache read"
    )
