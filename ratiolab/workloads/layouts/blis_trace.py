"""BLIS traces of version 2 and 3."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "BLIS TraceV2",
    {"arrival": "arrival_time_us", "prompt": "input_tokens", "output": "output_tokens"},
    {"sent": "send_time_us", "first": "first_chunk_time_us", "finish": "last_chunk_time_us"}
    | {"status": "status"},
    unit="us",
    source="inference-sim (BLIS), sim/workload/tracev2.go: the CSV of a trace of version 2 or "
    "3; chunk times of 0 were not recorded, and count from send_time_us",
)
