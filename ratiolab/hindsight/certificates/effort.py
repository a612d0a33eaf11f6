"""What checking a certificate takes, estimated from its sizes before anything is built.

A file of a few hundred bytes can ask for gigabytes: a late arrival, long outputs over a long
horizon, numbers of thousands of digits. The checker estimates its memory and its steps first, both
from above, and refuses what exceeds `MOST_BYTES` or `MOST_STEPS`. A refusal is no verdict: the
certificate may be right.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import NamedTuple

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.certificates.growth_duals import GrowthDuals
from ratiolab.model.instance import Instance, shown

MOST_BYTES = 10**9
"""Most memory that checking may take, bytes."""

MOST_STEPS = 3 * 10**7
"""Most steps in plain Python, about a microsecond each: 30 seconds."""

_allowed = ContextVar("steps that checking may take", default=MOST_STEPS)

MOST_REQUESTS = 64
"""Most requests of walks: sets of started requests are compared as words."""

MOST_UNWATCHED = 400
"""Most requests of walks that watch none."""

MOST_MEMORY, MOST_ONE_WAY = 127, 255
"""Most memory of walks over paths, from both ends and from one: sums of tokens stand in a byte."""

MOST_STATES = 2 * 10**8
"""Most states of all walks of one width of a certificate, partial ones too: some minutes."""

MOST_KEPT = 8 * 10**6
"""Most states that a walk keeps, and twice those of a layer, partial ones too; one that merges
keeps a layer.

More than `ratiolab.hindsight.labelling.walk.MOST_STATES` of walks that find: those of the checker
compare states in another way, and may keep more. Against 64 instead of 256 others, a pass of 40
requests kept more than these. A state takes 40 bytes, two for each request that runs and one for
each later time: 130 at the sizes of the papers, three times as many at most.
"""

ROOMIEST = 4.0
"""Both are as many times more where checking may take as many times longer than half a minute, up
to this: so are the walks that find where there is most time and memory."""

LONG_CHECK = 120.0
"""Seconds that checking may take of records, and of what a solve begins with."""

MOST_PAIRS = 2**15 - 1
"""Most output tokens of all requests of walks: a pair of request and age is a 16-bit number."""

MOST_CELLS = 15 * 10**6
"""Most pairs of a request and an age, times layers of walks."""

MOST_PASSES = 100
"""Most walks of a certificate."""

LARGEST_SUM = 2**60
"""Sums of the numbers of walks stay below it, so that 64-bit integers do not overflow; but for what
requests wait for together, of which too little only keeps more states."""

LARGEST_FILE = 2**23
"""Bytes of the largest certificate that is read, 8 MiB: its numbers take some hundred as many."""

LARGEST_TOLD = 10**300
"""Largest number of a message: floats hold little more."""

_OBJECT, _POINTER, _ENTRY = 32, 8, 240  # bytes of an integer, of a place in a list, in a dictionary


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Let checks inside take so many seconds in place of 30."""
    if not seconds > 0:
        raise ValueError(f"seconds {seconds:g} must be positive")
    before = _allowed.set(int(min(seconds, 10**9) * 10**6))
    try:
        yield
    finally:
        _allowed.reset(before)


def room() -> float:
    """Return how many times as many states as usual walks may take in the time allowed."""
    return min(ROOMIEST, max(1.0, _allowed.get() / MOST_STEPS))


def steps_left() -> int:
    """Return the steps that checking may take, about a microsecond each."""
    return _allowed.get()


def most_states() -> int:
    """Return the states that all walks of one width may take, partial ones too."""
    return int(room() * MOST_STATES)


def most_kept() -> int:
    """Return the states that a walk may keep."""
    return int(room() * MOST_KEPT)


class CertificateError(ValueError):
    """A certificate that does not prove what it claims."""


def require_digest(digest: str, instance: Instance) -> None:
    """Raise `CertificateError` unless a claim is about this instance."""
    if digest != instance.digest:
        raise CertificateError(
            f"digest {shown(digest)} is not that of instance {instance.name}, {instance.digest}"
        )


class TooCostlyError(CertificateError):
    """A certificate that is refused unchecked, because checking it takes too much."""


class Effort(NamedTuple):
    """Bytes and steps that checking takes, at most; a step is about a microsecond."""

    bytes: int
    steps: int

    def plus(self, other: "Effort") -> "Effort":
        """Return both together."""
        return Effort(self.bytes + other.bytes, self.steps + other.steps)

    def require_affordable(self) -> None:
        """Raise `TooCostlyError` when this is more than the checker spends."""
        for what, taken, most in (
            ("bytes", self.bytes, MOST_BYTES),
            ("steps", self.steps, _allowed.get()),
        ):
            if taken > most:
                raise TooCostlyError(
                    f"checking takes up to {min(taken, LARGEST_TOLD):.2g} {what}, more than "
                    f"{most:.2g}: refused"
                )


