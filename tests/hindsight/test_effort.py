"""Small files that ask for gigabytes or minutes are refused before anything is built."""

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clock import counted_calls

from ratiolab.cli import REFUSED, main
from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    DualCertificate,
    GrowthCertificate,
    PathCertificate,
    PromiseCertificate,
)
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.certify_promises import certify_promises
from ratiolab.hindsight.certificates.duals import Duals, GrowthDuals, Table
from ratiolab.hindsight.certificates.effort import (
    LARGEST_FILE,
    CertificateError,
    TooCostlyError,
    allowing,
)
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import FormatError, Instance, write_instance

HUGE = 10**4000
TWO = Instance("two", 4, [0, 0], [1, 1], [2, 2])
LATE = Instance("late", 4, [0, 10**9], [1, 1], [2, 2])
LONG = Instance("long", 10**6, [0, 0], [1, 1], [10**5, 10**5])
WIDE = Instance("wide", 10**4, [0], [1], [2])
DEEP = Instance("deep", 2000, [0], [1], [2])
FLAT = Duals(1, (1,) * 5, (), ())
CUTS = Duals(1, (1,) * 3000, (Table(1, ()),), ((0, 1, 3001, 1),) * 20_000)
STEPS = GrowthDuals(1, 0, (2**22,), (HUGE,))
ROWS = GrowthDuals(1, 0, (2**22,), (1,), ((1, 1),) * 16, ((1,),) * 16)
ITEMS = Duals(1, (1,), (Table(9, ((1, 0, 1),) * 50),), ())
HOSTILE: dict[str, tuple[Callable[..., Certificate], Instance, tuple[Any, ...]]] = {
    "paths, a late arrival": (PathCertificate, LATE, (FLAT, 1, (0, 0), (0,))),
    "numbers of thousands of digits": (GrowthCertificate, TWO, (STEPS,)),
    "growth rows over many times": (GrowthCertificate, TWO, (ROWS,)),
    "long outputs": (DualCertificate, LONG, (Duals(1, (1,) * 5000, (), ()),)),
    "a table of much memory": (DualCertificate, WIDE, (replace(ITEMS, tables=(Table(1, ()),)),)),
    "a table of many items": (DualCertificate, DEEP, (ITEMS,)),
    "paths under many cuts": (PathCertificate, TWO, (CUTS, 1, (0, 0), (0,))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_certificate_is_refused_before_anything_is_built(name: str) -> None:
    kind, instance, proof = HOSTILE[name]
    certificate = kind(instance.name, instance.digest, 1, 1, *proof)
    tracemalloc.start()
    with pytest.raises(TooCostlyError, match=r"checking takes up to .* more than .*: refused"):
        certify(certificate, instance)
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()


def test_a_bound_far_above_a_schedule_asks_for_no_layers_by_the_million() -> None:
    ones = Instance("ones", 2, [0, 0], [1, 1], [1, 1])
    far = PathCertificate("ones", ones.digest, 10**6, 2, Duals(1, (), (), ()), 1, (1, 1), (0,))
    tracemalloc.start()
    with pytest.raises(TooCostlyError, match=r"checking takes up to .* more than"):
        certify(far, ones)
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()


def test_a_weighted_bound_has_no_numbers_of_thousands_of_digits() -> None:
    one = Instance("one", 2, [0], [1], [1], weight=[1])
    claim = PromiseCertificate(
        "one", one.digest, 1, "weighted", 1, GrowthDuals(1, 0, (2,), (HUGE,))
    )
    with pytest.raises(TooCostlyError, match="thousands of digits"):
        certify_promises(claim, one)


@pytest.mark.parametrize("number", [np.int64(2**61), 2.0, None])
def test_a_proof_has_integers_of_python_alone(number: Any) -> None:
    """Those of numpy overflow: 2 * 2^62 duals would prove a bound of 2^62."""
    claim = DualCertificate("two", TWO.digest, 2**62, 2**62, Duals(1, (number,) * 3, (), ()))
    with pytest.raises(CertificateError, match=r"integers of Python, not .*(numpy|float|NoneType)"):
        certify(claim, TWO)


MANY = Instance("many", 10**6, [0] * 600, [1] * 600, [1000] * 600)
FINE = GrowthDuals(1, 0, tuple(range(1, 20_001)), tuple(10**6 * (k % 8 > 0) for k in range(20_000)))


@pytest.mark.parametrize("kind", ["steps", "growth"])
def test_a_proof_of_minutes_is_refused_at_once_and_taken_on_demand(kind: str) -> None:
    """A hundred kilobytes of runs that every request may wait through: 10^8 pieces and more."""
    certificate: Certificate
    if kind == "steps":
        certificate = GrowthCertificate(MANY.name, MANY.digest, 1, 1, FINE)
    else:
        duals = GrowthDuals(FINE.denominator, 0, FINE.ends, FINE.token, (), ())
        certificate = GrowthCertificate(MANY.name, MANY.digest, 1, 1, duals)
    with (
        allowing(1),  # a million steps
        counted_calls() as calls,
        pytest.raises(TooCostlyError, match=r"checking takes up to .* steps"),
    ):
        certify(certificate, MANY)
    assert calls.number <= 10**6
    small = replace(FINE, ends=FINE.ends[:200], token=FINE.token[:200])
    few = MANY.take([0, 1, 2])
    cheap = GrowthCertificate(few.name, few.digest, 1, 1, small)
    with allowing(1e-4), pytest.raises(TooCostlyError):
        certify(cheap, few)
    with allowing(5), pytest.raises(CertificateError, match="value 1 is claimed"):
        certify(cheap, few)


def test_a_refusal_has_an_exit_code_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, instance, proof = HOSTILE["paths, a late arrival"]
    write_instance(instance, tmp_path / "i.json")
    write_certificate(kind("late", instance.digest, 1, 1, *proof), tmp_path / "c.json")
    assert (tmp_path / "c.json").stat().st_size < 400
    words = ["certify", str(tmp_path / "c.json"), str(tmp_path / "i.json")]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--json"])
    assert ended.value.code == REFUSED == 3
    said = json.loads(capsys.readouterr().out)
    assert (said["proven"], said["refused"]) == (False, True)
    with pytest.raises(SystemExit):
        main(words)
    printed = capsys.readouterr().out
    assert "is not checked: " in printed
    assert "--seconds 120 allows more" in printed


def test_a_file_of_too_many_numbers_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("[" + "0," * (LARGEST_FILE // 2) + "0]")
    with pytest.raises(FormatError, match=f"has more than {LARGEST_FILE} bytes"):
        read_certificate(tmp_path / "c.json")
