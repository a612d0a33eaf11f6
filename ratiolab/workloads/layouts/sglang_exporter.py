"""Request metrics that an SGLang server exports."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "SGLang request metrics",
    {
        "arrival": "request_received_ts",
        "prompt": "prompt_tokens",
        "output": "completion_tokens",
    },
    {
        "first": ("prefill_finished_time", "prefill_finished_ts"),
        "finish": ("request_finished_ts", "response_sent_to_client_ts"),
        "latency": "e2e_latency",
        "status": ("finish_reason.type", "finish_reason"),
    },
    source="sglang --export-metrics-to-file, request_metrics_exporter.py (PR 10973): JSON lines "
    "with times in seconds",
)
