"""Orders by what a learned predictor says: a length, or only a rank."""

from dataclasses import dataclass
from typing import ClassVar

from ratiolab.online.policies.greedy import SJF


@dataclass(frozen=True)
class SSJF(SJF):
    """Shortest predicted output first, the prediction that of a small regression model.

    It decides exactly as ``sjf``; the name is that of the system. Give it point predictions that
    err as the model does, as `predictions.gaussian` or the medians of `distributional`.
    """

    name: ClassVar[str] = "ssjf"
    source: ClassVar[str] = "Qiu et al. (2024), arXiv 2404.08509"


@dataclass(frozen=True)
class LTR(SJF):
    """Least score first, the score that of a model which learned to rank and not to measure.

    It decides as ``sjf`` does on the same column: only comparisons of scores count. Give it
    `predictions.ranked`. The system's guard against starvation is not built.
    """

    name: ClassVar[str] = "ltr"
    source: ClassVar[str] = "Fu et al. (2024), arXiv 2408.15792"
