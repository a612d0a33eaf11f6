"""The dynamic program over cells and its checker: bounds meet the optimum, and none is above it."""

from dataclasses import replace
from itertools import count, product

import numpy as np
import pytest
from mutations import Change, breaks_each_rule
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight import solve
from ratiolab.hindsight.cells import master
from ratiolab.hindsight.cells.delays import Delays
from ratiolab.hindsight.cells.engine import CellProgram, Proof
from ratiolab.hindsight.cells.kernels import (
    CELL_BITS,
    FAR,
    ONE,
    Edges,
    Labels,
    Problem,
    settled,
    with_delays,
)
from ratiolab.hindsight.cells.master import Master, problem_of
from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.certificate import CellCertificate, cell_certificate
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.effort import TooCostlyError, allowing
from ratiolab.hindsight.certificates.tables import table_weights
from ratiolab.hindsight.params import CellsParams
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, list_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.streams import stream
from ratiolab.workloads.generators import generate


class Run:
    """A run of the program from a poor schedule, with all that it finds."""

    def __init__(self, instance: Instance, seed: int, asked: int = 10**9, **numbers: int) -> None:
        rng = stream(seed, "search")
        self.instance = instance
        self.best = list_schedule(instance, rng.permutation(len(instance)))
        self.proofs: list[Proof] = []
        params = CellsParams(**numbers)  # type: ignore[arg-type]
        questions = count()
        stop = lambda: next(questions) > asked  # noqa: E731
        program = CellProgram(instance, lambda: self.upper, stop, self._found, params)
        program.run(self.best.starts, lambda: seed % 3 == 0)

    @property
    def upper(self) -> int:
        """Return the latency of the best schedule."""
        return self.best.total_latency

    @property
    def lower(self) -> int:
        """Return the best bound; the sum of the outputs is one."""
        bounds = [proof.bound for proof in self.proofs]
        return max([int(self.instance.output.sum()), *bounds])

    @property
    def certificates(self) -> list[CellCertificate]:
        """Return a certificate for each bound."""
        return [proof.certificate(self.instance) for proof in self.proofs]

    def _found(self, schedule: Schedule | None, proof: Proof | None) -> None:
        if schedule is not None and schedule.total_latency < self.upper:
            self.best = require_feasible(schedule)
        if proof is not None:
            self.proofs.append(proof)


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(block, marks=pytest.mark.long) for block in range(1, 4))]
)
def test_bounds_and_schedules_meet_in_the_optimum_and_the_checker_agrees(block: int) -> None:
    for seed in range(20_000 + 32 * block, 20_032 + 32 * block):
        instance = tiny(seed, most=7, longest=9)
        optimum = tiny_optimum(instance).latency
        assert optimum is not None
        cells, width = (1, 4, 16, 64)[seed % 4], (1, 3, 20, 10_000)[seed // 4 % 4]
        run = Run(instance, seed, cells=cells, width=width, wider=seed % 3)
        assert run.lower == optimum == run.upper
        for certificate in run.certificates[-1:]:
            assert certify(certificate, instance) == certificate.bound
            with pytest.raises(CertificateError):
                certify(replace(certificate, bound=optimum + 1), instance)


def test_the_first_tables_are_tables_at_any_memory() -> None:
    for memory in (2, 3, 4, 5, 7, 11, 200, 5_000):
        two = Instance("two", memory, [0, 0], [0, 0], [1, 2])
        master = Master(problem_of(two), np.array([0, 1]), CellsParams())
        for table in master.tables:
            weights = table_weights(1, table, master.grid)
            assert weights[-1, 0] == table.cap


def test_configurations_on_a_coarse_grid_prove_the_optimum_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = 0
    for seed in range(24):
        monkeypatch.setattr(master, "GRID", 2 + seed % 7)
        instance = tiny(seed, most=7, longest=9)
        optimum = tiny_optimum(instance).latency
        run = Run(instance, 3 * seed + 1, cells=4)
        assert run.lower == optimum == run.upper
        for certificate in run.certificates:
            assert certify(certificate, instance) == certificate.bound
            tables += len(certificate.tables)
    assert tables


def test_a_narrow_pass_proves_a_smaller_bound_and_never_a_false_one() -> None:
    """With one label a layer the limit falls, and what is proven stays below the optimum."""
    fell = 0
    for seed in range(30):
        instance = tiny(seed, most=7, longest=9)
        optimum = tiny_optimum(instance).latency
        run = Run(instance, seed, asked=30, width=1, growth=2)
        assert optimum is not None
        assert run.lower <= optimum <= run.upper
        fell += run.lower < optimum
    assert fell


def test_no_schedule_waits_less_than_its_delays() -> None:
    """Every choice of starts within their cells that memory admits waits as long as is claimed."""
    delayed = 0
    for seed in range(400):
        rng = stream(seed, "instance")
        n, width, cells = int(rng.integers(2, 5)), int(rng.integers(1, 5)), 3
        boundary, prompt = width * cells, rng.integers(0, 6, n)
        output, own = rng.integers(1, 12, n), np.sort(rng.integers(0, cells, n))
        left = own * width + rng.integers(0, width, n)
        arrival = np.maximum(0, left - rng.integers(0, 4, n))
        after = left + output > boundary
        room = int((prompt + output)[after].max(initial=0) + rng.integers(0, 15))
        problem = Problem(arrival, prompt, output, np.full(n, -1), room)
        least = int((left - arrival).sum())
        numbers = np.arange(n) << CELL_BITS | own
        cost, ended = with_delays.__wrapped__(
            *(problem, numbers, left, n, -1, boundary, width, least, 0)
        )
        times = np.arange(boundary + 1, boundary + 24)[:, None]
        for starts in product(*(range(a, (c + 1) * width) for a, c in zip(left, own, strict=True))):
            p = np.array(starts)
            runs = after & (p < times) & (times <= p + output)
            if (np.where(runs, prompt + times - p, 0).sum(axis=1) <= room).all():
                assert cost <= (p - arrival).sum()
                assert ended <= (p - arrival)[~after].sum()
        delayed += cost > least
    assert delayed > 40


def _conversations(scale: int) -> Instance:
    rng = stream(7, "instance")
    prompt, output = rng.integers(200, 900, 8), rng.integers(20, 200, 8)
    return Instance("eight", 2_048 * scale, np.zeros(8, int), prompt * scale, output * scale)


def test_memory_of_thousands_of_tokens_is_solved_to_proof() -> None:
    result = solve(_conversations(1))
    assert result.status == "optimal"
    assert result.lower_source == "cells"
    assert certify(result.certificate, result.instance) == result.upper


def test_more_requests_than_a_word_holds_are_declined_with_a_note() -> None:
    columns = np.zeros(70, int), np.full(70, 60), np.arange(1, 71)
    result = solve(Instance("many", 200, *columns), time_limit=0.5, threads=1)
    notes = {stage.name: stage.note for stage in result.stages}
    assert "70 requests, more than 62" in notes["cells"]


def test_lists_with_delays_are_schedules_and_find_what_lists_do_not() -> None:
    """Smallest volume first waits for nobody; the optimum lets a small request wait."""
    better = 0
    for seed in range(16):
        instance = tiny(seed, most=7, longest=9)
        first = best_list_schedule(instance)
        search = Delays(problem_of(instance), first.starts, np.random.default_rng(seed))
        search.step()
        found = require_feasible(Schedule.from_starts(instance, search.starts))
        assert tiny_optimum(instance).latency <= found.total_latency <= first.total_latency
        better += found.total_latency < first.total_latency
    assert better


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


def garbage(instance: Instance, seed: int) -> tuple[tuple[int, int, int], ...]:
    """Rows of arbitrary times, pieces and prices."""
    rng = np.random.default_rng(seed)
    scale = 2 ** int(rng.integers(10, 27))
    rows = {
        (int(rng.integers(1, 60)), int(rng.integers(0, 5))): int(rng.integers(0, scale))
        for _ in range(rng.integers(0, 12))
    }
    return tuple(sorted((t, k, price) for (t, k), price in rows.items()))


def test_any_prices_prove_the_optimum_at_single_rounds_and_none_proves_more() -> None:
    for seed in range(24):
        instance = drawn(seed)
        least = least_latency(instance) if seed % 2 else optimum(instance)
        rows, ahead = garbage(instance, seed), garbage(instance, seed + 1) * (seed % 3 > 0)
        made = cell_certificate(instance, least, rows, 2 ** (seed % 6), ahead=ahead)
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
    made = Run(instance, 1, cells=4, width=10).certificates[-1]
    assert made.bound == optimum(instance)
    assert made.width > 1
    assert len(made.rows) > 3
    assert made.tables
    assert made.ahead
    return instance, made


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
    (lambda d: d["rows"][-1].__setitem__(1, 2**60), "no table"),
    (lambda d: d.update(grid=0), "must be positive"),
    (lambda d: d.update(grid=d["grid"] - 1), "weighs|is no item|is proven|a schedule has"),
    (lambda d: d["tables"].pop(), "no table"),
    (lambda d: d["ahead"][0].__setitem__(2, -1), "row ahead 0: time"),
    (lambda d: d["ahead"][0].__setitem__(2, 2**60), "too large"),
    (lambda d: d["ahead"].reverse(), "must ascend"),
    (lambda d: d["tables"][0].__setitem__(0, d["tables"][0][0] - 1), "the cap is"),
    (lambda d: d["tables"][0].__setitem__(0, -1), "is negative"),
    (lambda d: d["tables"][0].__setitem__(3, 2**58), "too large"),
    (lambda d: d["tables"][0].__setitem__(1, 0), "is no item"),
    (lambda d: d["tables"][0].pop(), "must hold a cap"),
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
    with allowing(1e-2), pytest.raises(TooCostlyError, match="too long"):
        certify(replace(made, bound=made.bound + 50), instance)
    with allowing(60):
        assert certify(made, instance) == made.bound
    monkeypatch.setattr(effort, "MOST_BYTES", 50_000)
    with pytest.raises(TooCostlyError, match="bytes, more than 5e"):
        certify(made, instance)
    with allowing(3_000 * effort.MOST_STEPS / 10**6):  # so much longer, so many more bytes
        assert certify(made, instance) == made.bound
        monkeypatch.setattr(effort, "half_of_memory", lambda: 25_000)
        with pytest.raises(TooCostlyError, match="bytes, more than 5e"):
            certify(made, instance)


def test_a_check_counts_delays_where_all_have_started() -> None:
    instance = generate("trace-conversations", 5, n=14, memory=16_492, load=0)
    result = solve(instance, time_limit=30)
    assert result.status == "optimal"
    with allowing(0.3):
        assert certify(result.certificate, instance) == result.lower


@pytest.mark.parametrize("third", [False, True])
def test_a_label_is_dropped_when_each_of_its_transitions_exceeds_one_of_the_limits(third):
    # 0 -> 1 -> 2 waits long, 0 -> 1 -> 3 has large reduced costs; a third one exceeds no limit
    steps = [(0, 1, 1, 0), (1, 2, 100, 0), (1, 3, 1, 100 * ONE), (1, 3, 2, 3)]
    edges = Edges(*np.array(steps[: 3 + third]).T.copy())
    started, cost, zero = np.array([0, 1, 3, 3]), np.array([0, 1, 2, 2]), np.zeros(4, np.int64)
    running = np.zeros((2, 4, 1), np.int32)
    labels = Labels(started, *running, cost, *(zero.copy() for _ in range(5)))
    number, _, kept = settled(labels, edges, 3, 0, 10 * ONE)
    assert (number[:2] >= 0).tolist() == [third, third]
    assert kept.tolist() == ([0, 3] if third else [])
    assert labels.rest[:2].tolist() == ([3, 2] if third else [FAR, FAR])
