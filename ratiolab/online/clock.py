"""How long a batch takes, in seconds.

Unit rounds need no clock. With one, a round of the simulator is a batch, and what the batch does
says how long it takes:

    fixed + prefill * tokens prefilled + decode * requests decoding
          + kv * tokens of KV cache read + swap * tokens moved to the host or back.

A run prefills in its first batch, prompt and kept tokens together, and produces its next token
with it; in later batches it decodes, reading the tokens in its cache. Under ``swap`` a resumed run
decodes from its first batch on: its cache has been moved back.
"""

from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.files import FormatError, PathLike, csv_rows, read_text, require_keys
from ratiolab.model.footprint import volume
from ratiolab.model.instance import PICOSECONDS, shown
from ratiolab.model.numbers import require_number


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
    tick : seconds of a tick of instances that do not state it; None refuses them.

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
    tick: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "tick":
                continue
            require_number(f"clock: {field.name}", value)
            positive = field.name in ("fixed", "tick")
            if not 0 <= value <= 1e6 or (positive and picoseconds(value) < 1):
                rule = "at least a picosecond" if positive else "at least 0"
                raise ValueError(f"clock: {field.name} {value} must be {rule} and at most 1e6 s")
            object.__setattr__(self, field.name, picoseconds(value) / PICOSECONDS)

    def batch(self, *, prefill: int, decode: int, kv: int, swap: int) -> int:
        """Return the picoseconds of one batch.

        Parameters
        ----------
        prefill, kv, swap : tokens prefilled, read from the cache, moved.
        decode : requests that decode.
        """
        fixed, per_prefill, per_decode, per_kv, per_swap = self.whole
        return fixed + per_prefill * prefill + per_decode * decode + per_kv * kv + per_swap * swap

    def work(self, prompt: int, output: int, memory: int) -> int:
        """Return the work of a request that is never evicted, in M-ths of a picosecond.

        The work of a request is what it adds to its batches, and of the fixed time of each batch
        the share of the memory that the request holds at its end.

        Parameters
        ----------
        prompt, output, memory : tokens.

        Examples
        --------
        >>> BatchTime(fixed=1, prefill=1).work(1, 2, 10)  # (1 + (2 + 3) / 10) s
        15000000000000
        """
        fixed, prefill, decode, kv, _ = self.whole
        later = output - 1
        read = prompt * later + later * output // 2  # of the cache: s + 1, ..., s + o - 1
        added = prefill * prompt + decode * later + kv * read
        return memory * added + fixed * volume(prompt, output)

    @cached_property
    def whole(self) -> tuple[int, int, int, int, int]:
        """The coefficients fixed, prefill, decode, kv and swap in picoseconds."""
        fixed, prefill, decode, kv, swap = map(
            picoseconds, (self.fixed, self.prefill, self.decode, self.kv, self.swap)
        )
        return fixed, prefill, decode, kv, swap

    def arrivals(self, instance: Instance) -> list[int]:
        """Return when the requests of an instance arrive, picoseconds.

        Raises
        ------
        ValueError
            when they arrive over time and neither instance nor clock states the length of a tick.
        """
        tick = self.tick if instance.tick_seconds is None else instance.tick_seconds
        arrivals: list[int] = instance.arrival.tolist()
        if tick is None:
            if any(arrivals):
                raise ValueError(
                    f"{instance.name}: arrivals are rounds without a length, and a clock counts "
                    "seconds: state the seconds of a round as tick_seconds in the file, or with "
                    "--tick-seconds (in a study, tick_seconds of [study])"
                )
            return arrivals
        length = picoseconds(tick)
        return [length * arrival for arrival in arrivals]


def picoseconds(seconds: float) -> int:
    """Round seconds to the nearest whole number of picoseconds."""
    return round(seconds * PICOSECONDS)


ROUNDS = BatchTime(fixed=1, tick=1)
"""The clock that counts rounds: each lasts a unit, and arrivals are rounds."""


class Device(NamedTuple):
    """Figures of a data sheet, in a second: bytes of memory, operations, bytes to the host."""

    bandwidth: float
    operations: float
    link: float


A100 = Device(bandwidth=2.039e12, operations=312e12, link=32e9)
L4 = Device(bandwidth=300e9, operations=121e12, link=32e9)


def from_figures(
    parameters: float, token_numbers: int, device: Device, *, devices: int = 1
) -> BatchTime:
    """Derive the clock of a model in half precision from published figures alone.

    A batch reads all weights once (fixed) and the cache of every decoding request (kv) at the
    bandwidth of all devices; each token that goes through the weights, prefilled or decoded,
    costs two operations a parameter at the peak of all (prefill, decode). Swapping moves a token's
    keys and values over all links to the host. Traffic and arithmetic add up, without overlap, and
    both run at their peak: real batches are faster by up to 2 for the first reason, and slower by
    the second; orderings and ratios are what these clocks are for.

    Parameters
    ----------
    parameters : parameters of the model.
    token_numbers : numbers in the keys and values of a token.
    device, devices : the data sheet of a device, and how many are used.

    >>> for clock in (LLAMA2_70B_2XA100, LLAMA3_1B_L4, LLAMA3_8B_A100):
    ...     print(round(clock.fixed * 10**6), round(clock.kv * 10**9))  # microseconds, nanoseconds
    34331 80
    8200 109
    7876 64
    """
    half = 2  # bytes of a number
    arithmetic = 2 * parameters / (devices * device.operations)
    return BatchTime(
        fixed=half * parameters / (devices * device.bandwidth),
        prefill=arithmetic,
        decode=arithmetic,
        kv=half * token_numbers / (devices * device.bandwidth),
        swap=half * token_numbers / (devices * device.link),
    )


