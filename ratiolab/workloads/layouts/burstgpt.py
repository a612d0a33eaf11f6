"""BurstGPT."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "BurstGPT",
    {"arrival": "Timestamp", "prompt": "Request tokens", "output": "Response tokens"},
    {"latency": "Elapsed time"},
    source="Wang et al., BurstGPT (2024), arXiv 2401.17644, releases 1.1 and 2.0; requests "
    "without response tokens failed",
)
