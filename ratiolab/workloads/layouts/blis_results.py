"""Results of a BLIS simulation."""

from ratiolab.workloads.layout import Columns, Layout


def _unfinished(columns: Columns) -> Columns:
    """Return the times that were recorded: 0 says that the request had not come so far."""
    return {
        f"{name} or none": [value or None for value in columns[name]]
        for name in ("ttft_ms", "e2e_ms")
        if name in columns
    }


LAYOUT = Layout(
    "BLIS results",
    {"arrival": "arrived_at", "prompt": "num_prefill_tokens", "output": "num_decode_tokens"},
    {"ttft": "ttft_ms or none", "latency": "e2e_ms or none", "wait": "scheduling_delay_ms"},
    marks=("requestID", "e2e_ms"),
    units={"ttft": "ms", "latency": "ms", "wait": "ms"},
    derived=_unfinished,
    source="inference-sim (BLIS), sim/metrics_utils.go: the list 'requests' of saved results; "
    "arrivals in seconds, all else in milliseconds",
)
