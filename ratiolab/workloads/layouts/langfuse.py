"""Langfuse's observations, from its interface, its API or its export to blob storage."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Langfuse observations",
    {
        "arrival": ("startTime", "start_time"),
        "prompt": (
            *("usageDetails.input", "usage_details.input", "usage.input"),
            *("promptTokens", "prompt_tokens", "inputUsage", "input_usage"),
        ),
        "output": (
            *("usageDetails.output", "usage_details.output", "usage.output"),
            *("completionTokens", "completion_tokens", "outputUsage", "output_usage"),
        ),
    },
    {
        "first": ("completionStartTime", "completion_start_time"),
        "finish": ("endTime", "end_time"),
        "status": "level",
    },
    marks=(("traceId", "trace_id"), ("completionStartTime", "completion_start_time")),
    unit=None,
    served=("default", "debug", "warning"),
    source="langfuse.com/docs, blob storage export field reference (observations_v2), and the "
    "public API's ObservationsView; only generations have tokens",
)
