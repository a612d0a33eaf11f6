"""The Azure LLM inference traces."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Azure LLM inference trace",
    {"arrival": "TIMESTAMP", "prompt": "ContextTokens", "output": "GeneratedTokens"},
    unit=None,  # dates; numbers are somebody's own, of any unit
    source="Azure Public Dataset, AzureLLMInferenceTrace_{code,conv}, 2023 (Patel et al., "
    "Splitwise, ISCA 2024) and one week of 2024 (Stojkovic et al., DynamoLLM, HPCA 2025)",
)
