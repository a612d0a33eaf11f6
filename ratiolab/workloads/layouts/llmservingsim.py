"""Results of LLMServingSim, in nanoseconds."""

from collections import Counter

from ratiolab.workloads.layout import Columns, Layout


def _generated(columns: Columns) -> Columns:
    """Return the generated tokens: the column output holds prompt and output together.

    The times between tokens tell whether it does; a version that writes the generated tokens alone
    keeps its column.
    """
    names = ("input", "output", "latency", "TTFT", "TPOT")
    try:
        rows = [tuple(map(int, row)) for row in zip(*(columns[n] for n in names), strict=True)]
    except (KeyError, TypeError, ValueError):
        return {}  # left to the checks of each column
    votes = Counter(
        round((latency - ttft) / tpot) + 1 - whole == -prompt
        for prompt, whole, latency, ttft, tpot in rows
        if tpot > 0
    )
    if votes[False] > votes[True]:
        return {}
    return {"output - input": [whole - prompt for prompt, whole, *_ in rows]}


LAYOUT = Layout(
    "LLMServingSim",
    {"arrival": "arrival", "prompt": "input", "output": ("output - input", "output")},
    {"finish": "end_time", "wait": "queuing_delay", "ttft": "TTFT", "latency": "latency"},
    marks=("queuing_delay", "TTFT", "end_time"),
    unit="ns",
    derived=_generated,
    source="casys-kaist/LLMServingSim, output/example_cxl_run.csv and "
    "evaluation/validation/*_result.csv",
)
