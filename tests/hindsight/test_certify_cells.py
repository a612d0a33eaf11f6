"""A bound by cells of rounds is accepted when no schedule is below it, and never otherwise."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import Change, breaks_each_rule, outcomes
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.cli.schema import schema_of
from ratiolab.hindsight.cells.engine import CellProgram, Proof
from ratiolab.hindsight.certificates import certify_cells, effort
from ratiolab.hindsight.certificates.cell_starts import Requests, earliest
from ratiolab.hindsight.certificates.certificate import CellCertificate, cell_certificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.hindsight.params import CellsParams
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance
from ratiolab.model.footprint import IntArray
from ratiolab.model.schedule import Schedule


def drawn(seed: int) -> Instance:
    """Few requests, or more memory than those of `tiny` have, of which some are equal."""
    if seed % 2:
        return tiny(seed // 2, most=6, longest=8)
    rng = np.random.default_rng(seed)
    n, memory = int(rng.integers(2, 7)), int(rng.integers(6, 21))
    output = rng.integers(1, memory, n)
    prompt = rng.integers(0, memory - output + 1)
    arrival = rng.integers(0, memory, n) * (seed % 4 == 0)
    copied = rng.integers(0, n, n) if seed % 3 == 0 else np.arange(n)
    return Instance(f"drawn {seed}", memory, *(c[copied] for c in (arrival, prompt, output)))


def optimum(instance: Instance) -> int:
    latency = tiny_optimum(instance).latency
    assert latency is not None
    return latency


def proofs(instance: Instance, params: CellsParams, seed: int) -> list[CellCertificate]:
    """Of all bounds that the dynamic program finds from a poor schedule on."""
    order = np.random.default_rng(seed).permutation(len(instance))
    best = list_schedule(instance, order)
    upper, made = best.total_latency, []

    def found(schedule: Schedule | None, proof: Proof | None) -> None:
        nonlocal upper
        if schedule is not None:
            upper = min(upper, schedule.total_latency)
        if proof is not None:
            rows = zip(*(column.tolist() for column in proof.rows), strict=True)
            made.append(cell_certificate(instance, proof.bound, rows, proof.width))

    program = CellProgram(instance, lambda: upper, lambda: False, found, params)
    program.run(best.starts.copy(), lambda: seed % 5 == 0)
    return made


def garbage(instance: Instance, seed: int) -> tuple[tuple[int, int, int], ...]:
    """Rows of arbitrary times, pieces and prices."""
    rng = np.random.default_rng(seed)
    scale = 2 ** int(rng.integers(10, 27))
    rows = {
        (int(rng.integers(1, 60)), int(rng.integers(0, 5))): int(rng.integers(0, scale))
        for _ in range(rng.integers(0, 12))
    }
    return tuple(sorted((t, k, price) for (t, k), price in rows.items()))


def test_each_bound_of_the_dynamic_program_is_accepted_and_no_latency_above_the_optimum() -> None:
    accepted = 0
    for seed in range(160):
        instance = drawn(seed)
        least = optimum(instance)
        cells, width = (1, 2, 4, 16, 64)[seed % 5], (10_000, 1, 3, 20)[seed % 4]
        for made in proofs(instance, CellsParams(cells=cells, width=width), seed):
            assert made.bound <= least, seed
            assert certify(made, instance) == made.bound, seed
            accepted += 1
            more = replace(made, bound=max(least, made.bound) + 1)
            with pytest.raises(CertificateError, match=f"{least}$|{made.bound} is proven"):
                certify(more, instance)
    assert accepted > 160


def test_any_prices_prove_the_optimum_at_single_rounds_and_none_proves_more() -> None:
    for seed in range(80):
        instance = drawn(seed)
        least = least_latency(instance) if seed % 2 else optimum(instance)
        made = cell_certificate(instance, least, garbage(instance, seed), 2 ** (seed % 6))
        assert certify(made, instance) == least, seed
        for more in (1, 3):
            with pytest.raises(CertificateError, match=f"a schedule has {least}$"):
                certify(replace(made, bound=least + more), instance)
        with pytest.raises(CertificateError, match="is proven") as refused:
            certify(replace(made, bound=least + 1, width=0), instance)
        assert int(str(refused.value).split()[-3]) <= least


@pytest.fixture(scope="module")
def eight() -> tuple[Instance, CellCertificate]:
    instance = Instance(
        "eight",
        40,
        [0, 0, 0, 0, 3, 3, 9, 9],
        [2, 3, 5, 9, 2, 7, 4, 4],
        [5, 9, 20, 31, 8, 8, 12, 12],
    )
    made = proofs(instance, CellsParams(cells=4), 1)[-1]
    assert made.bound == optimum(instance)
    assert made.width > 1
    assert len(made.rows) > 3
    return instance, made


def test_a_file_keeps_everything(tmp_path: Path, eight: tuple[Instance, CellCertificate]) -> None:
    instance, made = eight
    for width in (made.width, 0):
        claim = replace(made, width=width)
        write_certificate(claim, tmp_path / "c.json")
        assert read_certificate(tmp_path / "c.json") == claim
    assert certify(made, instance) == made.bound
    assert made.source == "dynamic programming over cells"
    assert "CellsFile" in schema_of("certificate")["$defs"]


def test_no_changed_number_proves_more_than_the_optimum(
    tmp_path: Path, eight: tuple[Instance, CellCertificate]
) -> None:
    instance, made = eight
    path, number, steps = tmp_path / "c.json", 0, (-(2**20), -5, -1, 1, 5, 2**20)
    for claim in (made, replace(made, width=0, bound=proven_by_prices(made, instance))):
        for names, places in ((("rows", "width"), range(0, 80, 3)), (("bound",), range(3))):
            for proven in bounds_of(path, claim, instance, names, places, steps):
                number += 1
                assert proven is None or proven <= made.bound
    assert number > 600


def bounds_of(path: Path, *change: Any) -> Iterator[int | None]:
    with allowing(0.3):
        yield from (proven for _, proven in outcomes(path, *change))


def proven_by_prices(made: CellCertificate, instance: Instance) -> int:
    with pytest.raises(CertificateError) as refused:
        certify(replace(made, width=0, bound=10**6), instance)
    return int(str(refused.value).split()[-3])


CHANGES: tuple[tuple[Change, str], ...] = (
    (lambda d: d.update(digest="0" * 12), "digest"),
    (lambda d: d.update(bound=d["bound"] + 1), "a schedule has"),
    (lambda d: d.update(width=0), "is proven"),
    (lambda d: d.update(width=3), "power of two"),
    (lambda d: d.update(width=-1), "power of two"),
    (lambda d: d.update(width=2**30), "too late"),
    (lambda d: d.update(width=1.5), "must be an integer"),
    (lambda d: d["rows"][0].__setitem__(2, -1), "row 0: time"),
    (lambda d: d["rows"][0].__setitem__(0, 0), "row 0: time"),
    (lambda d: d["rows"][0].__setitem__(1, -1), "row 0: time"),
    (lambda d: d["rows"][0].__setitem__(2, 2**60), "too large"),
    (lambda d: d["rows"][-1].__setitem__(1, 2**60), "too large"),
    (lambda d: d["rows"][-1].__setitem__(0, 2**40), "too late"),
    (lambda d: d.update(bound=2**60), "too large"),
    (lambda d: d["rows"].append(d["rows"][-1]), "must ascend"),
    (lambda d: d["rows"].reverse(), "must ascend"),
    (lambda d: d["rows"][1].append(1), "at most 3"),
    (lambda d: d.pop("rows"), "rows is missing"),
    (lambda d: d.update(value=1), "unknown key 'value'"),
)

test_each_rule = breaks_each_rule("eight", CHANGES)


def test_no_bound_is_proven_for_more_requests_than_a_word_has_bits() -> None:
    many = Instance("many", 4, [0] * 63, [1] * 63, [1] * 63)
    with pytest.raises(CertificateError, match="63 requests"):
        certify(cell_certificate(many, 64, [], 1), many)
    most = Instance("most", 40, [0] * 62, [1] * 62, [1] * 62)
    least = sum(1 + i // 20 for i in range(62))
    assert certify(cell_certificate(most, least, [], 4), most) == least


HOSTILE: dict[str, tuple[Instance, int, list[tuple[int, int, int]], int]] = {
    "long outputs": (Instance("long", 10**6, [0] * 9, [1] * 9, [9 * 10**5] * 9), 10**7, [], 1),
    "a late arrival": (Instance("late", 9, [0, 10**7], [1, 1], [2, 2]), 10**4, [], 1),
    "many rows": (
        Instance("rows", 10**6, [0] * 62, [1] * 62, [9 * 10**4] * 62),
        10**7,
        [(t, 0, 1) for t in range(1, 10**5)],
        0,
    ),
    "a bound of millions of layers": (Instance("two", 4, [0, 0], [1, 1], [2, 2]), 2**30, [], 1),
    "sets of 62 requests": (Instance("free", 10**4, [0] * 62, range(62), [9] * 62), 2**20, [], 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_certificate_is_refused(name: str) -> None:
    instance, bound, rows, width = HOSTILE[name]
    with allowing(0.2), pytest.raises(CertificateError) as refused:
        certify(cell_certificate(instance, bound, rows, width), instance)
    assert isinstance(refused.value, TooCostlyError) or "a schedule has" in str(refused.value)


def test_a_check_that_takes_too_much_is_refused_and_taken_on_demand(
    monkeypatch: pytest.MonkeyPatch, eight: tuple[Instance, CellCertificate]
) -> None:
    instance, made = eight
    with allowing(3e-3), pytest.raises(TooCostlyError, match="too long"):
        certify(replace(made, bound=made.bound + 50), instance)
    with allowing(60):
        assert certify(made, instance) == made.bound
    monkeypatch.setattr(effort, "MOST_BYTES", 50_000)
    with pytest.raises(TooCostlyError, match=r"memory|bytes"):
        certify(made, instance)


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certify_cells, "ROWS", (1, 4))


@pytest.mark.usefixtures("small_buffers")
def test_small_buffers_find_the_same(eight: tuple[Instance, CellCertificate]) -> None:
    instance, made = eight
    assert certify(made, instance) == made.bound
    with pytest.raises(CertificateError, match=f"a schedule has {made.bound}$"):
        certify(replace(made, bound=made.bound + 9), instance)


def test_the_earliest_start_is_the_first_that_fits_at_all_times() -> None:
    found = 0
    for seed in range(3000):
        rng = np.random.default_rng(seed)
        n, memory = int(rng.integers(1, 6)), int(rng.integers(8, 25))
        output = rng.integers(1, 9, n)
        prompt = rng.integers(0, memory - output + 1) // int(rng.integers(1, 4))
        none = np.zeros(n, np.int64)
        requests = Requests(none, prompt, output, none - 1, memory)
        who = np.arange(n)
        last = rng.integers(0, 8, n)
        end = last - rng.integers(0, 4, n) + output
        total = [holdings(requests, last, end, t, n - 1) for t in end.tolist()]
        begin = int(rng.integers(0, 6))
        start = earliest(
            *(requests, who, last, end, n - 1, np.array(total), n - 1, begin, begin + 12)
        )
        fits = [
            p
            for p in range(begin, begin + 13)
            if all(
                holdings(requests, last, end, t, n - 1) + prompt[-1] + t - p <= memory
                for t in range(p + 1, p + int(output[-1]) + 1)
            )
        ]
        assert start == (fits[0] if fits else -1), seed
        found += start > begin
    assert found > 300


def holdings(requests: Requests, last: IntArray, end: IntArray, time: int, count: int) -> int:
    """Tokens that the first requests certainly hold at a time."""
    held = (last < time) & (time <= end) & (np.arange(len(last)) < count)
    return int((requests.prompt + time - last)[held].sum())
