"""Certificates of lower bounds as files: small, and all that a checker needs beside the instance.

A file of format ``ratiolab-certificate/1`` is a JSON object; ``kind`` says how it proves its bound:

- ``formula``: a bound of `ratiolab.hindsight.bounds`, which the checker computes afresh;
- ``prices``: duals of memory and cuts (`ratiolab.hindsight.relaxation.lagrangian`);
- ``steps``: duals of memory alone, for many requests and rounds;
- ``growth``: such duals, and duals of growth rows (`ratiolab.hindsight.certificates.duals`);
- ``paths-back`` and ``paths-merged``: duals, a multiplier for each request, and the critical sets
  and widths of labelling passes, which the checker repeats
  (`ratiolab.hindsight.certificates.certify_paths`);
- ``weighted`` and ``goodput``: such duals, for weighted latency, and for the weight served in time
  (`ratiolab.hindsight.certificates.certify_promises`);
- ``cells``: prices of rows, alone or with a dynamic program over cells of rounds that they guide,
  which the checker does again (`ratiolab.hindsight.certificates.certify_cells`);
- ``seconds``: prices of machine time under a clock; the bound is in picoseconds
  (`ratiolab.hindsight.certificates.certify_seconds`);
- ``in-time``: such prices, for the requests in time under a clock
  (`ratiolab.hindsight.certificates.certify_promises`).

`ratiolab.hindsight.certificates.certificate_file` describes the fields of each kind, and
``ratiolab schema certificate`` prints them. Numbers come with ``check``, twelve hexadecimal digits
of their SHA-256: a change that leaves a valid proof shows, too.

`ratiolab.hindsight.certificates.certify` checks what they prove.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from ratiolab.hindsight.certificates.duals import Duals, GrowthDuals, Table
from ratiolab.model.eviction import Preemption
from ratiolab.model.fleet import Fleet, memories_of
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import PICOSECONDS, Instance


@dataclass(frozen=True)
class _Claim:
    """A claim: no schedule of the instance with this digest has a total latency below ``bound``.

    With several replicas the claim is about their fleet, whose digest it has.
    """

    instance: str
    digest: str
    bound: int
    replicas: int = field(default=1, kw_only=True)


@dataclass(frozen=True)
class _DualClaim(_Claim):
    """A claim with duals and the bound that they prove, ``value`` over their denominator."""

    value: int
    duals: Duals = field(repr=False)


@dataclass(frozen=True)
class FormulaCertificate(_Claim):
    """The claim that a bound of `ratiolab.hindsight.bounds` has this value.

    ``function`` names the dual feasible function that tokens are weighed by.
    """

    source: str
    function: str = field(default="identity", kw_only=True)


@dataclass(frozen=True)
class DualCertificate(_DualClaim):
    """The claim that these duals prove ``bound``, the integer at or above value / denominator."""

    source: ClassVar[str] = "duals of cuts and memory"


@dataclass(frozen=True)
class GrowthCertificate(_Claim):
    """The claim that these duals prove ``bound``, the integer at or above value / denominator."""

    value: int
    duals: GrowthDuals = field(repr=False)

    @property
    def source(self) -> str:
        """The kind of proof, in words."""
        return "duals of memory and growth" if self.duals.rows else "duals of memory"


@dataclass(frozen=True)
class PromiseCertificate(_Claim):
    """The claim that these duals prove a bound on another objective than total latency.

    ``weighted``: no schedule has less weighted latency than ``bound``. ``goodput``: no schedule
    serves more weight in time. ``value`` over the denominator is the least cost: weighted latency,
    or lost weight.
    """

    objective: Literal["weighted", "goodput"]
    value: int
    duals: GrowthDuals = field(repr=False)

    @property
    def source(self) -> str:
        """The kind of proof, in words."""
        return "duals of memory and growth" if self.duals.rows else "duals of memory"


@dataclass(frozen=True)
class PathCertificate(_DualClaim):
    """The claim that labelling under these duals and multipliers finds no path below ``bound``.

    Parameters
    ----------
    unit : scaling factor of the multipliers.
    passes : requests that each pass makes start exactly once, a bit each. All go backward in time,
        each bounded by the completion bounds of the passes before.
    width : states that a layer may keep of the only pass, which watches no request and merges all
        states beyond; zero when nothing is merged.
    """

    source: ClassVar[str] = "labelling"

    unit: int
    multipliers: tuple[int, ...] = field(repr=False)
    passes: tuple[int, ...] = field(repr=False)
    width: int = 0


@dataclass(frozen=True)
class CellCertificate(_Claim):
    """The claim that a dynamic program over cells of rounds finds no schedule below ``bound``.

    Parameters
    ----------
    rows : time, table and price of each row, in ascending order; prices are in units of
        2^-24 rounds. `ratiolab.hindsight.certificates.certify_cells` says what a row is.
    width : rounds of a cell of the first level, a power of two; 0 when the prices alone prove it.
    grid : memory of the tables, tokens; 0 when each row has a grid of its own, see `table_of`.
    tables : weights of items on the grid.
    ahead : rows with the prices of what lies ahead of a label; none where they are the same.
    """

    rows: tuple[tuple[int, int, int], ...] = field(repr=False)
    width: int
    grid: int = 0
    tables: tuple[Table, ...] = field(default=(), repr=False)
    ahead: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)

    def table_of(self, number: int) -> tuple[int, Table]:
        """Return the grid and the table that a row names by a number from 1 on.

        Without a grid, the table of number k lets k pieces run: it weighs tokens on a grid of k.
        """
        if self.grid:
            return self.grid, self.tables[number - 1]
        return number, Table(number, tuple((m, 0, m) for m in range(1, number + 1)))

    @property
    def source(self) -> str:
        """Return what the bound comes from, in words."""
        return "dynamic programming over cells" if self.width else "prices of rows"


@dataclass(frozen=True)
class SecondsCertificate(_Claim):
    """The claim that no schedule under a clock has a total latency below ``bound`` picoseconds.

    `ratiolab.hindsight.certificates.certify_seconds` says what duals prove it.

    Parameters
    ----------
    preemption : what an eviction costs.
    clock : picoseconds of a batch, of a token prefilled, of a request decoding, and of a token of
        cache read.
    tick : picoseconds of a tick of the instance.
    unit : picoseconds of the unit of all times below.
    width : width of a cell of time.
    groups : into which the tokens of a request after its first are divided.
    row : tokens and rounds of a growth row, which only ``restart`` allows; (0, 0) for none.
    levels : works between which pairs of prefilled requests are told apart, falling.
    price, decoding : of each cell the price, in 2^-20, and S, in 2^-10.
    prefilled : of each level G of each cell.
    """

    preemption: Preemption
    clock: tuple[int, int, int, int]
    tick: int
    unit: int
    width: int
    groups: int
    row: tuple[int, int]
    levels: tuple[int, ...] = field(repr=False)
    price: tuple[int, ...] = field(repr=False)
    decoding: tuple[int, ...] = field(repr=False)
    prefilled: tuple[tuple[int, ...], ...] = field(repr=False)

    source: ClassVar[str] = "prices of machine time"


@dataclass(frozen=True)
class InTimeCertificate(_Claim):
    """The claim that no schedule under a clock serves more than ``bound`` requests in time.

    Parameters
    ----------
    preemption, clock, tick : as for `SecondsCertificate`.
    limits : picoseconds of time to first token, of time per output token, and of latency; 0 where
        there is no limit.
    begin, width : beginning of the first bucket of time and length of each, picoseconds.
    price : what all work that fits into a bucket pays, in 2^-30 of a request.
    """

    preemption: Preemption
    clock: tuple[int, int, int, int]
    tick: int
    limits: tuple[int, int, int]
    begin: int
    width: int
    price: tuple[int, ...] = field(repr=False)

    objective: ClassVar[str] = "goodput"
    source: ClassVar[str] = "prices of machine time"

    @property
    def in_rounds(self) -> bool:
        """Return whether a batch and a tick last one second each, as where rounds are counted."""
        return self.clock == (PICOSECONDS, 0, 0, 0) and self.tick == PICOSECONDS


CertificateWithDuals: TypeAlias = DualCertificate | PathCertificate
Certificate: TypeAlias = (
    FormulaCertificate
    | GrowthCertificate
    | CellCertificate
    | SecondsCertificate
    | CertificateWithDuals
)


Promised: TypeAlias = PromiseCertificate | InTimeCertificate
"""Certificates of other objectives than total latency."""


def path_certificate(
    proven: DualCertificate,
    bound: int,
    unit: int,
    multipliers: IntArray,
    passes: tuple[int, ...],
    width: int = 0,
) -> PathCertificate:
    """Return the certificate of a bound by labelling under the duals of another certificate."""
    return PathCertificate(
        *(proven.instance, proven.digest, bound, proven.value, proven.duals),
        *(unit, tuple(multipliers.tolist()), passes, width),
    )


def dual_certificate(given: Instance | Fleet, duals: Duals, value: int) -> DualCertificate:
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
    _, memories = memories_of(given)
    return DualCertificate(given.name, given.digest, bound, value, kept, replicas=len(memories))


def cell_certificate(
    instance: Instance,
    bound: int,
    rows: Iterable[tuple[int, int, int]],
    width: int,
    grid: int = 0,
    tables: Sequence[Table] = (),
    ahead: Iterable[tuple[int, int, int]] = (),
) -> CellCertificate:
    """Return the certificate of a bound by prices of rows and a dynamic program over cells.

    Tables without a row are left out.
    """
    own, rest = (sorted((int(t), int(k), int(price)) for t, k, price in r) for r in (rows, ahead))
    if grid:
        used = sorted({k for _, k, _ in own + rest} - {0})
        number = {k: new for new, k in enumerate([0, *used])}
        own, rest = ([(t, number[k], price) for t, k, price in r] for r in (own, rest))
        tables = [tables[k - 1] for k in used]
    if not width or own == rest:
        rest = []
    claim = instance.name, instance.digest, int(bound)
    return CellCertificate(*claim, tuple(own), int(width), grid, tuple(tables), tuple(rest))


def numbers_check(numbers: Mapping[str, Any]) -> str:
    """Return the digits that tie the numbers of a file together."""
    return hashlib.sha256(json.dumps([*numbers.values()]).encode()).hexdigest()[:12]
