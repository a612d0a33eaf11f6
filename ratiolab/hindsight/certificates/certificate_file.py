"""The file format of certificates, a model for each kind of proof."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, RootModel
from pydantic import Strict as Strictness
from pydantic.types import FailFast
from pydantic_core import PydanticCustomError

from ratiolab.hindsight.certificates.certificate import (
    CellCertificate,
    Certificate,
    DualCertificate,
    FormulaCertificate,
    GrowthCertificate,
    InTimeCertificate,
    PathCertificate,
    PromiseCertificate,
    SecondsCertificate,
)
from ratiolab.hindsight.certificates.duals import Duals, GrowthDuals, Table
from ratiolab.model.eviction import Preemption
from ratiolab.model.validation import Strict, absent

_FROM_LIST = Strictness(False)  # JSON has no tuples


def _table(row: tuple[int, ...]) -> tuple[int, ...]:
    if len(row) % 3 != 1:
        raise PydanticCustomError("table", "must hold a cap and then m, r, weight of each item")
    return row


def _tables(rows: Iterable[tuple[int, ...]]) -> tuple[Table, ...]:
    columns = ((cap, rest[::3], rest[1::3], rest[2::3]) for cap, *rest in rows)
    return tuple(Table(cap, tuple(zip(m, r, w, strict=True))) for cap, m, r, w in columns)


Integers: TypeAlias = Annotated[tuple[int, ...], _FROM_LIST, FailFast()]
TableRow: TypeAlias = Annotated[Integers, AfterValidator(_table)]
Cut: TypeAlias = Annotated[tuple[int, int, int, int], _FROM_LIST]
PricedRow: TypeAlias = Annotated[tuple[int, int, int], _FROM_LIST]
GrowthRow: TypeAlias = Annotated[tuple[int, int], _FROM_LIST]


class _File(Strict):
    format: Literal["ratiolab-certificate/1"]
    instance: str
    """Name of the instance."""
    digest: str
    """Digest of the instance."""
    bound: int
    """No schedule has less total latency."""
    replicas: int = absent()
    """Number of replicas, if several; the digest is then that of their fleet."""


class FormulaFile(_File):
    """A bound that a formula gives."""

    kind: Literal["formula"]
    source: str
    """The name of the formula among `ratiolab.hindsight.bounds`."""
    function: str = "identity"
    """The dual feasible function that tokens are weighed by."""

    def certificate(self) -> Certificate:
        """Return the claim of the file."""
        claim = self.instance, self.digest, self.bound, self.source
        return FormulaCertificate(*claim, function=self.function)


class ProofFile(_File):
    """A bound that numbers prove, tied together by check digits."""

    check: str
    """Twelve hexadecimal digits of SHA-256 over the numbers."""


class CellsFile(ProofFile):
    """A bound that a dynamic program over cells of rounds proves, or prices of rows alone."""

    nouns: ClassVar[dict[str, str]] = {"rows": "row {}:"}

    kind: Literal["cells"]
    rows: Annotated[tuple[PricedRow, ...], _FROM_LIST, FailFast()]
    """Time, table and price of each row, ascending; prices are in units of 2^-24 rounds. Table 0
    weighs tokens."""
    width: int
    """Rounds of a cell of the first level, a power of two; 0 when the prices alone prove it."""
    grid: int = absent()
    """Memory of the tables, tokens; without it table k weighs tokens on a grid of k."""
    tables: Annotated[list[TableRow], FailFast()] = absent()
    """Of each table from 1 on its cap, then m, r, weight of the items at which it rises."""
    ahead: Annotated[tuple[PricedRow, ...], _FROM_LIST, FailFast()] = absent()
    """Rows with the prices of what lies ahead of a label, where they are others."""

    def certificate(self) -> Certificate:
        """Return the claim of the file."""
        claim = self.instance, self.digest, self.bound, self.rows, self.width
        tables = _tables(self.tables or ())
        return CellCertificate(*claim, self.grid or 0, tables, self.ahead or ())


class _ValueFile(ProofFile):
    denominator: int
    """D: duals, value and costs are this many times what they stand for."""
    value: int
    """D times the Lagrangian bound."""


class _StepsFile(_ValueFile):
    kind: str
    begin: int
    """No time up to this one has a dual."""
    ends: Integers
    """Last times of the runs, ascending."""
    token: Integers
    """D times the dual of a token, a value for each run."""


class StepDualsFile(_StepsFile):
    """A bound that duals of memory prove, constant over runs of times."""

    kind: Literal["steps"]

    def certificate(self) -> GrowthCertificate:
        """Return the claim of the file; ValueError unless there is a dual for each run."""
        _require_duals(self)
        duals = GrowthDuals(self.denominator, self.begin, self.ends, self.token)
        return GrowthCertificate(self.instance, self.digest, self.bound, self.value, duals)


class _GrowthFile(_StepsFile):
    rows: Annotated[tuple[GrowthRow, ...], _FROM_LIST, FailFast()]
    """Of each growth row m0 and w."""
    growth: Annotated[tuple[Integers, ...], _FROM_LIST, FailFast()]
    """Of each growth row D times its dual, a value for each run."""

    @property
    def duals(self) -> GrowthDuals:
        """Return the duals."""
        runs = self.denominator, self.begin, self.ends, self.token
        return GrowthDuals(*runs, self.rows, self.growth)


class GrowthDualsFile(_GrowthFile):
    """A bound that duals of memory and of growth rows prove, constant over runs of times."""

    kind: Literal["growth"]

    def certificate(self) -> GrowthCertificate:
        """Return the claim of the file; ValueError unless there is a dual for each row and run."""
        wanted = [len(self.ends)] * len(self.rows)
        if [len(row) for row in self.growth] != wanted:
            raise ValueError(f"growth must hold {len(self.ends)} numbers for each of the rows")
        _require_duals(self)
        return GrowthCertificate(self.instance, self.digest, self.bound, self.value, self.duals)


def _require_duals(file: _StepsFile) -> None:
    """Raise `ValueError` unless there is a dual of memory for each run."""
    if len(file.ends) != len(file.token):
        wanted = f"{len(file.ends)} numbers, as ends does, not {len(file.token)}"
        raise ValueError(f"token must hold {wanted}")


class PromiseFile(_GrowthFile):
    """A bound on weighted latency, or on the weight served in time, that duals prove.

    The bound of kind "goodput" is an upper bound: no schedule serves more weight in time.
    """

    kind: Literal["weighted", "goodput"]

    def certificate(self) -> PromiseCertificate:
        """Return the claim of the file; the checker looks at the numbers of duals."""
        claim = self.instance, self.digest, self.bound, self.kind
        return PromiseCertificate(*claim, self.value, self.duals)


class _DualsFile(_ValueFile):
    nouns: ClassVar[dict[str, str]] = {"tables": "table {}:", "cuts": "cut {}:"}

    kind: str
    memory: Integers
    """D times the duals of the memory rows at times 1..T."""
    tables: Annotated[list[TableRow], FailFast()]
    """Of each table its cap, then m, r, weight of the items at which it rises."""
    cuts: Annotated[tuple[Cut, ...], _FROM_LIST, FailFast()]
    """Table, begin, end, and D times the dual of the table at times begin <= t < end."""

    @property
    def duals(self) -> Duals:
        """Return the duals."""
        return Duals(self.denominator, self.memory, _tables(self.tables), self.cuts)


class DualsFile(_DualsFile):
    """A bound that duals of memory and cuts prove."""

    kind: Literal["prices"]

    def certificate(self) -> Certificate:
        """Return the claim of the file."""
        return DualCertificate(self.instance, self.digest, self.bound, self.value, self.duals)


class PathsFile(_DualsFile):
    """A bound that backward labelling passes prove, under duals and multipliers."""

    kind: Literal["paths-back", "paths-merged"]
    unit: int
    """U: multipliers are this many times what they stand for."""
    multipliers: Integers
    """U times the multiplier of each request."""
    passes: Integers = (0,)
    """Of each pass the requests that start exactly once, a bit each."""
    width: int = Field(default=0, ge=0)
    """States that a layer may keep of a pass that merges them, which "paths-merged" has alone."""

    def certificate(self) -> Certificate:
        """Return the claim of the file."""
        claim = (self.instance, self.digest, self.bound, self.value, self.duals)
        return PathCertificate(*claim, self.unit, self.multipliers, self.passes, self.width)


class _ClockFile(ProofFile):
    preemption: Preemption
    """Semantics of evictions."""
    clock: Annotated[tuple[int, int, int, int], _FROM_LIST]
    """Picoseconds: fixed, prefill, decode, kv."""
    tick: int
    """Picoseconds of a tick."""

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the fields of the claim."""
        names = ("format", "kind", "check")
        return {name: each for name, each in dict(self).items() if name not in names}


