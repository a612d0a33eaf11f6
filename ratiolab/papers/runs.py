"""Runs of a study by place and seed: means, paired ratios with intervals, series over an axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ratiolab.studies.frames import intervals

if TYPE_CHECKING:
    import pandas as pd

Place: TypeAlias = "str | float | tuple[str | float, ...]"
"""Labels that distinguish runs, beside the seed: a policy, or label, rate, policy and so on."""


@dataclass(frozen=True)
class Ratio:
    """Mean ratio of two runs on one instance, with its 95% bootstrap interval over seeds."""

    mean: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.mean

    def __format__(self, spec: str) -> str:
        spec = spec or ".2f"
        return f"{self.mean:{spec}} ({self.low:{spec}} to {self.high:{spec}})"

    def __str__(self) -> str:
        return format(self)

    @property
    def side(self) -> int:
        """Return 1 when certainly above one, -1 when certainly below, else 0."""
        return int(self.low > 1) - int(self.high < 1)


class Runs:
    """Figures of a study's runs by place and seed.

    The columns `by` make up a place; `pair` says which runs of two places are compared with each
    other.
    """

    def __init__(self, frame: "pd.DataFrame", by: Sequence[str], pair: str = "seed") -> None:
        self.frame, self.by, self.pair = frame, list(by), pair
        self._table = frame.set_index([*by, pair]).sort_index()

    def at(self, **values: Any) -> "Runs":
        """Return the runs with these values of some columns, which no longer make up a place."""
        rows = self.frame
        for column, value in values.items():
            rows = rows[rows[column] == value]
        return Runs(rows, [column for column in self.by if column not in values], self.pair)

    def levels(self, column: str) -> list[Any]:
        """Return the values of a column, sorted."""
        return sorted(self.frame[column].unique().tolist())

    def rows(self, place: Place) -> "pd.DataFrame":
        """Return all runs at a place."""
        return cast("pd.DataFrame", self._table.xs(place))

    def values(self, place: Place, metric: str) -> "pd.Series":
        """Return one figure, by seed."""
        return self.rows(place)[metric]

    def mean(self, place: Place, metric: str) -> float:
        """Return the mean of a figure over seeds."""
        return float(self.values(place, metric).mean())

    def ratio(self, place: Place, other: Place, metric: str) -> Ratio:
        """Return the figure of one place over that of another, paired by seed."""
        return mean_with_interval(self.values(place, metric) / self.values(other, metric))

    def series(self, place: Place, axis: str, metric: str) -> "pd.Series":
        """Return the means of a figure over seeds for every value of a column."""
        means: pd.Series = self.rows(place).groupby(axis, dropna=False)[metric].mean()
        return means


def growth(series: "pd.Series") -> float:
    """Return how many times the first value the last one is."""
    return float(series.iloc[-1] / series.iloc[0])


def mean_with_interval(values: "pd.Series") -> Ratio:
    """Return the mean of some values with its bootstrap interval."""
    import pandas as pd

    row = intervals(pd.DataFrame({"by": 0, "value": values.to_numpy()}), ["by"], "value").iloc[0]
    return Ratio(*(float(row[name]) for name in ("mean", "low", "high")))