LLAMA2_70B_2XA100 = from_figures(70e9, 2 * 80 * 8 * 128, A100, devices=2)
"""Llama-2-70B on two A100-80GB, the default clock.

Sources: Touvron et al. (2023), arXiv 2307.09288v2 (parameters; 80 layers, 8 key-value heads of 128
in its grouped attention); NVIDIA A100 80GB SXM data sheet (2,039 GB/s, 312 TFLOPS in half
precision, PCIe 4.0 at 32 GB/s in one direction).
"""

LLAMA3_1B_L4 = from_figures(1.23e9, 2 * 16 * 8 * 64, L4)
"""Llama-3.2-1B on one L4, a small model on a small device.

Sources: Meta's model card of Llama 3.2 (1.23e9 parameters) and its configuration (16 layers, 8
key-value heads of 64); NVIDIA L4 data sheet (300 GB/s, 121 TFLOPS dense in half precision, PCIe 4.0
at 32 GB/s in one direction).
"""

LLAMA3_8B_A100 = from_figures(8.03e9, 2 * 32 * 8 * 128, A100)
"""Llama-3-8B on one A100-80GB, a middle-sized model on one device.

Sources: Grattafiori et al. (2024), arXiv 2407.21783 (8.03e9 parameters with embeddings; 32 layers,
8 key-value heads of 128); the A100's data sheet.
"""

CLOCKS: dict[str, BatchTime | None] = {
    "unit": None,
    "llama2-70b-2xa100": LLAMA2_70B_2XA100,
    "llama3-1b-l4": LLAMA3_1B_L4,
    "llama3-8b-a100": LLAMA3_8B_A100,
}
"""Clocks by name; None counts rounds."""

PROFILES = {
    name: Path(__file__).with_name("profiles") / f"{name}.csv"
    for name in ("vidur-llama2-70b-2xa100",)
}
"""Measured batches that come with the project, by the name of the clock that is fitted to them.

``vidur-llama2-70b-2xa100``: Llama-2-70B on two A100-80GB joined by NVLink, as profiled for the
simulator Vidur. Source: Agrawal et al. (2024), arXiv 2405.05465; its published files, at
https://github.com/microsoft/vidur, data/profiling/compute/a100/meta-llama/Llama-2-70b-hf/mlp.csv
and data/profiling/network/a100_pairwise_nvlink/all_reduce.csv of commit 7d47513, and
data/profiling/a100/attention.csv of commit e2d00e9 (8,192 wide, 64 heads, 8 of keys and values),
each for two devices. They give operations one by one; a batch is put together as Vidur does it: 80
layers of the operations for its tokens, its attention and two reductions over both devices, from
medians (a reduction: of the nine nearest sizes), without what the host adds. Decoding batches are
of 1 to 128 requests with 32 to 4,032 tokens each, prefilling ones of one prompt of 64 to 4,096. The
fit is within 8% of every decoding batch and within 5% of prompts of 1,024 tokens or more; it
overrates shorter ones by up to 35%, as a device that is not full takes more tokens at no cost.
Moving caches to the host was not measured: under ``swap`` this clock counts nothing for it.
"""

PROFILE = ("seconds", "prefill_tokens", "decoding_requests", "kv_tokens")
"""Columns of a profile, one batch a row; ``swapped_tokens`` may stand beside them."""


def from_profile(path: PathLike) -> BatchTime:
    """Fit a clock to measured batches: least squares, no coefficient below 0.

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
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def clock_of(word: str) -> BatchTime | None:
    """Return the clock that a word names: one of `CLOCKS` or `PROFILES`, or a profile to fit."""
    if word in CLOCKS:
        return CLOCKS[word]
    if word in PROFILES:
        return _bundled(word)
    if not word.endswith(".csv"):
        known = ", ".join((*CLOCKS, *PROFILES))
        raise ValueError(f"clock {word!r} must be {known} or a profile FILE.csv")
    return from_profile(word)


def as_clock(given: BatchTime | str | None) -> BatchTime | None:
    """Return a clock, or that of its name; None counts rounds. ValueError for all else."""
    if isinstance(given, str):
        return clock_of(given)
    if not (given is None or isinstance(given, BatchTime)):
        raise ValueError(f"clock {shown(given)} must be a BatchTime, the name of a clock, or None")
    return given


@cache
def _bundled(name: str) -> BatchTime:
    return from_profile(PROFILES[name])


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
