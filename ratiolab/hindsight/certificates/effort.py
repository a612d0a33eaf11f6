"""The effort of checking a certificate, estimated from its sizes before anything is built.

A file of a few hundred bytes can ask for gigabytes: a late arrival, long outputs over a long
horizon, numbers of thousands of digits. The checker refuses numbers of `LARGEST_NUMBER` and more,
estimates its memory and its steps from above, and refuses what exceeds `most_bytes` or the steps
that are allowed. A refusal is no verdict: the certificate may be right.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from ratiolab.hindsight.certificates.duals import Duals, GrowthDuals
from ratiolab.main_memory import half_of_memory
from ratiolab.model.fleet import Fleet, memories_of
from ratiolab.model.instance import Instance, shown

MOST_BYTES = 10**9
"""Most memory that checking may take, bytes, for each half minute that it may take."""

MOST_STEPS = 3 * 10**7
"""Most steps in plain Python, about a microsecond each: 30 seconds."""

_allowed = ContextVar("steps that checking may take", default=MOST_STEPS)

MOST_REQUESTS = 64
"""Most requests of a labelling pass: sets of started requests are compared as words."""

MOST_UNWATCHED = 400
"""Most requests of a pass that watches none."""

MOST_MEMORY = 255
"""Most memory of labelling passes: sums of tokens stand in a byte."""

MOST_STATES = 2 * 10**8
"""Most states of all passes of one width of a certificate, partial ones too: some minutes."""

MOST_KEPT = 8 * 10**6
"""Most states that a pass keeps, and twice the states of a layer, partial ones too; a merging pass
keeps a layer.

The checker compares states in another way than the solver, and may keep more. A state takes 40
bytes, two for each request that runs and one for each later time: 130 at the sizes of the papers,
three times as many at most.
"""

ROOMIEST = 4.0
"""Largest factor of these limits: they grow in proportion to the time allowed beyond half a
minute."""

LONG_CHECK = 120.0
"""Seconds that checking may take of records, and of what a solve begins with."""

MOST_PAIRS = 2**15 - 1
"""Most output tokens of all requests of a pass: a pair of request and age is a 16-bit number."""

MOST_CELLS = 15 * 10**6
"""Most pairs of a request and an age, times layers of a pass."""

MOST_PASSES = 100
"""Most passes of a certificate."""

LARGEST_SUM = 2**60
"""Sums of the numbers of passes stay below it, so that 64-bit integers do not overflow; except
joint waiting, where too low a value only keeps more states."""

LARGEST_FILE = 2**23
"""Bytes of the largest certificate that is read, 8 MiB: its numbers take some hundred as many."""

LARGEST_NUMBER = 2**128
"""Numbers of proofs stay below it, far above what the solver writes; sums of them take 40 bytes."""

NUMBER, ENTRY = 64, 280
"""Bytes of an integer in a list, and of one in a dictionary with its key."""


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Let checks inside take ``seconds`` in place of 30."""
    if not seconds > 0:
        raise ValueError(f"seconds {seconds:g} must be positive")
    before = _allowed.set(int(min(seconds, 10**9) * 10**6))
    try:
        yield
    finally:
        _allowed.reset(before)


def room() -> float:
    """Return the factor on the usual number of states that the allowed time permits."""
    return min(ROOMIEST, max(1.0, _allowed.get() / MOST_STEPS))


def steps_left() -> int:
    """Return the steps that checking may take, about a microsecond each."""
    return _allowed.get()


def most_bytes() -> float:
    """Return the bytes that checking may take, half of the memory of this machine at most."""
    asked = MOST_BYTES * max(1.0, _allowed.get() / MOST_STEPS)
    return min(asked, max(MOST_BYTES, half_of_memory()))


def most_states() -> int:
    """Return the states that all passes of one width may take, partial ones too."""
    return int(room() * MOST_STATES)


def most_kept() -> int:
    """Return the states that a pass may keep."""
    return int(room() * MOST_KEPT)


class CertificateError(ValueError):
    """A certificate that does not prove what it claims."""


def require_claimed(digest: str, replicas: int, given: Instance | Fleet) -> None:
    """Raise `CertificateError` if a claim is about other requests or replicas."""
    number = len(memories_of(given)[1])
    if digest != given.digest:
        what = "instance" if number == 1 else f"the fleet of {number} replicas of"
        raise CertificateError(
            f"digest {shown(digest)} is not that of {what} {given.name}, {given.digest}"
        )
    if replicas != number:
        raise CertificateError(f"{replicas} replicas are claimed, not {number}")


class TooCostlyError(CertificateError):
    """A certificate that is refused unchecked: the check would take too much memory or time."""


