"""The Mooncake traces."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Mooncake",
    {"arrival": "timestamp", "prompt": "input_length", "output": "output_length"},
    {"blocks": "hash_ids"},
    unit="ms",
    block=512,
    source="Qin et al., Mooncake (FAST 2025), traces in JSON lines with hash_ids",
)
