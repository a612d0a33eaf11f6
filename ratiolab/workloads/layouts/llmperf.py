"""LLMPerf's individual responses, which have durations and no arrivals."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "LLMPerf",
    {"prompt": "number_input_tokens", "output": "number_output_tokens"},
    {"ttft": "ttft_s", "latency": "end_to_end_latency_s", "status": "error_code"},
    marks=("end_to_end_latency_s",),
    without_arrival="LLMPerf does not write when a request was sent",
    source="ray-project/llmperf, src/llmperf/common_metrics.py: NAME_individual_responses.json",
)
