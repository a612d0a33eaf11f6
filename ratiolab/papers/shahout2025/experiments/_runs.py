"""The runs of TRAIL's experiment: systems by the paper's names, compared instance by instance."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from ratiolab.papers.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

SYSTEM = "system"
FIGURES = {
    "mean_latency": "mean latency",
    "median_latency": "median latency",
    "mean_ttft": "mean TTFT",
    "median_ttft": "median TTFT",
}
FCFS, SJF, BERT, TRAIL = "vLLM-FCFS", "vLLM-SJF", "TRAIL-BERT", "TRAIL"
PRINTED, EXACT = "TRAIL, printed filter", "exact lengths"
SHOWN = (FCFS, SJF, BERT, TRAIL, PRINTED)
DEFAULT = 0.8
SPREAD = 0.3
PAPER_RATE = 14.0

SIMILAR = 0.02
"""Similar, or minimal: means differ by at most this share."""

Errors: TypeAlias = Mapping[float, Mapping[str, float]]
ERRORS = ("initial_error", "classified_error", "filtered_error", "printed_error")


def by_system(frame: "pd.DataFrame") -> Runs:
    """Return the runs of systems, with setting, rate (a second) and memory as columns."""

    def name(row: "pd.Series") -> str:
        key, c, spread = row["policy"], row["policy.c"], row["policy.spread"]
        if key in ("fcfs", "sjf", "srpt"):
            return {"fcfs": FCFS, "sjf": SJF, "srpt": EXACT}[key]
        if key == "sprpt":
            return with_c(c, BERT)
        if row["policy.propagation"] == "printed":
            return PRINTED
        return with_c(c) if spread == SPREAD else with_spread(spread)

    rows = frame.assign(
        setting=frame["workload.label"],
        rate=frame["workload.rate"] * 1000,
        memory=frame["workload.memory"].astype(int),
    )
    return Runs(rows.assign(**{SYSTEM: rows.apply(name, axis=1)}), [SYSTEM], pair="instance")


def with_c(c: float, system: str = TRAIL) -> str:
    """Return the name of a system whose C is not the default."""
    return system if c == DEFAULT else f"{system}, C = {c:g}"


def with_spread(spread: float) -> str:
    """Return the name of TRAIL with a classifier of some confusion."""
    return TRAIL if spread == SPREAD else f"{TRAIL}, spread {spread:g}"


def by_spread(rows: "pd.DataFrame") -> Errors:
    """Return mean absolute errors, tokens, by the classifier's spread."""
    means = rows.groupby("option.spread")[list(ERRORS)].mean()
    return cast(Errors, means.to_dict("index"))
