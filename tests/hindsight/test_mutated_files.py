"""Thousands of changed certificates: each is refused, or proves no more than the optimum."""

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batches import drawn_case, least_picoseconds
from mutations import HEAD, digits

from ratiolab.hindsight import solve
from ratiolab.hindsight.certificates.certificate import Certificate, cell_certificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.certify_seconds import seconds_value
from ratiolab.hindsight.certificates.effort import allowing
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.relaxation.growth import growth_bounds
from ratiolab.model import FormatError, Instance
from ratiolab.seconds.certified_bound import seconds_certificate

ODD = (-1, 0, 1, 10**18, 2**63, -(2**63), 10**400, 1.5, "x", None, True, [], {}, [[]], [0] * 999)


def drawn(n: int, seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    arrival, prompt = np.sort(rng.integers(0, n, n)), rng.integers(0, 3, n)
    return Instance("drawn", 14, arrival, prompt, rng.integers(1, 8, n))


def growth(seed: int) -> tuple[Instance, Certificate, int]:
    instance = drawn(14, seed)
    *_, made = growth_bounds(instance)
    return instance, made, solve(instance).upper


def cuts(seed: int) -> tuple[Instance, Certificate, int]:
    instance = drawn(9, seed)
    return instance, cut_bound(instance, rounds=4).certificate, solve(instance).upper


def cells(seed: int, width: int = 2) -> tuple[Instance, Certificate, int]:
    """Prices at some times, which a search with cells of some rounds completes to a proof."""
    instance, rng = drawn(7, seed), np.random.default_rng(seed)
    rows = [(t, k, int(rng.integers(0, 2**20))) for t in range(1, 20, 3) for k in range(3)]
    optimum = solve(instance).upper
    return instance, cell_certificate(instance, optimum, rows, width), optimum


def paths(seed: int) -> tuple[Instance, Certificate, int]:
    """With 9 requests a proof from both ends, with 13 from one."""
    instance = drawn(9 if seed % 2 else 13, seed)
    found = solve(instance, method="certified", threads=1)
    return instance, found.certificate, found.upper


def seconds(seed: int) -> tuple[Instance, Certificate, int]:
    instance, clock = drawn_case(seed)
    best = least_picoseconds(instance, clock, evictions=True)
    return instance, seconds_certificate(instance, clock, "recompute", cells=20), best


def growing(seed: int) -> tuple[Instance, Certificate, int]:
    """With a growth row, which holds where nothing is evicted."""
    instance, clock = drawn_case(seed)
    best = least_picoseconds(instance, clock, evictions=False)
    claim = seconds_certificate(instance, clock, "restart", cells=20)
    claim = replace(claim, row=(3, 2))
    return instance, replace(claim, bound=seconds_value(claim, instance)), best


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all values of a JSON value, lists included."""
    if isinstance(value, dict):
        return [p for key, each in value.items() for p in places(each, (*path, key))]
    if isinstance(value, list):
        return [path, *(p for k, each in enumerate(value) for p in places(each, (*path, k)))]
    return [path]


def changed(data: dict[str, Any], all_places: list[tuple[Any, ...]], rng: random.Random) -> None:
    """Change a value: a number a little, anything to something odd, a list in its order."""
    path = rng.choice(all_places)
    inner: Any = data
    try:
        for step in path[:-1]:
            inner = inner[step]
        value = inner[path[-1]]
    except (KeyError, IndexError, TypeError):
        return  # an earlier change has removed it
    if isinstance(inner, str):
        return  # an earlier change has put it there
    match rng.randrange(5):
        case 0 | 1 if type(value) is int:
            inner[path[-1]] = value + rng.choice([1, -1, 2, -2, value, rng.randint(-99, 99)])
        case 2:
            inner[path[-1]] = rng.choice(ODD)
        case 3:
            del inner[path[-1]]
        case _ if isinstance(value, list) and value:
            rng.shuffle(value)


def changed_copies(
    whole: dict[str, Any],
    number: int,
    rng: random.Random,
    *,
    head: Sequence[str] = HEAD,
    changes: Sequence[int] = (1, 1, 2),
) -> Iterator[dict[str, Any]]:
    """Yield copies of a certificate's file with some changes each, most with new check digits.

    Whoever changes a file can make its digits anew; they are over all that is not in the head.
    """
    all_places = places(whole)
    for _ in range(number):
        data = copy.deepcopy(whole)
        for _ in range(rng.choice(changes)):
            changed(data, all_places, rng)
        if rng.random() < 0.8:
            data["check"] = digits(data, head)
        yield data


@pytest.mark.parametrize(
    ("make", "seed", "number"),
    [
        (growth, 1, 150),
        (cuts, 2, 150),
        (cells, 4, 150),
        (paths, 3, 150),
        (seconds, 7, 250),
        (growing, 7, 250),
        *(
            pytest.param(make, seed, 5000, marks=pytest.mark.slow)
            for make in (growth, cuts, cells, paths, seconds, growing)
            for seed in (5, 6)
        ),
    ],
)
def test_a_changed_file_is_refused_or_proves_no_more_than_the_optimum(
    make: Any, seed: int, number: int, tmp_path: Path
) -> None:
    instance, made, optimum = make(seed)
    path, rng = tmp_path / "proof.json", random.Random(seed)
    write_certificate(made, path)
    whole = json.loads(path.read_text())
    assert certify(read_certificate(path), instance) == made.bound <= optimum
    ended = Counter[str]()
    for data in changed_copies(whole, number, rng, changes=(1, 1, 1, 2, 3)):
        path.write_text(json.dumps(data))
        try:
            with allowing(0.3):
                bound = certify(read_certificate(path), instance)
        except (CertificateError, FormatError):
            ended["refused"] += 1
        else:
            ended["proved"] += 1
            assert bound <= optimum, data
    assert ended["refused"] > number // 2
    assert ended["proved"] > 0
