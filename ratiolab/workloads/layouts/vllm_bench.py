"""Results of vLLM's serving benchmark."""

from ratiolab.workloads.layout import Columns, Layout


def latencies(columns: Columns) -> Columns:
    """Return the latency of each request: its TTFT and the sum of its inter-token latencies."""
    if not {"ttfts", "itls"} <= columns.keys():
        return {}
    try:
        pairs = zip(columns["ttfts"], columns["itls"], strict=True)
        # a request that failed has neither
        return {"ttfts + itls": [first + sum(rest) if first else None for first, rest in pairs]}
    except TypeError:
        raise ValueError("itls must be lists of numbers, one for each request") from None


LAYOUT = Layout(
    "vLLM serving benchmark",
    {"prompt": "input_lens", "output": "output_lens"},
    {
        "arrival": "start_times",
        "ttft": "ttfts",
        "latency": ("latencies", "ttfts + itls"),
        "status": "errors",
    },
    derived=latencies,
    without_arrival="start_times is missing: vLLM of 2026-01 or newer writes it with "
    "--save-detailed",
    source="vllm bench serve --save-result --save-detailed (vllm/benchmarks/serve.py; start_times "
    "since PR 32667): a JSON object of lists, one value a request",
)
