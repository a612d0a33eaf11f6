"""Lengths of prefill and decode, without times."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "prefill and decode lengths",
    {"prompt": "num_prefill_tokens", "output": "num_decode_tokens"},
    source="Vidur's processed length traces, without times",
)