class Effort(NamedTuple):
    """Bytes and steps that checking takes, at most; a step is about a microsecond."""

    bytes: int
    steps: int

    def plus(self, other: "Effort") -> "Effort":
        """Return the sum of this effort and another one."""
        return Effort(self.bytes + other.bytes, self.steps + other.steps)

    def require_affordable(self) -> None:
        """Raise `TooCostlyError` when this is more than the checker spends."""
        for what, taken, most in (
            ("bytes", self.bytes, most_bytes()),
            ("steps", self.steps, _allowed.get()),
        ):
            if taken > most:
                raise TooCostlyError(
                    f"checking takes up to {float(taken):.2g} {what}, more than {most:.2g}: refused"
                )


def require_plain(proof: Any) -> None:
    """Raise an error unless a proof consists of words and short integers of Python.

    Integers of other libraries overflow without an error.

    Raises
    ------
    CertificateError
        naming the type of a part that is none of these.
    TooCostlyError
        when an integer is too long.
    """
    if isinstance(proof, int):
        if abs(proof) >= LARGEST_NUMBER:
            raise TooCostlyError("checking takes up to thousands of digits, more than 38: refused")
    elif isinstance(proof, tuple):
        for part in proof:
            require_plain(part)
    elif is_dataclass(proof):
        require_plain(tuple(vars(proof).values()))
    elif not isinstance(proof, str):
        kind = f"{type(proof).__module__}.{type(proof).__qualname__}"
        raise CertificateError(f"a proof has integers of Python, not {kind}: int(...) makes them")


def steps_effort(duals: GrowthDuals) -> Effort:
    """Return what the sums over the times of such duals take; pieces are counted later."""
    times = max(0, duals.ends[-1] - duals.begin) if duals.ends else 0
    sums = (1 + len(duals.growth)) * times
    return Effort(2 * sums * NUMBER, sums // 4)


def piece_steps(duals: GrowthDuals) -> int:
    """Return the steps of looking at one piece of a cost function, from above.

    They grow with the number of growth rows, half a microsecond a row.
    """
    return 2 + (len(duals.growth) + 1) // 2


def duals_effort(duals: Duals, instance: Instance) -> Effort:
    """Return what the costs of all starts, the tables and the cuts take.

    A start at p of request i meets the duals of o_i times; of each time T the duals of at most all
    ages are kept.
    """
    horizon, memory = len(duals.memory), instance.memory
    arrivals, outputs = instance.arrival.tolist(), instance.output.tolist()
    starts = [max(horizon - arrival, 0) + 1 for arrival in arrivals]
    pairs: int = sum(
        min(start * output, start * (start + 1) // 2)
        for start, output in zip(starts, outputs, strict=True)
    )
    spans = sum(max(0, min(end, horizon + 1) - begin) for _, begin, end, _ in duals.cuts)
    least = max(1, min((m for table in duals.tables for m, *_ in table.items), default=memory))
    rows = len(duals.tables) * (memory + 1) + (memory // least + 2) * bool(duals.tables)
    size = (sum(starts) + rows * (memory + 1) // 4) * NUMBER + spans * ENTRY // 2
    size += min(pairs, horizon * _states(instance)) * ENTRY
    items = sum(table_steps(table.items, memory) for table in duals.tables)
    crossed = max(1, spans // max(1, horizon))
    return Effort(size, pairs * (1 + crossed // 4) + items // 3 + spans)


def paths_effort(duals: Duals, instance: Instance, passes: Sequence[int]) -> Effort:
    """Return the effort of labelling passes, beside their duals and their states.

    They are the dual costs of all ages at all times, as lists, and two arrays of all layers.
    """
    requests = MOST_REQUESTS if any(passes) else MOST_UNWATCHED
    if len(instance) > requests or instance.memory > MOST_MEMORY:
        size = f"{len(instance)} requests and memory {instance.memory}"
        raise CertificateError(f"{size}: paths are checked up to {requests} and {MOST_MEMORY}")
    horizon, ages = len(duals.memory) + 2, sum(instance.output.tolist())
    if ages > MOST_PAIRS:
        raise CertificateError(f"{ages} output tokens: paths are checked up to {MOST_PAIRS}")
    layers = max(horizon, int(instance.arrival.max()))
    return Effort(ages * (horizon + 2 * layers) * 8, ages * horizon)


def layers_effort(layers: int, requests: int, cells: int) -> Effort:
    """Return what the layers of a pass take; an empty one takes a kilobyte, too.

    Parameters
    ----------
    cells : pairs of a request and an age, times layers.
    """
    return Effort(layers * (1_500 + 16 * requests) + 24 * cells, layers * (150 + requests))


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
