"""What Vidur measures of each request."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Vidur request metrics",
    {
        "gap": "request_inter_arrival_delay",
        "prompt": "request_num_prefill_tokens",
        "output": "request_num_decode_tokens",
    },
    {"wait": "request_scheduling_delay", "ttft": "prefill_e2e_time", "latency": "request_e2e_time"},
    source="Vidur, request_metrics.csv (vidur/metrics/constants.py); the first request has no "
    "delay since the one before",
)
