"""Request logs as traces, and instances of any size cut out of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import FormatError, Instance, IntArray, PathLike, stream
from ratiolab.model.files import Content, read_content
from ratiolab.model.instance import LARGEST, LATEST, LONGEST_TICK
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.blocks import NOTE, blocks_of
from ratiolab.workloads.prefixes import Prefixes

ROUNDS_PER_SECOND = 20.0
"""Decoding rounds a second unless the user says otherwise: 50 ms each, the order of magnitude of
a large model on two accelerators; no claim about any particular system."""

Arrivals: TypeAlias = Literal["trace", "zero", "poisson"]


Seconds: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trace:
    """The requests of a log in order of time.

    Parameters
    ----------
    name : the file's name without folder and ending.
    seconds : arrival times from the first request on, shape (n,); None where the file has none.
    prompt, output : tokens, shape (n,); either may be 0.
    start, first, finish : what the log observed, in the same seconds, shape (n,): when the request
        was scheduled, its first token and its last; NaN or None where it did not. Where the file
        has no arrivals, seconds after the arrival of each request.
    dropped : how many rows were left out when the file was read, by reason.
    layout : which layout the file has.
    notes : what was assumed or not used when the file was read, sentences.
    units : units of the times that are numbers, and why they are believed; "" without any.
    prefixes : blocks that prompts share; None where the file does not name them.
    promises : columns weight, deadline and first_by, as far as the file has them; dates are seconds
        after the arrival, infinite where a request has none.
    """

    name: str
    seconds: Seconds | None = field(repr=False)
    prompt: IntArray = field(repr=False)
    output: IntArray = field(repr=False)
    start: Seconds | None = field(default=None, repr=False)
    first: Seconds | None = field(default=None, repr=False)
    finish: Seconds | None = field(default=None, repr=False)
    dropped: Mapping[str, int] = field(default_factory=dict)
    layout: str = ""
    notes: tuple[str, ...] = ()
    units: str = ""
    prefixes: Prefixes | None = field(default=None, repr=False)
    promises: Mapping[str, Seconds] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.prompt)

    def take(self, requests: IntArray) -> "Trace":
        """Return the trace of some requests only, with the times as they are."""
        times = (self.seconds, self.start, self.first, self.finish)
        seconds, start, first, finish = (None if t is None else t[requests] for t in times)
        tokens = self.prompt[requests], self.output[requests]
        taken = Trace(self.name, seconds, *tokens, start, first, finish, layout=self.layout)
        shared = None if self.prefixes is None else self.prefixes.take(requests)
        promises = {role: column[requests] for role, column in self.promises.items()}
        taken = replace(taken, notes=self.notes, units=self.units)
        return replace(taken, prefixes=shared, promises=promises)


def read_trace(
    path: "PathLike | Content",
    *,
    columns: str | None = None,
    time_unit: str | None = None,
    rows: str | None = None,
) -> Trace:
    """Read a request log: CSV, JSON lines, JSON, Parquet or Arrow, packed or not.

    The known layouts are those of `ratiolab.workloads.layouts.LAYOUTS`, told by their columns.
    Rows out of order are sorted by time. Times are numbers, whose unit is inferred where nothing
    states it, or dates, which are read to the nanosecond; a date without an offset counts as UTC.
    Rows of requests that were not served, lack an arrival or tokens, or have impossible times are
    left out and counted. Cost O(n log n).

    Parameters
    ----------
    path : path of the file, ``-`` for standard input, or what has been read from it.
    columns : the columns of another layout, as in ``arrival=ts,prompt=n_in,output=n_out``; roles
        are those of `ratiolab.workloads.layout.ROLES`.
    time_unit : unit of times that are numbers: s, ms, us, ns, 100ns, min, h or d (days); or units
        of some roles or columns, as in ``arrival=s,ttft=ms``.
    rows : where in a JSON file the requests are, as in ``benchmarks.0.requests``.

    Raises
    ------
    FormatError
        one line that names the file, line, column, value and rule.
    """
    from ratiolab.workloads.choice import chosen_table
    from ratiolab.workloads.layout import given_units
    from ratiolab.workloads.logs import columns_of
    from ratiolab.workloads.tables import read_tables

    content = path if isinstance(path, Content) else read_content(path)
    tables = read_tables(content)
    try:
        table, layout = chosen_table(tables, columns, rows)
        found = columns_of(table, layout, given_units(time_unit, table.columns))
    except ValueError as error:
        raise FormatError(f"{content.name}: {error}") from None
    observed = {role: found.times.get(role) for role in ("start", "first", "finish")}
    return Trace(
        _stem(content.name),
        found.times.get("arrival"),
        found.prompt,
        found.output,
        **observed,
        dropped=found.dropped,
        layout=layout.name,
        notes=tuple(found.notes),
        units=found.units,
        prefixes=found.prefixes,
        promises=found.promises,
    )


def _stem(name: str) -> str:
    """Return the name of a file without its folder and the endings of its form and of its pack."""
    plain = Path(name).name
    for ending in (".gz", ".bz2", ".xz", ".zst", ".zip"):
        plain = plain.removesuffix(ending)
    return plain.rpartition(".")[0] or plain


@dataclass(frozen=True, eq=False)
class Selection:
    """The requests of a trace that an instance takes."""

    kept: IntArray
    notes: list[str]
    dropped: dict[str, int]


def select(
    trace: Trace,
    *,
    memory: int,
    window: tuple[float, float] | None = None,
    block: int = 1,
    max_prompt: int | None = None,
) -> Selection:
    """Return which requests of a trace an instance can take, and why not the others."""
    kept = np.arange(len(trace))
    dropped = dict(trace.dropped)
    notes = [f"trace {trace.name}: {len(trace) + sum(dropped.values())} requests"]
    notes += [f"{count} dropped {reason}" for reason, count in dropped.items()]
    longest = LARGEST if max_prompt is None else max_prompt
    if window is not None and trace.seconds is not None:
        start, end = window
        kept = kept[(trace.seconds >= start) & (trace.seconds < end)]
        notes.append(f"{len(kept)} in seconds {start:g} to {end:g}")
    held = blocks_of(trace.prompt, block) + blocks_of(trace.output, block)
    for words, refused in (
        ("without output", trace.output == 0),
        (f"with a prompt above {longest} tokens", trace.prompt > longest),
        (f"above memory {memory}", held > memory // block),
    ):
        if count := int(refused[kept].sum()):
            notes.append(f"{count} dropped {words}")
            dropped[words] = dropped.get(words, 0) + count
            kept = kept[~refused[kept]]
    return Selection(kept, notes, dropped)


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
    strict: bool = False,
) -> Instance:
    """Cut an instance out of a trace.

    Requests outside the window, without output, with too long a prompt or too large for the
    memory are left out, in this order, and counted in the ``source`` of the instance; of the
    others a random sample is drawn, which keeps the order of the trace. Dates count from the
    arrival that the instance has, in its rounds, rounded down.

    Parameters
    ----------
    memory : tokens; with blocks, rounded down to whole blocks.
    sample : how many requests, drawn without replacement; None takes all.
    seed : seed of the sample and of Poisson arrivals.
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
    strict : whether to raise an error rather than leave a request out; the window leaves out none.

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
    rng = stream(seed, "instance")
    prompt, output = blocks_of(trace.prompt, block), blocks_of(trace.output, block)
    tick_seconds = None
    start = 0.0 if window is None else window[0]
    chosen = select(trace, memory=memory, window=window, block=block, max_prompt=max_prompt)
    kept, notes = chosen.kept, chosen.notes
    if strict and chosen.dropped:
        raise ValueError(f"strict: {'; '.join(notes)}")
    if len(kept) == 0 or len(kept) < (sample or 0):
        left = (
            f"{len(kept)} are left, fewer than {sample}" if sample and len(kept) else "none is left"
        )
        raise ValueError(f"{'; '.join(notes)}; {left}")
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
        notes.append(NOTE.format(block))
    return Instance(
        name or trace.name,
        memory // block,
        arrival,
        prompt[kept],
        output[kept],
        source="; ".join(notes),
        tick_seconds=tick_seconds,
        **_promised(trace.promises, kept, arrival, rounds_per_second / block),
    )


def _promised(
    promises: Mapping[str, Seconds], kept: IntArray, arrival: IntArray, rounds: float
) -> dict[str, IntArray]:
    """Return the columns of promises of an instance, ``rounds`` to the second."""
    found = {}
    for name, column in promises.items():
        if name == "weight":
            found[name] = column[kept].astype(np.int64)
            continue
        limit = np.floor(np.round(np.minimum(column[kept], LATEST / rounds) * rounds, 6))
        found[name] = np.maximum(1, arrival + limit.astype(np.int64))
    return found


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
    require_speed(rounds_per_second)


def require_speed(rounds_per_second: float) -> None:
    """Raise ValueError unless rounds of this number in a second are a tick of an instance."""
    if not 1 / LONGEST_TICK <= rounds_per_second <= 10**6:
        limits = f"between {1 / LONGEST_TICK:f} and 1000000"
        raise ValueError(f"rounds_per_second {rounds_per_second} must be {limits}")
