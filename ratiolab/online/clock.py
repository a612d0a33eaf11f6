"""How long a batch takes, in seconds, and how far the clock is after many batches.

Unit rounds need no clock. With one, a round of the simulator is a batch, and what the batch does
says how long it takes:

    fixed + prefill * tokens prefilled + decode * requests decoding
          + kv * tokens of KV cache read + swap * tokens moved to the host or back.

A run prefills in its first batch, prompt and kept tokens together, and produces its next token
with it; in later batches it decodes, reading the tokens in its cache. Under ``swap`` a resumed run
decodes from its first batch on: its cache has been moved back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.io import FormatError, PathLike, csv_rows, read_text, require_keys

PICOSECONDS = 10**12
"""In a second. The clock counts them in integers: sums are exact, whatever their order."""


@dataclass(frozen=True)
class BatchTime:
    """Seconds that a batch takes, linear in what it does.

    Coefficients are rounded to whole picoseconds, so that times are exact sums of integers.

    Parameters
    ----------
    fixed : seconds of every batch, more than 0.
    prefill : seconds per token prefilled.
    decode : seconds per decoding request.
    kv : seconds per token of KV cache that decoding requests read.
    swap : seconds per token moved to the host or back.
    tick : seconds of one unit of the arrivals of an instance; a millisecond by default.

    Examples
    --------
    >>> BatchTime(fixed=0.02, prefill=0.001).batch(prefill=30, decode=0, kv=0, swap=0)
    50000000000
    """

    fixed: float
    prefill: float = 0.0
    decode: float = 0.0
    kv: float = 0.0
    swap: float = 0.0
    tick: float = 1e-3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            positive = field.name in ("fixed", "tick")
            if not 0 <= value <= 1e6 or (positive and picoseconds(value) < 1):
                rule = "at least a picosecond" if positive else "at least 0"
                raise ValueError(f"clock: {field.name} {value} must be {rule} and at most 1e6 s")
            object.__setattr__(self, field.name, picoseconds(value) / PICOSECONDS)

    def batch(self, *, prefill: int, decode: int, kv: int, swap: int) -> int:
        """Picoseconds of one batch.

        Parameters
        ----------
        prefill, kv, swap : tokens prefilled, read from the cache, moved.
        decode : requests that decode.
        """
        return (
            picoseconds(self.fixed)
            + picoseconds(self.prefill) * prefill
            + picoseconds(self.decode) * decode
            + picoseconds(self.kv) * kv
            + picoseconds(self.swap) * swap
        )

    def ticks(self, arrivals: Iterable[int]) -> list[int]:
        """Picoseconds of arrivals that are given in ticks."""
        tick = picoseconds(self.tick)
        return [tick * arrival for arrival in arrivals]


def picoseconds(seconds: float) -> int:
    """The nearest whole number of picoseconds."""
    return round(seconds * PICOSECONDS)


class Device(NamedTuple):
    """What a data sheet says, in a second: bytes of memory, operations, bytes to the host."""

    bandwidth: float
    operations: float
    link: float


A100 = Device(bandwidth=2.039e12, operations=312e12, link=32e9)
L4 = Device(bandwidth=300e9, operations=121e12, link=32e9)


def llama2_70b_2xa100() -> BatchTime:
    """Llama-2-70B in half precision on two A100-80GB, from published figures alone.

    A batch reads all weights once (fixed) and the cache of every decoding request (kv) at the
    bandwidth of both devices; each token that goes through the weights, prefilled or decoded,
    costs two operations a parameter at the peak of both (prefill, decode). Swapping moves a token's
    keys and values over both PCIe links. Traffic and arithmetic add up, without overlap, and both
    run at their peak: real batches are faster by up to 2 for the first reason, and slower by the
    second; orderings and ratios are what this clock is for.

    Sources: Touvron et al. (2023), arXiv 2307.09288v2 (parameters; 80 layers, 8 key-value heads of
    128 in its grouped attention); NVIDIA A100 80GB SXM data sheet (2,039 GB/s, 312 TFLOPS in half
    precision, PCIe 4.0 at 32 GB/s in one direction).

    >>> clock = llama2_70b_2xa100()
    >>> round(clock.fixed * 10**6), round(clock.kv * 10**9)  # microseconds, nanoseconds
    (34331, 80)
    """
    return _from_figures(70e9, 2 * 80 * 8 * 128, A100, devices=2)


def llama3_1b_l4() -> BatchTime:
    """Llama-3.2-1B in half precision on one L4, derived as `llama2_70b_2xa100`.

    Sources: Meta's model card of Llama 3.2 (1.23e9 parameters) and its configuration (16 layers,
    8 key-value heads of 64); NVIDIA L4 data sheet (300 GB/s, 121 TFLOPS dense in half precision,
    PCIe 4.0 at 32 GB/s in one direction).

    >>> clock = llama3_1b_l4()
    >>> round(clock.fixed * 10**6), round(clock.kv * 10**9)  # microseconds, nanoseconds
    (8200, 109)
    """
    return _from_figures(1.23e9, 2 * 16 * 8 * 64, L4)


def llama3_8b_a100() -> BatchTime:
    """Llama-3-8B in half precision on one A100-80GB, derived as `llama2_70b_2xa100`.

    Sources: Grattafiori et al. (2024), arXiv 2407.21783 (8.03e9 parameters with embeddings; 32
    layers, 8 key-value heads of 128); the same data sheet.

    >>> clock = llama3_8b_a100()
    >>> round(clock.fixed * 10**6), round(clock.kv * 10**9)  # microseconds, nanoseconds
    (7876, 64)
    """
    return _from_figures(8.03e9, 2 * 32 * 8 * 128, A100)


def _from_figures(
    parameters: float, token_numbers: int, device: Device, *, devices: int = 1
) -> BatchTime:
    """A clock from the data sheet of equal devices, with so many keys and values for a token."""
    half = 2  # bytes of a number
    arithmetic = 2 * parameters / (devices * device.operations)
    return BatchTime(
        fixed=half * parameters / (devices * device.bandwidth),
        prefill=arithmetic,
        decode=arithmetic,
        kv=half * token_numbers / (devices * device.bandwidth),
        swap=half * token_numbers / (devices * device.link),
    )


LLAMA2_70B_2XA100 = llama2_70b_2xa100()
"""The default clock; `llama2_70b_2xa100` derives it."""

LLAMA3_1B_L4 = llama3_1b_l4()
"""A small model on a small device; `llama3_1b_l4` derives it."""

LLAMA3_8B_A100 = llama3_8b_a100()
"""A middle-sized model on one device; `llama3_8b_a100` derives it."""

CLOCKS: dict[str, BatchTime | None] = {
    "unit": None,
    "llama2-70b-2xa100": LLAMA2_70B_2XA100,
    "llama3-1b-l4": LLAMA3_1B_L4,
    "llama3-8b-a100": LLAMA3_8B_A100,
}
"""Clocks by name; None counts rounds."""

PROFILE = ("seconds", "prefill_tokens", "decoding_requests", "kv_tokens")
"""Columns of a profile, one batch a row; ``swapped_tokens`` may stand beside them."""


def from_profile(path: PathLike) -> BatchTime:
    """The clock that fits measured batches best: least squares, no coefficient below 0.

    Parameters
    ----------
    path : a CSV file with the columns of `PROFILE` and, if batches swapped, ``swapped_tokens``.

    Raises
    ------
    FormatError
        when the file breaks a rule, has fewer rows than coefficients, columns that cannot be told
        apart, or a fit in which an empty batch takes no time.
    """
    from scipy.optimize import nnls

    try:
        rows = csv_rows(read_text(path))
        _, header = next(rows)
        require_keys(dict.fromkeys(header), PROFILE, ("swapped_tokens",))
        values = np.array([_numbers(header, row, line) for line, row in rows], dtype=np.float64)
        columns = dict(zip(header, values.reshape(-1, len(header)).T, strict=True))
        seconds = columns.pop("seconds")
        names = [name for name in (*PROFILE, "swapped_tokens") if name in columns]
        table = np.column_stack([np.ones(len(seconds)), *(columns[name] for name in names)])
        used = np.asarray(table.any(axis=0))
        used[0] = True
        table = table[:, used]
        if len(table) < table.shape[1] or np.linalg.matrix_rank(table) < table.shape[1]:
            raise ValueError(
                f"{len(table)} batches do not determine {table.shape[1]} coefficients: "
                "as many are needed whose columns vary independently"
            )
        size = np.linalg.norm(table, axis=0)
        found = np.zeros(len(used))
        found[used] = nnls(table / size, seconds)[0] / size
        coefficient = dict(zip(("fixed", *names), found.tolist(), strict=True))
        return BatchTime(
            fixed=coefficient["fixed"],
            prefill=coefficient["prefill_tokens"],
            decode=coefficient["decoding_requests"],
            kv=coefficient["kv_tokens"],
            swap=coefficient.get("swapped_tokens", 0.0),
        )
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def clock_of(word: str) -> BatchTime | None:
    """The clock that a word names: one of `CLOCKS`, or a profile to fit."""
    if word in CLOCKS:
        return CLOCKS[word]
    if not word.endswith(".csv"):
        raise ValueError(f"clock {word!r} must be {', '.join(CLOCKS)} or a profile FILE.csv")
    return from_profile(word)


class Timer:
    """The time at the boundaries of batches, followed through a simulation.

    While nobody enters or leaves, each batch reads as many tokens more than the one before as
    requests run: durations grow linearly, and the time after n batches is a quadratic in n.

    Parameters
    ----------
    clock : what a batch takes.
    begin : picoseconds at which round 0 begins.
    """

    def __init__(self, clock: BatchTime, begin: int) -> None:
        self._clock = clock
        self._kv = picoseconds(clock.kv)
        self._stays: list[_Stay] = []
        self.time = begin

    def serve(
        self, now: int, running: int, cached: int, prefilling: int, prefill: int, moved: int
    ) -> None:
        """From this round on the same requests run.

        Parameters
        ----------
        now : the round.
        running : requests that run; `prefilling` of them begin with `prefill` tokens in all.
        cached : tokens of all running requests before the batch, those to be prefilled included.
        moved : tokens swapped before the batch.
        """
        first = self._clock.batch(
            prefill=prefill, decode=running - prefilling, kv=cached - prefill, swap=moved
        )
        second = self._clock.batch(prefill=0, decode=running, kv=cached + running, swap=0)
        self._stays.append(_Stay(now, self.time, first, second, self._kv * running))

    def idle(self, now: int, until: int) -> None:
        """In this round nobody is there; it lasts until that time."""
        self._stays.append(_Stay(now, self.time, until - self.time, 0, 0))

    def reach(self, due: int) -> int:
        """The first later round that begins at or after a time, if nobody enters or leaves."""
        return self._stays[-1].reach(due)

    def move(self, now: int) -> None:
        """The clock goes to the beginning of a later round."""
        self.time = self._stays[-1].time_of(now)

    def boundaries(self, end: int) -> NDArray[np.float64]:
        """Seconds at which rounds 0 to `end` begin, shape (end + 1,)."""
        table = np.array(self._stays, dtype=np.float64).reshape(-1, 5)
        table[:, 1:] /= PICOSECONDS
        rounds = np.arange(end + 1)
        place = np.searchsorted(table[:, 0], rounds, side="right") - 1
        began, time, first, second, growth = table[place].T
        m = rounds - began - 1
        passed = first + m * second + growth * (m * (m - 1) / 2)
        times: NDArray[np.float64] = time + np.where(m < 0, 0.0, passed)
        return times


class _Stay(NamedTuple):
    """Rounds in which the same requests run; times in picoseconds."""

    began: int
    time: int  # at the beginning of round `began`
    first: int  # duration of its batch
    second: int  # duration of the next one
    growth: int  # from each of them to the next, from `second` on

    def time_of(self, now: int) -> int:
        m = now - self.began - 1
        return self.time + self.first + m * self.second + self.growth * (m * (m - 1) // 2)

    def reach(self, due: int) -> int:
        need = due - self.time - self.first
        if need <= 0:
            return self.began + 1
        if self.growth == 0:
            return self.began + 1 - need // -self.second
        # the least m with m second + growth m (m - 1) / 2 >= need; second >= growth
        linear = 2 * self.second - self.growth
        root = isqrt(linear * linear + 8 * self.growth * need)
        m = (root - linear) // (2 * self.growth)
        while self.time_of(self.began + 1 + m) < due:
            m += 1
        return self.began + 1 + m


def _numbers(header: list[str], row: list[str], line: int) -> list[float]:
    found = []
    for name, text in zip(header, row, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1e15:
            raise ValueError(f"line {line}: {name} {text!r} must be a number between 0 and 1e15")
        found.append(value)
    return found
