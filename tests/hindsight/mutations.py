"""Certificates with one number changed: none may pass that does not prove what it claims."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ratiolab.hindsight.certificates.certificate import Certificate, numbers_check
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import FormatError, Instance

Change: TypeAlias = Callable[[dict[str, Any]], Any]


NAMES = {"format", "instance", "digest", "kind", "check"}
"""Keys that check digits leave out; they are of a bound only where a search has to confirm it."""


def digits(data: dict[str, Any]) -> str:
    """The check digits of a file."""
    names = NAMES | ({"bound"} if data["kind"] in ("prices", "steps", "growth") else set())
    return numbers_check({name: data[name] for name in data if name not in names})


def certify_changed(
    path: Path,
    certificate: Certificate,
    instance: Instance,
    change: Change,
) -> int:
    """What a certificate proves whose file was changed, and its check digits made anew."""
    write_certificate(certificate, path)
    data = json.loads(path.read_text())
    change(data)
    data["check"] = digits(data)
    path.write_text(json.dumps(data))
    return certify(read_certificate(path), instance)


STEP_CHANGES: tuple[tuple[Change, str], ...] = (
    (lambda d: d.update(digest="0" * 12), "digest"),
    (lambda d: d.update(bound=d["bound"] + 1), "is proven"),
    (lambda d: d.update(value=d["value"] + 1), "the duals prove"),
    (lambda d: d.update(denominator=0), "denominator 0"),
    (lambda d: d.update(denominator=1.5), "must be an integer"),
    (lambda d: d["token"].__setitem__(0, -1), "run 0 is negative"),
    (lambda d: d["token"].__setitem__(0, True), "True must be an integer"),
    (lambda d: d["token"].append(1), "token must hold"),
    (lambda d: d["ends"].__setitem__(1, d["ends"][0]), "run 1 ends at"),
    (lambda d: d["ends"].__setitem__(-1, 10**9), "duals reach over|up to"),
    (lambda d: d.pop("begin"), "begin is missing"),
    (lambda d: d.update(memory=[1]), "unknown key 'memory'"),
)
"""Changes of a certificate whose duals are constant over runs of times, and the refusals."""


def changed(data: dict[str, Any], name: str, place: int, by: int) -> dict[str, Any]:
    """With more in a field: the number itself, or one in a list, or in a list of it."""
    if isinstance(data[name], int):
        data[name] += by * (1 + place)
    elif isinstance(data[name][0], int):
        data[name][place % len(data[name])] += by
    else:
        row = data[name][place % len(data[name])]
        row[place % len(row)] += by
    return data


def outcomes(
    path: Path,
    certificate: Certificate,
    instance: Instance,
    names: tuple[str, ...],
    places: range,
    steps: tuple[int, ...] = (1,),
) -> Iterator[tuple[str, int | None]]:
    """What each change of a certificate file proves once its check digits are made anew.

    With the old digits it must be refused. Yields the changed field, and None when refused.
    """
    write_certificate(certificate, path)
    original = path.read_text()
    for name, place, by in product(names, places, steps):
        data = changed(json.loads(original), name, place, by)
        path.write_text(json.dumps(data))
        with pytest.raises((FormatError, CertificateError)):
            certify(read_certificate(path), instance)
        data["check"] = digits(data)
        path.write_text(json.dumps(data))
        try:
            yield name, certify(read_certificate(path), instance)
        except (FormatError, CertificateError):
            yield name, None


def assert_no_other_bound(
    path: Path,
    certificate: Certificate,
    instance: Instance,
    names: tuple[str, ...],
    places: range,
    refused: float,
) -> None:
    """Most changes are refused; a number that matters to no start may change, the bound may not."""
    stated = ("bound", "denominator", "value")
    found = list(outcomes(path, certificate, instance, stated + names, places, steps=(-1, 1)))
    assert len(found) > 100
    assert all(proven in (None, certificate.bound) for _, proven in found)
    assert all(proven is None for name, proven in found if name in stated)
    assert sum(proven is None for _, proven in found) > refused * len(found)


def breaks_each_rule(fixture: str, changes: Sequence[tuple[Change, str]]) -> Callable[..., None]:
    """A test that each change of the certificate of a fixture is refused, and with which words."""

    @pytest.mark.parametrize(("change", "message"), changes)
    def test(tmp_path: Path, request: pytest.FixtureRequest, change: Change, message: str) -> None:
        instance, certificate = request.getfixturevalue(fixture)
        with pytest.raises((FormatError, CertificateError), match=message):
            certify_changed(tmp_path / "c.json", certificate, instance, change)

    return test


def keeps_everything(fixture: str, size: int) -> Callable[..., None]:
    """A test that a file of the certificate of a fixture keeps all of it, in fewer bytes."""

    def test(tmp_path: Path, request: pytest.FixtureRequest) -> None:
        _, certificate = request.getfixturevalue(fixture)
        path = tmp_path / "c.json"
        write_certificate(certificate, path)
        assert read_certificate(path) == certificate
        assert path.stat().st_size < size

    return test
