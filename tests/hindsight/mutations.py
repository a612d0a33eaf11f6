"""Certificates with one number changed: none may pass that does not prove what it claims."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ratiolab.hindsight.certificates.certificate import numbers_check
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import FormatError

Change: TypeAlias = Callable[[dict[str, Any]], Any]

HEAD = ("format", "instance", "digest", "kind", "check")
"""Keys that check digits leave out, as they do a bound that follows from the numbers."""


def digits(data: dict[str, Any], head: Sequence[str] = HEAD) -> str:
    """The check digits of a file; whoever changes a file can make them anew."""
    more = ("bound",) if data.get("kind") in ("prices", "steps", "growth") else ()
    return numbers_check({name: data[name] for name in data if name not in (*head, *more)})


def breaks_each_rule(fixture: str, changes: Sequence[tuple[Change, str]]) -> Callable[..., None]:
    """A test that each change of the certificate of a fixture is refused, and with which words.

    The fixture is of an instance and its certificate. With the old digits a change is refused, too.
    """

    @pytest.mark.parametrize(("change", "message"), changes)
    def test(tmp_path: Path, request: pytest.FixtureRequest, change: Change, message: str) -> None:
        instance, certificate = request.getfixturevalue(fixture)
        path = tmp_path / "c.json"
        write_certificate(certificate, path)
        assert read_certificate(path) == certificate
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))
        with pytest.raises((FormatError, CertificateError)):
            certify(read_certificate(path), instance)
        data["check"] = digits(data)
        path.write_text(json.dumps(data))
        with pytest.raises((FormatError, CertificateError), match=message):
            certify(read_certificate(path), instance)

    return test
