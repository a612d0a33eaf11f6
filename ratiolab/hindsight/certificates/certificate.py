"""Certificates of lower bounds as files: small, and all that a checker needs beside the instance.

A file of format ``ratiolab-certificate/1`` is a JSON object; ``kind`` says how it proves its bound:

- ``formula``: a bound of `ratiolab.hindsight.bounds`, which the checker computes afresh;
- ``prices``: duals of memory and cuts (`ratiolab.hindsight.relaxation.lagrangian`);
- ``steps``: duals of memory alone, for many requests and rounds;
- ``growth``: such duals, and duals of growth rows (`ratiolab.hindsight.certificates.growth_duals`);
- ``layers``: duals, and a search guided by them that excludes every schedule of a smaller latency,
  which the checker does again;
- ``paths``: duals, a multiplier for each request, and what walks from both ends of time remember,
  which the checker does again (`ratiolab.hindsight.certificates.certify_paths`).

`ratiolab.hindsight.certificates.certificate_file` describes the fields of each kind, and
``ratiolab schema certificate`` prints them. Duals come with ``check``, twelve hexadecimal digits of
SHA-256 over their numbers: a change that leaves a valid proof shows, too.

`ratiolab.hindsight.certificates.certify` checks what they prove.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, TypeAlias

from ratiolab.hindsight.certificates.duals import Duals, StepDuals
from ratiolab.hindsight.certificates.effort import LARGEST_FILE
from ratiolab.hindsight.certificates.growth_duals import GrowthDuals
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.io import FormatError, PathLike, json_lines, write_text

CERTIFICATE_FORMAT = "ratiolab-certificate/1"
_NUMBERS = {
    "prices": ("denominator", "value", "memory", "tables", "cuts"),
    "layers": ("bound", "denominator", "value", "memory", "tables", "cuts"),
    "paths": (
        *("bound", "denominator", "value", "memory", "tables", "cuts"),
        *("unit", "multipliers", "passes"),
    ),
    "steps": ("denominator", "value", "begin", "ends", "token"),
    "growth": ("denominator", "value", "begin", "ends", "token", "rows", "growth"),
}


@dataclass(frozen=True)
class _Claim:
    """A claim: no schedule of the instance with this digest has a total latency below ``bound``."""

    instance: str
    digest: str
    bound: int


@dataclass(frozen=True)
class _DualClaim(_Claim):
    """A claim with duals and the bound that they prove, ``value`` over their denominator."""

    value: int
    duals: Duals = field(repr=False)


@dataclass(frozen=True)
class FormulaCertificate(_Claim):
    """The claim that a bound of `ratiolab.hindsight.bounds` has this value."""

    source: str


@dataclass(frozen=True)
class DualCertificate(_DualClaim):
    """The claim that these duals prove ``bound``, the integer at or above value / denominator."""

    source: ClassVar[str] = "duals of cuts and memory"


@dataclass(frozen=True)
class StepDualCertificate(_Claim):
    """The claim that these duals prove ``bound``, the integer at or above value / denominator."""

    source: ClassVar[str] = "duals of memory"
    value: int
    steps: StepDuals = field(repr=False)


@dataclass(frozen=True)
class GrowthCertificate(_Claim):
    """The claim that these duals prove ``bound``, the integer at or above value / denominator."""

    source: ClassVar[str] = "duals of memory and growth"
    value: int
    duals: GrowthDuals = field(repr=False)


@dataclass(frozen=True)
class DynamicProgrammingCertificate(_DualClaim):
    """The claim that a search which these duals guide finds no schedule below ``bound``."""

    source: ClassVar[str] = "dynamic programming"


@dataclass(frozen=True)
class PathCertificate(_DualClaim):
    """The claim that walks under these duals and multipliers find no path below ``bound``.

    Parameters
    ----------
    unit : of multipliers: they are so many times what they stand for.
    passes : requests that each pass makes start exactly once, a bit each; the first pass goes
        backward in time, and directions alternate.
    """

    source: ClassVar[str] = "walks from both ends"
    unit: int
    multipliers: tuple[int, ...] = field(repr=False)
    passes: tuple[int, ...] = field(repr=False)


CertificateWithDuals: TypeAlias = DualCertificate | DynamicProgrammingCertificate | PathCertificate
CertificateInRuns: TypeAlias = StepDualCertificate | GrowthCertificate
Certificate: TypeAlias = FormulaCertificate | CertificateInRuns | CertificateWithDuals


def path_certificate(
    proven: DualCertificate, bound: int, unit: int, multipliers: IntArray, passes: tuple[int, ...]
) -> PathCertificate:
    """Return the certificate of a bound by walks under the duals of another certificate."""
    return PathCertificate(
        *(proven.instance, proven.digest, bound, proven.value, proven.duals),
        *(unit, tuple(multipliers.tolist()), passes),
    )


def dual_certificate(instance: Instance, duals: Duals, value: int) -> DualCertificate:
    """Return the certificate of duals whose exact bound is value over their denominator.

    Tables without a dual are left out.
    """
    used = sorted({cut[0] for cut in duals.cuts})
    number = {table: new for new, table in enumerate(used)}
    kept = Duals(
        duals.denominator,
        duals.memory,
        tuple(duals.tables[table] for table in used),
        tuple((number[table], begin, end, dual) for table, begin, end, dual in duals.cuts),
    )
    bound = -(-value // duals.denominator)
    return DualCertificate(instance.name, instance.digest, bound, value, kept)


def write_certificate(certificate: Certificate, path: PathLike) -> None:
    """Write a certificate as JSON, in one step."""
    data: dict[str, Any] = {
        "format": CERTIFICATE_FORMAT,
        "instance": certificate.instance,
        "digest": certificate.digest,
        "bound": certificate.bound,
    }
    if isinstance(certificate, FormulaCertificate):
        data |= {"kind": "formula", "source": certificate.source}
    else:
        kind, numbers = _numbers(certificate)
        data |= {"kind": kind, **numbers, "check": numbers_check(kind, numbers)}
    write_text(path, json_lines(data))


def _numbers(certificate: CertificateInRuns | CertificateWithDuals) -> tuple[str, dict[str, Any]]:
    """Return the kind and numbers of a proof by duals."""
    if isinstance(certificate, StepDualCertificate):
        steps = certificate.steps
        return "steps", {
            "denominator": steps.denominator,
            "value": certificate.value,
            "begin": steps.begin,
            "ends": steps.ends,
            "token": steps.token,
        }
    if isinstance(certificate, GrowthCertificate):
        growth = certificate.duals
        return "growth", {
            "denominator": growth.denominator,
            "value": certificate.value,
            "begin": growth.begin,
            "ends": growth.ends,
            "token": growth.token,
            "rows": growth.rows,
            "growth": growth.growth,
        }
    duals = certificate.duals
    numbers = {
        "denominator": duals.denominator,
        "value": certificate.value,
        "memory": duals.memory,
        "tables": [[table.cap, *chain(*table.items)] for table in duals.tables],
        "cuts": duals.cuts,
    }
    if isinstance(certificate, DualCertificate):
        return "prices", numbers
    numbers = {"bound": certificate.bound, **numbers}
    if isinstance(certificate, DynamicProgrammingCertificate):
        return "layers", numbers
    own = {"unit": certificate.unit, "multipliers": certificate.multipliers}
    return "paths", {**numbers, **own, "passes": certificate.passes}


def numbers_check(kind: str, data: Mapping[str, Any]) -> str:
    """Return the digits that tie the numbers of a file of this kind together."""
    numbers = json.dumps([data[name] for name in _NUMBERS[kind]])
    return hashlib.sha256(numbers.encode()).hexdigest()[:12]


def read_certificate(path: PathLike) -> Certificate:
    """Read a certificate; nothing in it is believed beyond its types.

    Raises
    ------
    FormatError
        when the file cannot be read or is not of this format.
    """
    from ratiolab.hindsight.certificates.certificate_file import CertificateFile
    from ratiolab.model.validation import read_file

    file = read_file(path, CERTIFICATE_FORMAT, CertificateFile, largest=LARGEST_FILE).root
    try:
        return file.certificate()
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None
