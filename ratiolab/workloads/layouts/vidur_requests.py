"""Requests that Vidur replays."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Vidur requests",
    {"arrival": "arrived_at", "prompt": "num_prefill_tokens", "output": "num_decode_tokens"},
    source="Agrawal et al., Vidur (MLSys 2024), arXiv 2405.05465: trace replay",
)
