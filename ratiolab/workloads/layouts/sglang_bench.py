"""Results of SGLang's serving benchmark: vLLM's lists, with arrivals under another name."""

from ratiolab.workloads.layout import Layout
from ratiolab.workloads.layouts.vllm_bench import latencies

LAYOUT = Layout(
    "SGLang serving benchmark",
    {"arrival": "arrival_times", "prompt": "input_lens", "output": "output_lens"},
    {"ttft": "ttfts", "latency": ("latencies", "ttfts + itls"), "status": ("errors", "successes")},
    derived=latencies,
    source="python -m sglang.bench_serving --output-details (python/sglang/bench_serving.py; "
    "arrival_times since PR 39596): a JSON object of lists in a line for each run",
)
