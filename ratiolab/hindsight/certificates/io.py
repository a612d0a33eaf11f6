"""Certificates as files: written from a claim, and read back by the models of their kinds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ratiolab.hindsight.certificates.certificate import (
    CellCertificate,
    Certificate,
    DualCertificate,
    FormulaCertificate,
    GrowthCertificate,
    InTimeCertificate,
    PromiseCertificate,
    Promised,
    SecondsCertificate,
    numbers_check,
)
from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.certificates.effort import LARGEST_FILE
from ratiolab.model.files import FormatError, PathLike, json_lines, write_text
from ratiolab.model.instance import shown

CERTIFICATE_FORMAT = "ratiolab-certificate/1"


def write_certificate(certificate: Certificate | Promised, path: PathLike) -> None:
    """Write a certificate as JSON, in one step."""
    data: dict[str, Any] = {
        "format": CERTIFICATE_FORMAT,
        "instance": certificate.instance,
        "digest": certificate.digest,
        "bound": certificate.bound,
    }
    kind, numbers = _numbers(certificate)
    data |= {"kind": kind, **numbers}
    if kind != "formula":
        data["check"] = numbers_check(numbers)
    write_text(path, json_lines(data))


def _numbers(certificate: Certificate | Promised) -> tuple[str, dict[str, Any]]:
    """Return the kind of a proof, and its numbers or its formula, with the replicas if several."""
    kind, numbers = _own_numbers(certificate)
    several = {"replicas": certificate.replicas} if certificate.replicas != 1 else {}
    return kind, several | numbers


def _own_numbers(certificate: Certificate | Promised) -> tuple[str, dict[str, Any]]:
    if isinstance(certificate, FormulaCertificate):
        named = {"function": certificate.function} if certificate.function != "identity" else {}
        return "formula", {"source": certificate.source, **named}
    if isinstance(certificate, CellCertificate):
        own: dict[str, Any] = {"rows": certificate.rows, "width": certificate.width}
        if certificate.grid or certificate.tables:
            own |= {"grid": certificate.grid, "tables": _table_rows(certificate.tables)}
        if certificate.ahead:
            own["ahead"] = certificate.ahead
        return "cells", {"bound": certificate.bound, **own}
    if isinstance(certificate, (SecondsCertificate, InTimeCertificate)):
        claimed = {"bound": certificate.bound}
        kind = "seconds" if isinstance(certificate, SecondsCertificate) else "in-time"
        return kind, claimed | {
            name: each
            for name, each in vars(certificate).items()
            if name not in ("instance", "digest", "bound", "replicas")
        }
    duals: Any = certificate.duals
    numbers = {"denominator": duals.denominator, "value": certificate.value, **vars(duals)}
    if isinstance(certificate, PromiseCertificate):
        return certificate.objective, numbers
    if isinstance(certificate, GrowthCertificate):
        if duals.rows:
            return "growth", numbers
        del numbers["rows"], numbers["growth"]
        return "steps", numbers
    numbers["tables"] = _table_rows(duals.tables)
    if isinstance(certificate, DualCertificate):
        return "prices", numbers
    numbers = {"bound": certificate.bound, **numbers}
    own = {"unit": certificate.unit, "multipliers": certificate.multipliers}
    if certificate.width:
        return "paths-merged", {**numbers, **own, "width": certificate.width}
    return "paths-back", {**numbers, **own, "passes": certificate.passes}


def _table_rows(tables: Sequence[Table]) -> list[list[int]]:
    return [[table.cap, *chain(*table.items)] for table in tables]


def read_certificate(path: PathLike) -> Certificate | Promised:
    """Read a certificate; nothing in it is believed beyond its types.

    Raises
    ------
    FormatError
        when the file cannot be read or is not of this format.
    """
    from ratiolab.hindsight.certificates.certificate_file import CertificateFile, ProofFile
    from ratiolab.model.validation import read_file

    file = read_file(path, CERTIFICATE_FORMAT, CertificateFile, largest=LARGEST_FILE).root
    try:
        claim = replace(file.certificate(), replicas=1 if file.replicas is None else file.replicas)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None
    if isinstance(file, ProofFile) and file.check != numbers_check(_numbers(claim)[1]):
        raise FormatError(f"{path}: check {shown(file.check)} is not that of the numbers")
    return claim
