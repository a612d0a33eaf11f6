"""Layouts of request logs: which column of a file is what.

A role is what a column is to a trace. Instants: ``arrival``, ``start`` (of the first batch that
serves the request), ``first`` (first token) and ``finish`` (last token); durations after the
arrival: ``wait``, ``ttft`` and ``latency``; ``gap``, the time since the arrival before; tokens:
``prompt`` and ``output``; ``status``, which is empty or ``ok`` where a request was served.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ratiolab.workloads.guess import guessed

INSTANTS = ("arrival", "start", "first", "finish")
DURATIONS = ("gap", "wait", "ttft", "latency")
TOKENS = ("prompt", "output")
ROLES = (*INSTANTS, *DURATIONS, *TOKENS, "status")

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit of time, which numbers of a log may have, make a second."""

SERVED = (
    *("", "ok", "success", "succeeded", "completed", "finished", "done", "true"),
    *("stop", "length"),  # reasons why an output ended
    *("200", "200.0"),  # of HTTP
)
"""Words of a status, in small letters, of a request that was served."""


@dataclass(frozen=True)
class Layout:
    """A known or given way to write a log.

    Parameters
    ----------
    name : for messages.
    columns : the column of each role.
    optional : columns of further roles, used where the file has them.
    unit : of instants and durations that are numbers, a key of `UNITS`.
    source : where the layout is described.
    """

    name: str
    columns: Mapping[str, str]
    optional: Mapping[str, str]
    unit: str = "s"
    source: str = ""

    def fits(self, header: Collection[str]) -> bool:
        """Return whether a file with these columns is of the layout."""
        return set(self.columns.values()) <= set(header)

    def within(self, header: Collection[str]) -> dict[str, str]:
        """Return the column of each role that such a file has."""
        there = {role: name for role, name in self.optional.items() if name in header}
        return {**self.columns, **there}


VLLM = Layout(
    "vLLM serving benchmark",
    {"prompt": "input_lens", "output": "output_lens"},
    {"arrival": "start_times", "ttft": "ttfts", "latency": "latencies", "status": "errors"},
    source="vllm bench serve --save-result --save-detailed: a JSON object of lists, one value a "
    "request; latency is ttfts and the sum of itls (vllm/benchmarks/serve.py)",
)
"""Read from JSON, whose lists become columns; ``latencies`` is computed from ``itls``."""

LAYOUTS: Sequence[Layout] = (
    Layout(
        "Azure LLM inference trace",
        {"arrival": "TIMESTAMP", "prompt": "ContextTokens", "output": "GeneratedTokens"},
        {},
        source="Azure Public Dataset, AzureLLMInferenceTrace_{code,conv}, 2023 (Patel et al., "
        "Splitwise, ISCA 2024) and one week of 2024 (Stojkovic et al., DynamoLLM, HPCA 2025)",
    ),
    Layout(
        "BurstGPT",
        {"arrival": "Timestamp", "prompt": "Request tokens", "output": "Response tokens"},
        {"latency": "Elapsed time"},
        source="Wang et al., BurstGPT (2024), arXiv 2401.17644, releases 1.1 and 2.0; requests "
        "without response tokens failed",
    ),
    Layout(
        "Mooncake",
        {"arrival": "timestamp", "prompt": "input_length", "output": "output_length"},
        {},
        unit="ms",
        source="Qin et al., Mooncake (FAST 2025), traces in JSON lines with hash_ids",
    ),
    Layout(
        "BLIS TraceV2",
        {"arrival": "arrival_time_us", "prompt": "input_tokens", "output": "output_tokens"},
        {"sent": "send_time_us", "first": "first_chunk_time_us", "finish": "last_chunk_time_us"}
        | {"status": "status"},
        unit="us",
        source="inference-sim (BLIS), sim/workload/tracev2.go: the CSV of a trace of version 2 or "
        "3; chunk times of 0 were not recorded, and count from send_time_us",
    ),
    Layout(
        "Vidur requests",
        {"arrival": "arrived_at", "prompt": "num_prefill_tokens", "output": "num_decode_tokens"},
        {},
        source="Agrawal et al., Vidur (MLSys 2024), arXiv 2405.05465: trace replay",
    ),
    Layout(
        "Vidur request metrics",
        {
            "gap": "request_inter_arrival_delay",
            "prompt": "request_num_prefill_tokens",
            "output": "request_num_decode_tokens",
        },
        {
            "wait": "request_scheduling_delay",
            "ttft": "prefill_e2e_time",
            "latency": "request_e2e_time",
        },
        source="Vidur, request_metrics.csv (vidur/metrics/constants.py); the first request has no "
        "delay since the one before",
    ),
    Layout(
        "prefill and decode lengths",
        {"prompt": "num_prefill_tokens", "output": "num_decode_tokens"},
        {},
        source="Vidur's processed length traces, without times",
    ),
    VLLM,
)
"""Known layouts; the first one that fits counts."""


def layout_of(header: Collection[str]) -> Layout:
    """Return the known layout that fits these columns.

    Raises
    ------
    ValueError
        names the columns of the known layouts, and how to name those of another one.
    """
    for layout in LAYOUTS:
        if layout.fits(header):
            return layout
    guess = guessed(header)
    how = f"perhaps {guess}" if guess else "as in --columns arrival=ts,prompt=n_in,output=n_out"
    known = "; ".join(f"{each.name}: {', '.join(each.columns.values())}" for each in LAYOUTS)
    raise ValueError(
        f"no known layout has its columns, which are {', '.join(header)[:300]}; name them, "
        f"{how} (known layouts: {known})"
    )


def given_layout(words: str, unit: str | None, header: Collection[str]) -> Layout:
    """Return the layout that ``arrival=ts,prompt=n_in,output=n_out`` names, for these columns.

    Raises
    ------
    ValueError
        names the role or column that is missing, unknown or named twice.
    """
    columns: dict[str, str] = {}
    for word in words.split(","):
        role, sign, name = word.strip().partition("=")
        if not sign or not name:
            raise ValueError(f"columns {word!r} must be role=column")
        if role not in ROLES:
            raise ValueError(f"columns: {role!r} is no role; roles are {', '.join(ROLES)}")
        if role in columns:
            raise ValueError(f"columns: {role!r} is named twice")
        if name not in header:
            raise ValueError(f"columns: there is no column {name!r}, only {', '.join(header)}")
        columns[role] = name
    for role in TOKENS:
        if role not in columns:
            raise ValueError(f"columns: {role!r} is missing, as in {role}=COLUMN")
    if unit is not None and unit not in UNITS:
        raise ValueError(f"time unit {unit!r} must be one of {', '.join(UNITS)}")
    return Layout("columns that were named", columns, {}, unit or "s")
