"""A bound by layers is accepted when no schedule is below it, and never otherwise."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mutations import outcomes
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.certificate import DynamicProgrammingCertificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.dynamic_programming.beam import beam
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import Instance


def claim(instance: Instance, bound: int, seed: int) -> DynamicProgrammingCertificate:
    """Of a bound, with duals of cuts made weak at random, whose value is what they prove."""
    rng = np.random.default_rng(seed)
    good = cut_bound(instance, rounds=seed % 3).certificate
    memory = tuple(int(price * rng.uniform(0, 1)) for price in good.duals.memory)
    duals = good.duals if seed % 5 else replace(good.duals, memory=memory)
    value = good.value
    while True:
        made = DynamicProgrammingCertificate(good.instance, good.digest, bound, value, duals)
        try:
            certify(made, instance)
        except CertificateError as error:
            if "the duals prove" not in str(error):
                return made
            value = int(str(error).rsplit(" ", 1)[1])
        else:
            return made


@pytest.mark.long
def test_the_optimum_is_accepted_and_a_round_more_is_not() -> None:
    for seed in range(100):
        instance = tiny(seed)
        optimum = least_latency(instance)
        right = claim(instance, optimum, seed)
        assert certify(right, instance) == optimum, seed
        for more in (1, 2, 9):
            with pytest.raises(CertificateError, match="a schedule has"):
                certify(replace(right, bound=optimum + more), instance)


@pytest.fixture(scope="module")
def twelve() -> tuple[Instance, DynamicProgrammingCertificate]:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, 12)
    output = [int(rng.integers(1, 30 - s + 1)) for s in prompt]
    instance = Instance("twelve", 30, [0] * 12, prompt, output)
    duals = cut_bound(instance, rounds=3).certificate
    first = list_schedule(instance, np.argsort(instance.output, kind="stable"))
    found = beam(instance, duals.duals, first, width=2_000, bounding=True)
    assert duals.bound < found.lower < found.schedule.total_latency
    made = DynamicProgrammingCertificate(
        "twelve", instance.digest, found.lower, duals.value, duals.duals
    )
    return instance, made


def test_what_a_narrow_search_proves_is_proven_again(
    tmp_path: Path, twelve: tuple[Instance, DynamicProgrammingCertificate]
) -> None:
    instance, made = twelve
    write_certificate(made, tmp_path / "c.json")
    assert certify(read_certificate(tmp_path / "c.json"), instance) == made.bound


def test_every_changed_number_is_detected(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    twelve: tuple[Instance, DynamicProgrammingCertificate],
) -> None:
    """With check digits made anew, duals that prove the same are all that passes."""
    instance, made = twelve
    monkeypatch.setattr(effort, "MOST_STATES", 50_000)
    path = tmp_path / "c.json"
    names = ("bound", "denominator", "value", "memory", "tables", "cuts")
    found = [bound for _, bound in outcomes(path, made, instance, names, range(0, 60, 12))]
    refused = found.count(None)
    assert refused > 3 * (len(found) - refused)


def test_a_claim_that_takes_too_long_to_check_is_refused(
    monkeypatch: pytest.MonkeyPatch, twelve: tuple[Instance, DynamicProgrammingCertificate]
) -> None:
    instance, made = twelve
    monkeypatch.setattr(effort, "MOST_STATES", 100)
    with pytest.raises(CertificateError, match="more than 100 states"):
        certify(made, instance)


def test_no_bound_is_proven_for_more_requests_than_a_word_has_bits() -> None:
    many = Instance("many", 4, [0] * 65, [1] * 65, [1] * 65)
    good = cut_bound(many, rounds=0).certificate
    made = DynamicProgrammingCertificate(good.instance, good.digest, 1, 0, good.duals)
    with pytest.raises(CertificateError, match="65 requests"):
        certify(made, many)
