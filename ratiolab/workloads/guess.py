"""What the columns of an unknown log may be, judged by their names: a suggestion for a message."""

import re
from collections.abc import Collection, Sequence

NAMES = (
    ("prompt", ("prompt", "input", "context", "prefill", "n_in", "tokens_in")),
    ("output", ("output", "completion", "generated", "response", "decode", "n_out", "tokens_out")),
    ("status", ("status", "finish_reason", "outcome", "error")),
    ("ttft", ("ttft", "first_token_latency", "time_to_first")),
    ("latency", ("latency", "duration", "e2e", "elapsed")),
    ("finish", ("finish", "end_time", "ended", "completed_at")),
    ("start", ("start_time", "scheduled", "started")),
    (
        "arrival",
        ("arriv", "received", "created", "submit", "timestamp", "request_time", "time", "ts"),
    ),
)
"""Roles, each with parts of names in small letters, the most telling first."""

NEEDED = ("arrival", "prompt", "output")
TEXT = ("text", "content", "hash", "id", "ids", "body")
"""Words of names of columns that hold no number."""


def guessed(header: Collection[str]) -> str:
    """Return options that may read a log with these columns, or nothing where that is not clear.

    >>> guessed(["id", "received_ms", "input_tokens", "outputTokens"])
    '--columns arrival=received_ms,prompt=input_tokens,output=outputTokens --time-unit ms'
    >>> guessed(["a", "b"])
    ''
    """
    left = [name for name in header if not set(_words(name)) & set(TEXT) and "," not in name]
    found: dict[str, str] = {}
    for role, parts in NAMES:
        if (name := _first(left, parts)) is not None:
            found[role] = name
            left.remove(name)
    if "arrival" not in found and "start" in found:
        found["arrival"] = found.pop("start")
    if not set(NEEDED) <= set(found):
        return ""
    roles = [*NEEDED, *(role for role in found if role not in NEEDED)]
    words = "--columns " + ",".join(f"{role}={found[role]}" for role in roles)
    units = {
        each for role in roles for each in _words(found[role])[-1:] if each in ("ms", "us", "ns")
    }
    return words + (f" --time-unit {units.pop()}" if len(units) == 1 else "")


def _first(names: Sequence[str], parts: Sequence[str]) -> str | None:
    for part in parts:
        for name in names:
            plain = "_".join(_words(name))
            if part in plain if len(part) > 2 else part in _words(name):
                return name
    return None


def _words(name: str) -> list[str]:
    """Return the words of a name, in small letters: of ``inputTokens`` and ``input_tokens``."""
    return re.findall(r"[a-z]+|[0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
