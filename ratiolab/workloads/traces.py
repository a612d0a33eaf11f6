"""Public request traces, and instances of any size cut out of them."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import FormatError, Instance
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import LARGEST, shown
from ratiolab.model.io import PathLike, csv_integer, csv_rows, read_text
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.blocks import blocks_of

AZURE = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
PREFILL_DECODE = ("num_prefill_tokens", "num_decode_tokens")

ROUNDS_PER_SECOND = 20.0
"""Decoding rounds a second unless the user says otherwise: 50 ms each, the order of magnitude of
a large model on two accelerators; no claim about any particular system."""

Arrivals: TypeAlias = Literal["trace", "zero", "poisson"]


@dataclass(frozen=True, eq=False)
class Trace:
    """The requests of a trace in order of time.

    Parameters
    ----------
    name : the file's name without folder and ending.
    seconds : arrival times from the first request on, shape (n,); None where the file has none.
    prompt, output : tokens, shape (n,); either may be 0.
    """

    name: str
    seconds: NDArray[np.float64] | None = field(repr=False)
    prompt: IntArray = field(repr=False)
    output: IntArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.prompt)


def read_trace(path: PathLike) -> Trace:
    """Read a trace in CSV; the header says which of two formats it is.

    The Azure LLM inference traces have the columns TIMESTAMP, ContextTokens, GeneratedTokens;
    prefill/decode files have num_prefill_tokens, num_decode_tokens. Other columns are ignored,
    line ends may be CRLF or LF, and rows out of order are sorted by time. Timestamps are read to
    the nanosecond; one without an offset counts as UTC. Cost O(n log n).

    Raises
    ------
    FormatError
        one line that names the file, line, column, value and rule.
    """
    text = read_text(path)
    try:
        return _parse(text, Path(path).stem)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def _parse(text: str, name: str) -> Trace:
    rows = csv_rows(text)
    _, header = next(rows)
    formats = [columns for columns in (AZURE, PREFILL_DECODE) if set(columns) <= set(header)]
    if not formats:
        raise ValueError(
            f"line 1: the header must have the columns {', '.join(AZURE)} "
            f"or {', '.join(PREFILL_DECODE)}"
        )
    *stamp, context, generated = formats[0]
    at = {column: header.index(column) for column in formats[0]}
    times: list[int] = []
    prompt: list[int] = []
    output: list[int] = []
    for line, row in rows:
        times += [_nanoseconds(row[at[column]], column, line) for column in stamp]
        prompt.append(_tokens(row[at[context]], context, line))
        output.append(_tokens(row[at[generated]], generated, line))
    if not prompt:
        raise ValueError("has no requests below its header")
    columns = np.array(prompt, dtype=np.int64), np.array(output, dtype=np.int64)
    if not stamp:
        return Trace(name, None, *columns)
    instants = np.array(times, dtype=np.int64)
    order = np.argsort(instants, kind="stable")
    seconds = (instants[order] - instants[order[0]]) / 1e9
    return Trace(name, seconds, *(column[order] for column in columns))


def _tokens(value: str, column: str, line: int) -> int:
    tokens = csv_integer(value, column, line)
    if not 0 <= tokens <= LARGEST:
        raise ValueError(f"line {line}: {column} {tokens} must be between 0 and {LARGEST}")
    return tokens


_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


def _nanoseconds(value: str, column: str, line: int) -> int:
    """Return the nanoseconds since 1970; datetime itself would drop the seventh decimal."""
    match = _TIMESTAMP.fullmatch(value.strip())
    try:
        if match is None:
            raise ValueError
        day, time, fraction, offset = match.groups()
        moment = datetime.fromisoformat(f"{day}T{time}{offset or 'Z'}")
        if not 1970 <= moment.year < 2100:
            raise ValueError
        nanoseconds = int(moment.timestamp()) * 10**9 + int((fraction or "0").ljust(9, "0"))
    except ValueError:
        raise ValueError(
            f"line {line}: {column} {shown(value)} must be a time of the years 1970 to 2099 "
            "like 2023-11-16 18:15:46.6805900"
        ) from None
    return nanoseconds


def instance_from_trace(
    trace: Trace,
    *,
    memory: int,
    sample: int | None = None,
    seed: int = 0,
    window: tuple[float, float] | None = None,
    block: int = 1,
    arrivals: Arrivals = "trace",
    rate: float | None = None,
    rounds_per_second: float = ROUNDS_PER_SECOND,
    max_prompt: int | None = None,
    name: str | None = None,
) -> Instance:
    """Cut an instance out of a trace.

    Requests outside the window, without output, with too long a prompt or too large for the
    memory are left out, in this order, and counted in the ``source`` of the instance; of the
    others a random sample is drawn, which keeps the order of the trace.

    Parameters
    ----------
    memory : tokens; with blocks, rounded down to whole blocks.
    sample : how many requests, drawn without replacement; None takes all.
    seed : of numpy's default generator, for the sample and for Poisson arrivals.
    window : seconds from the first request of the trace, start included, end not.
    block : tokens in a KV block. Above 1 the instance is in blocks: prompts and outputs rounded
        up, a round is ``block`` decoding rounds; `ratiolab.workloads.blocks.in_blocks` says why
        this is conservative.
    arrivals : ``trace`` keeps the times, rounded up to the next round so that no request can
        start before it arrives; ``zero`` puts all at round 0; ``poisson`` draws a Poisson process.
    rate : requests per round of the instance; for ``poisson`` only.
    rounds_per_second : decoding rounds (of one token) in a second of the trace; its inverse is the
        length of a tick that the instance states. An instance in blocks states none: a clock counts
        tokens.
    max_prompt : longest prompt that is kept, tokens.

    Raises
    ------
    ValueError
        names the option, value and rule, or says that no request is left.

    Examples
    --------
    >>> trace = Trace("t", np.array([0.0, 0.51]), np.array([30, 17]), np.array([16, 40]))
    >>> list(instance_from_trace(trace, memory=100).requests)
    [Request(arrival=0, prompt=30, output=16), Request(arrival=11, prompt=17, output=40)]
    >>> list(instance_from_trace(trace, memory=100, block=16).requests)
    [Request(arrival=0, prompt=2, output=1), Request(arrival=1, prompt=2, output=3)]
    """
    _check_options(trace, memory, sample, window, block, arrivals, rate, rounds_per_second)
    rng = np.random.default_rng(seed)
    prompt, output = blocks_of(trace.prompt, block), blocks_of(trace.output, block)
    longest = LARGEST if max_prompt is None else max_prompt
    kept = np.arange(len(trace))
    tick_seconds = None
    notes = [f"trace {trace.name}: {len(trace)} requests"]
    rules = [
        ("without output", trace.output == 0),
        (f"with a prompt above {longest} tokens", trace.prompt > longest),
        (f"above memory {memory}", prompt + output > memory // block),
    ]
    start = 0.0
    if window is not None and trace.seconds is not None:
        start, end = window
        kept = kept[(trace.seconds >= start) & (trace.seconds < end)]
        notes.append(f"{len(kept)} in seconds {start:g} to {end:g}")
    for words, refused in rules:
        if refused[kept].any():
            notes.append(f"{int(refused[kept].sum())} dropped {words}")
            kept = kept[~refused[kept]]
    if len(kept) == 0 or len(kept) < (sample or 0):
        raise ValueError(f"{'; '.join(notes)}; {len(kept)} are left, not {sample or 'any'}")
    if sample is not None:
        kept = np.sort(rng.choice(kept, size=sample, replace=False))
        notes.append(f"{sample} sampled with seed {seed}")
    arrival = np.zeros(len(kept), dtype=np.int64)
    if arrivals == "poisson" and rate is not None:
        arrival = poisson_arrivals(rng, len(kept), rate)
        notes.append(f"Poisson arrivals, {rate:g} a round, seed {seed}")
    elif arrivals == "trace" and trace.seconds is not None:
        times = (trace.seconds[kept] - start) * (rounds_per_second / block)
        # a time that is a whole round but for floating point stays in it
        arrival = np.ceil(np.round(times, 6)).astype(np.int64)
        tick_seconds = 1 / rounds_per_second if block == 1 else None
        notes.append(f"arrivals of the trace, {rounds_per_second:g} rounds a second")
    else:
        notes.append("all arrive at round 0")
    if block > 1:
        notes.append(f"in blocks of {block} tokens")
    return Instance(
        name or trace.name,
        memory // block,
        arrival,
        prompt[kept],
        output[kept],
        source="; ".join(notes),
        tick_seconds=tick_seconds,
    )


def _check_options(
    trace: Trace,
    memory: int,
    sample: int | None,
    window: tuple[float, float] | None,
    block: int,
    arrivals: str,
    rate: float | None,
    rounds_per_second: float,
) -> None:
    if block < 1:
        raise ValueError(f"block {block} must be at least 1 token")
    if memory < block:
        raise ValueError(f"memory {memory} must be at least one block of {block}")
    if sample is not None and sample < 1:
        raise ValueError(f"sample {sample} must be at least 1 request")
    if arrivals not in ("trace", "zero", "poisson"):
        raise ValueError(f"arrivals {arrivals!r} must be 'trace', 'zero' or 'poisson'")
    if trace.seconds is None and (arrivals == "trace" or window is not None):
        raise ValueError(
            f"trace {trace.name} has no timestamps: no window, and arrivals 'zero' or 'poisson'"
        )
    if window is not None and not 0 <= window[0] < window[1]:
        raise ValueError(f"window {window[0]}..{window[1]} must have 0 <= start < end")
    if (arrivals == "poisson") != (rate is not None):
        raise ValueError(
            "arrivals 'poisson' need a rate, requests a round"
            if rate is None
            else f"rate {rate:g} is for arrivals 'poisson' only, not for {arrivals!r}"
        )
    if rate is not None and not 0 < rate <= 10**6:
        raise ValueError(f"rate {rate:g} must be positive, at most 1000000")
    if not 0 < rounds_per_second <= 10**6:
        raise ValueError(f"rounds_per_second {rounds_per_second} must be positive, at most 1000000")
