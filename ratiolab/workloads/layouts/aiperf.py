"""AIPerf's records of requests."""

from ratiolab.workloads.layout import Columns, Layout


def _failed(columns: Columns) -> Columns:
    """Return why each request failed; one without an error that was not cancelled was served."""
    cancelled = columns["metadata.was_cancelled"]
    errors = columns.get("error", columns.get("error.type", [None] * len(cancelled)))
    pairs = zip(cancelled, errors, strict=True)
    return {"failed": ["cancelled" if c else "error" if e else "ok" for c, e in pairs]}


LAYOUT = Layout(
    "AIPerf",
    {
        "arrival": "metadata.request_start_ns",
        "prompt": "metrics.input_sequence_length.value",
        "output": "metrics.output_sequence_length.value",
    },
    {
        "finish": "metadata.request_end_ns",
        "ttft": "metrics.time_to_first_token.value",
        "latency": "metrics.request_latency.value",
        "status": "failed",
    },
    marks=("metadata.was_cancelled",),
    unit="ns",
    units={"ttft": "ms", "latency": "ms"},
    derived=_failed,
    source="ai-dynamo/aiperf, docs/tutorials/working-with-profile-exports.md: "
    "profile_export.jsonl; each metric states its unit",
)
