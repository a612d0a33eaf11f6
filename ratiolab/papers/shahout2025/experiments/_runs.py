"""The runs of TRAIL's experiment: systems by the paper's names, compared instance by instance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

SETTING, RATE, MEMORY, SYSTEM = "workload.label", "per second", "workload.memory", "system"
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

ERRORS = {
    "initial_error": "initial",
    "classified_error": "classifier alone",
    "filtered_error": "filter, corrected",
    "printed_error": "filter, printed",
}


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs, and quotients of two systems on the same instances."""

    rows: "pd.DataFrame"

    def at(self, setting: str, *, rate: float | None = None, memory: int | None = None) -> "Runs":
        """Those of a setting."""
        rows = self.rows[self.rows[SETTING] == setting]
        if rate is not None:
            rows = rows[rows[RATE] == rate]
        if memory is not None:
            rows = rows[rows[MEMORY] == memory]
        return Runs(rows)

    @property
    def rates(self) -> list[float]:
        """Requests a second."""
        return sorted(self.rows[RATE].unique().tolist())

    def mean(self, system: str, figure: str) -> float:
        """Over seeds."""
        return float(self.rows.loc[self.rows[SYSTEM] == system, figure].mean())

    def over(self, system: str, other: str, figure: str) -> "Quotient":
        """How many times the other's figure a system has."""
        table = self.rows.pivot(index="instance", columns=SYSTEM, values=figure)
        paired = (table[system] / table[other]).rename("q").to_frame().assign(all=0)
        row = intervals(paired, ["all"], "q").iloc[0]
        return Quotient(*(float(row[name]) for name in ("mean", "low", "high")))


@dataclass(frozen=True)
class Quotient:
    mean: float
    low: float
    high: float

    @property
    def lower(self) -> bool:
        return self.high < 1

    @property
    def higher(self) -> bool:
        return self.low > 1

    @property
    def similar(self) -> bool:
        return abs(self.mean - 1) <= SIMILAR

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


def with_c(c: float, system: str = TRAIL) -> str:
    """The name of a system whose C is not the default."""
    return system if c == DEFAULT else f"{system}, C = {c:g}"


def named(rows: "pd.DataFrame") -> "pd.DataFrame":
    def name(row: "pd.Series") -> str:
        key, c, spread = row["policy"], row["policy.c"], row["policy.spread"]
        if key in ("fcfs", "sjf", "srpt"):
            return {"fcfs": FCFS, "sjf": SJF, "srpt": EXACT}[key]
        if key == "sprpt":
            return with_c(c, BERT)
        if row["policy.propagation"] == "printed":
            return PRINTED
        return with_c(c) if spread == SPREAD else with_spread(spread)

    named = rows.assign(**{RATE: rows["workload.rate"] * 1000})
    return named.assign(**{SYSTEM: named.apply(name, axis=1)})


def with_spread(spread: float) -> str:
    return TRAIL if spread == SPREAD else f"{TRAIL}, spread {spread:g}"


def by_spread(rows: "pd.DataFrame") -> Errors:
    """Mean absolute errors, tokens, by the classifier's spread."""
    means = rows.groupby("option.spread")[list(ERRORS)].mean()
    return {
        spread: dict(zip(ERRORS, values, strict=True))
        for spread, values in zip(means.index.tolist(), means.to_numpy().tolist(), strict=True)
    }
