"""LiteLLM's spend logs."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "LiteLLM spend logs",
    {"arrival": "startTime", "prompt": "prompt_tokens", "output": "completion_tokens"},
    {
        "first": "completionStartTime",
        "finish": "endTime",
        "status": "status",
    },
    marks=("endTime", "call_type"),
    unit=None,
    source="BerriAI/litellm, schema.prisma, table LiteLLM_SpendLogs; without streaming, "
    "completionStartTime is endTime (issues 17335, 25598, 31385)",
)