class SecondsFile(_ClockFile):
    """A bound in picoseconds that prices of machine time prove, under a clock.

    `ratiolab.hindsight.certificates.certificate` says what the numbers are.
    """

    kind: Literal["seconds"]
    unit: int
    """Picoseconds of the unit of times and works."""
    width: int
    """Units of a cell of time."""
    groups: int
    """Into which the tokens of a request after its first are divided."""
    row: Annotated[tuple[int, int], _FROM_LIST]
    """Tokens and rounds of a growth row, [0, 0] for none."""
    levels: Integers
    """Works, falling."""
    price: Integers
    """Prices of machine time in the cells, times 2^20."""
    decoding: Integers
    """Roots of done work of decoding requests, times 2^10."""
    prefilled: Annotated[tuple[Integers, ...], _FROM_LIST, FailFast()]
    """Prefills of running requests by level, units."""

    def certificate(self) -> Certificate:
        """Return the claim of the file."""
        return SecondsCertificate(**self.numbers)


class InTimeFile(_ClockFile):
    """An upper bound on the requests in time that prices of machine time prove, under a clock.

    `ratiolab.hindsight.certificates.certificate` says what the numbers are.
    """

    kind: Literal["in-time"]
    limits: Annotated[tuple[int, int, int], _FROM_LIST]
    """Picoseconds of time to first token, time per output token and latency; 0 for no limit."""
    begin: int
    """Picosecond at which the first bucket of time begins."""
    width: int
    """Picoseconds of a bucket."""
    price: Integers
    """Prices of machine time in the buckets, times 2^30."""

    def certificate(self) -> InTimeCertificate:
        """Return the claim of the file."""
        return InTimeCertificate(**self.numbers)


class CertificateFile(
    RootModel[
        Annotated[
            FormulaFile
            | StepDualsFile
            | GrowthDualsFile
            | PromiseFile
            | DualsFile
            | PathsFile
            | CellsFile
            | SecondsFile
            | InTimeFile,
            Field(discriminator="kind"),
        ]
    ]
):
    """A proof of a lower bound on the total latency of all schedules of an instance."""

    place: ClassVar[Any] = DualsFile.place