def steps_effort(duals: GrowthDuals) -> Effort:
    """Return what the sums over the times of such duals take; pieces are counted later."""
    rows = duals.growth
    times = max(0, duals.ends[-1] - duals.begin) if duals.ends else 0
    digits = _digits(chain((duals.denominator, duals.begin), duals.token, *rows))
    families = 1 + len(rows)
    size = 2 * families * times * (_POINTER + _number(digits + times.bit_length() * 2))
    return Effort(size, families * times * _slowness(digits) // 4)


def piece_steps(duals: GrowthDuals) -> int:
    """Return the steps of looking at one piece of a cost function, from above.

    Measured with 0 to 16 growth rows: 1.6 microseconds a piece without any, 2.3 with one, 2.9 with
    three, 4.7 with eight and with sixteen.
    """
    digits = _digits(chain((duals.denominator,), duals.token, *duals.growth))
    return (2 + (len(duals.growth) + 1) // 2) * _slowness(digits)


def duals_effort(duals: Duals, instance: Instance) -> Effort:
    """Return what the costs of all starts, the tables and the cuts take.

    A start at p of request i meets the duals of o_i times; of each time T the duals of at most all
    ages are kept.
    """
    horizon, memory = len(duals.memory), instance.memory
    digits = _digits(
        chain((duals.denominator,), duals.memory, (cut[3] for cut in duals.cuts))
    ) + _digits(chain.from_iterable((t.cap, *(w for *_, w in t.items)) for t in duals.tables))
    arrivals, outputs = instance.arrival.tolist(), instance.output.tolist()
    starts = [max(horizon - arrival, 0) + 1 for arrival in arrivals]
    pairs: int = sum(
        min(start * output, start * (start + 1) // 2)
        for start, output in zip(starts, outputs, strict=True)
    )
    spans = sum(max(0, min(end, horizon + 1) - begin) for _, begin, end, _ in duals.cuts)
    number = _number(digits)
    tables = len(duals.tables) * (memory + 1) ** 2 * _POINTER
    least = max(1, min((m for table in duals.tables for m, *_ in table.items), default=memory))
    tables += (memory // least + 2) * (memory + 1) * _POINTER * bool(duals.tables)
    size = sum(starts) * (_POINTER + number) + tables + spans * (_ENTRY // 2)
    size += min(pairs, horizon * _states(instance)) * (_ENTRY + number)
    items = sum(table_steps(table.items, memory) for table in duals.tables)
    crossed = max(1, spans // max(1, horizon))
    return Effort(size, (pairs * (1 + crossed // 4) + items // 3 + spans) * _slowness(digits))


def paths_effort(duals: Duals, instance: Instance, passes: Sequence[int] | None) -> Effort:
    """Return what walks over paths take, beside their duals and their states.

    They are the dual costs of all ages at all times, as lists, and twice in both directions.

    Parameters
    ----------
    passes : what each pass watches; None for one pass that watches all.
    """
    requests = MOST_REQUESTS if passes is None or any(passes) else MOST_UNWATCHED
    memory = MOST_ONE_WAY if passes is None else MOST_MEMORY
    if len(instance) > requests or instance.memory > memory:
        size = f"{len(instance)} requests and memory {instance.memory}"
        raise CertificateError(f"{size}: paths are checked up to {requests} and {memory}")
    horizon, ages = len(duals.memory) + 2, sum(instance.output.tolist())
    if ages > MOST_PAIRS:
        raise CertificateError(f"{ages} output tokens: paths are checked up to {MOST_PAIRS}")
    layers = max(horizon, int(instance.arrival.max()))
    return Effort(ages * (horizon + 4 * layers) * _POINTER, ages * horizon)


def table_steps(items: Sequence[tuple[int, int, int]], memory: int) -> int:
    """Count the steps that checking a table takes: its matrix, and states of its items.

    For each item they are x, x - d, x - 2 d, ... as long as these are positive.
    """
    least = max(1, min((m for m, _, _ in items), default=1))
    steps = (memory + 1) ** 2
    for m, r, _ in items:
        x, d = max(0, memory - m - r + 1), max(0, r) + least
        number = -(-x // d)
        steps += number * x - d * number * (number - 1) // 2
    return steps


def _states(instance: Instance) -> int:
    """Return at least the number of different (tokens held, tokens left) of all requests."""
    ages: int = sum(instance.output.tolist())
    if ages > MOST_STEPS:
        return ages
    kinds = set(zip(instance.prompt.tolist(), instance.output.tolist(), strict=True))
    return len({(s + age, o - age) for s, o in kinds for age in range(1, o + 1)})


def _digits(numbers: Iterable[int]) -> int:
    """Return the binary digits of the longest of some numbers."""
    return max((number.bit_length() for number in numbers), default=0)


def _number(digits: int) -> int:
    """Return the bytes of an integer with so many binary digits."""
    return _OBJECT + digits // 7


def _slowness(digits: int) -> int:
    """Return how many times longer sums of such numbers take than those of small ones."""
    return 1 + digits // 1000
