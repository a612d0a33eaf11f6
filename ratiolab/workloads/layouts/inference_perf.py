"""The lifecycle of each request in inference-perf."""

from ratiolab.workloads.layout import Columns, Layout

TIMES = ("info.response_metrics.output_token_times", "info.output_token_times")


def _first_token(columns: Columns) -> Columns:
    """Return the first of the output token times of each request."""
    name = next((name for name in TIMES if name in columns), None)
    if name is None:
        return {}
    times = columns[name]
    return {"first token": [each[0] if isinstance(each, list) and each else None for each in times]}


LAYOUT = Layout(
    "inference-perf",
    {
        "arrival": "start_time",
        "prompt": ("info.input_tokens", "info.request_metrics.text.input_tokens"),
        "output": ("info.output_tokens", "info.response_metrics.output_tokens"),
    },
    {"first": "first token", "finish": "end_time", "status": "error"},
    derived=_first_token,
    source="kubernetes-sigs/inference-perf, inference_perf/reportgen/base.py: "
    "per_request_lifecycle_metrics.json; times in seconds of a monotonic clock",
)
