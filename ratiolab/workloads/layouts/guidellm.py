"""GuideLLM's requests."""

from ratiolab.workloads.layout import Columns, Layout

OUTCOMES = {"successful", "errored", "incomplete"}


def _outcome(columns: Columns) -> Columns:
    """Return what became of each request: the list that it stands in says so."""
    lists = columns.get("(rows)", ())
    return {"outcome": lists} if lists and set(lists) <= OUTCOMES else {}


LAYOUT = Layout(
    "GuideLLM",
    {
        "arrival": ("request_start_time", "start_time"),
        "prompt": "prompt_tokens",
        "output": "output_tokens",
    },
    {
        "finish": ("request_end_time", "end_time"),
        "first": "first_token_time",
        "ttft": "time_to_first_token_ms",
        "latency": "request_latency",
        "status": "outcome",
    },
    marks=(("time_to_first_token_ms", "request_latency", "first_token_time"),),
    units={"ttft": "ms"},
    derived=_outcome,
    source="vllm-project/guidellm, src/guidellm/schemas/request_stats.py: the lists successful, "
    "errored and incomplete of benchmarks[].requests",
)
