"""Options that may read an unknown log: judged by names of columns, and tried on the rows.

Names say which columns a role may have. The rows decide: tokens are whole numbers, instants are in
order, most requests are served. A role that makes the log unreadable, or leaves rows out for
impossible times, is not suggested.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ratiolab.workloads.layout import Layout
from ratiolab.workloads.logs import Columns, columns_of
from ratiolab.workloads.tables import Table

NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt", "input", "context", "prefill", "n_in", "tokens_in", "isl"),
    "output": (
        *(
            "output",
            "completion",
            "generated",
            "generation",
            "response",
            "decode",
            "n_out",
            "tokens_out",
            "osl",
        ),
    ),
    "arrival": (
        *("arriv", "received", "created", "submit", "enqueue", "request_start", "request_time"),
        *("start_time", "started", "start", "timestamp", "date", "time", "ts", "when", "sent"),
    ),
    "first": (
        "first_token",
        "first_chunk",
        "completion_start",
        "prefill_finish",
        "prefill_end",
        "first",
    ),
    "finish": ("finish", "end_time", "ended", "completed_at", "end", "done", "response_sent"),
    "latency": ("latency", "e2e", "duration", "elapsed", "total_time", "response_time"),
    "ttft": ("ttft", "time_to_first", "first_token_latency"),
    "status": ("status", "finish_reason", "outcome", "state", "result", "error", "success"),
}
"""Parts of names of columns, in small letters, the most telling first."""

UNLIKE: Mapping[str, tuple[str, ...]] = {
    "prompt": ("max", "cost", "price", "cached", "total", "per", "rate", "throughput", "speed"),
    "output": ("max", "cost", "price", "cached", "total", "per", "rate", "throughput", "speed"),
    "arrival": (
        *("first", "end", "finish", "finished", "completed", "completion", "queue", "latency"),
        *("duration", "elapsed", "ttft", "tpot", "itl", "e2e", "timeout", "delay", "last", "wait"),
        *("prefill", "decode", "execution", "processing", "scheduling", "inter", "token", "tokens"),
    ),
    "first": ("latency", "duration", "scheduled", "name"),
    "finish": ("first", "prefill", "reason", "start", "dispatch"),
    "latency": ("first", "ttft", "queue", "prefill", "itl", "token", "tokens", "inter", "network"),
    "ttft": ("finish",),
    "status": ("id", "message", "msg", "count"),
}
"""Words of names that a role does not have."""

TEXT = ("text", "content", "hash", "id", "ids", "body", "name", "model", "user", "key")
"""Words of names of columns that hold no number."""

OPTIONAL = ("finish", "first", "latency", "ttft", "status")

LOST = 0.5
"""Part of the rows that a suggestion may leave out."""

ROWS = 5000
"""Rows on which suggestions are tried, the first of a log."""

TRIED = 6
"""Columns of a role that are tried."""


def guessed(table: Table) -> str:
    """Return options that read a table, or nothing where that is not clear.

    >>> columns = {"received_ms": [1, 9], "inputTokens": [7, 8], "max_output_tokens": [99, 99]}
    >>> guessed(Table(columns | {"output_tokens": [2, 3], "first token": ["?", "?"]}))
    '--columns arrival=received_ms,prompt=inputTokens,output=output_tokens'
    """
    first = {name: values[:ROWS] for name, values in table.columns.items()}
    table = Table(first, delimiter=table.delimiter)
    best: tuple[dict[str, str], str, Columns] | None = None
    for chosen in _needed(table):
        found = _read(table, chosen)
        if found is not None and (best is None or _earlier(table, chosen, best[0])):
            best = (chosen, *found)
    if best is None:
        return ""
    chosen, unit, read = best
    for role in OPTIONAL:
        for name in _candidates(table, role):
            if name in chosen.values():
                continue
            found = _read(table, chosen | {role: name}, unit)
            if found is not None and _helps(role, read, found[1]):
                chosen, read = chosen | {role: name}, found[1]
                break
    words = ",".join(f"{role}={_quoted(name)}" for role, name in chosen.items())
    return f"--columns {shlex.quote(words)}" + (f" --time-unit {unit}" if unit else "")


def _needed(table: Table) -> Iterator[dict[str, str]]:
    """Return columns that may be arrivals, prompts and outputs, the most telling names first."""
    for prompt in _candidates(table, "prompt")[:TRIED]:
        for output in _candidates(table, "output")[:TRIED]:
            if prompt == output or not _whole(table, prompt) or not _whole(table, output):
                continue
            tokens = {"prompt": prompt, "output": output}
            arrivals = _candidates(table, "arrival")[:TRIED]
            for arrival in arrivals:
                if arrival not in (prompt, output):
                    yield {"arrival": arrival, **tokens}
            if not arrivals:
                yield tokens
            return


def _earlier(table: Table, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether the arrivals of one choice are before those of another in most rows."""
    both = {"arrival": other["arrival"], "first": one["arrival"]}
    read = _read(table, both | {role: one[role] for role in ("prompt", "output")})
    if read is not None:
        return False  # it is never before, so the more telling name stays
    turned = {"arrival": one["arrival"], "first": other["arrival"]}
    return _read(table, turned | {role: one[role] for role in ("prompt", "output")}) is not None


def _read(table: Table, chosen: Mapping[str, str], unit: str = "") -> tuple[str, Columns] | None:
    """Return the unit that must be said, if any, and the log, when these columns read it."""
    layout = Layout("a guess", dict(chosen), unit=None, given=True)
    for each in [unit] if unit else ("", "s", "ms", "us", "ns"):
        try:
            found = columns_of(table, layout, {"arrival": each} if each else {})
        except ValueError as error:
            if not each and (match := re.search(r"say --time-unit (\w+) \(", str(error))):
                return _read(table, chosen, match[1])
            return None
        if any(" before " in why or " after " in why for why in found.dropped):
            return None
        if sum(found.dropped.values()) > LOST * len(table):
            return None
        return each, found
    return None


def _helps(role: str, before: Columns, after: Columns) -> bool:
    """Return whether a column tells more than is known without it."""
    unused = [sum("not used" in note for note in each.notes) for each in (before, after)]
    if unused[1] > unused[0] and role in ("first", "ttft"):
        return False
    instants = {"latency": "finish", "ttft": "first"}
    return role == "status" or instants.get(role, role) not in before.times


def _whole(table: Table, name: str) -> bool:
    """Return whether a column has tokens: whole numbers, not all of them 0."""
    values = [value for value in table.columns[name][:1000] if value not in (None, "")]
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    whole = all(number >= 0 and number % 1 == 0 for number in known)
    return len(known) > LOST * len(values) and whole and any(known)


def _number(value: Any) -> float | None:
    if isinstance(value, (bool, list, dict)):
        return None
    try:
        return float(str(value).replace(",", "").replace(" ", ""))
    except ValueError:
        return None


def _candidates(table: Table, role: str) -> list[str]:
    """Return the columns whose names may be those of a role, the most telling first."""
    found: dict[str, None] = {}
    unlike = set(UNLIKE[role]) | (set() if role == "status" else set(TEXT))
    for part in NAMES[role]:
        for name in table.columns:
            words = _words(name)
            if set(words) & unlike:
                continue
            plain = "_" + "_".join(words)
            if f"_{part}" in plain if len(part) > 3 else part in words:
                found[name] = None
    return list(found)


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _words(name: str) -> Sequence[str]:
    """Return the words of a name, in small letters: of ``inputTokens`` and ``input_tokens``."""
    return re.findall(
        r"[a-z]+\d[a-z]+|[a-z]+|[0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    )
