"""The Qwen-Bailian usage traces: Mooncake's columns, with chats and turns, and in seconds."""

from ratiolab.workloads.layout import Layout

LAYOUT = Layout(
    "Qwen-Bailian",
    {"arrival": "timestamp", "prompt": "input_length", "output": "output_length"},
    marks=("chat_id", "turn"),
    source="alibaba-edu/qwen-bailian-usagetraces-anon, README: timestamp in seconds, JSON lines "
    "with chat_id, parent_chat_id, type, turn and hash_ids",
)
