"""Certificates with one number changed: none may pass that does not prove what it claims."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    numbers_check,
    read_certificate,
    write_certificate,
)
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.model import FormatError, Instance


def certify_changed(
    path: Path,
    certificate: Certificate,
    instance: Instance,
    change: Callable[[dict[str, Any]], Any],
) -> int:
    """What a certificate proves whose file was changed, and its check digits made anew."""
    write_certificate(certificate, path)
    data = json.loads(path.read_text())
    kind, present = data["kind"], set(data)
    change(data)
    if present <= set(data):  # digits are of all numbers: a missing one is refused before them
        data["check"] = numbers_check(kind, data)
    path.write_text(json.dumps(data))
    return certify(read_certificate(path), instance)


def changed(data: dict[str, Any], name: str, place: int) -> dict[str, Any]:
    """With one more in a field: the number itself, or one in a list, or in a list of it."""
    if isinstance(data[name], int):
        data[name] += 1 + place
    elif isinstance(data[name][0], int):
        data[name][place % len(data[name])] += 1
    else:
        row = data[name][place % len(data[name])]
        row[place % len(row)] += 1
    return data


def outcomes(
    path: Path, instance: Instance, kind: str, names: tuple[str, ...], places: range
) -> Iterator[tuple[str, int | None]]:
    """What each change of a certificate file proves once its check digits are made anew.

    With the old digits it must be refused. Yields the changed field, and None when refused.
    """
    original = path.read_text()
    for name in names:
        for place in places:
            data = changed(json.loads(original), name, place)
            path.write_text(json.dumps(data))
            with pytest.raises((FormatError, CertificateError)):
                certify(read_certificate(path), instance)
            data["check"] = numbers_check(kind, data)
            path.write_text(json.dumps(data))
            try:
                yield name, certify(read_certificate(path), instance)
            except (FormatError, CertificateError):
                yield name, None
