"""An algorithm's cost over the hindsight optimum, as an interval that is proved."""

from ratiolab.ratio.compare import Comparison, PolicyRow, compare, default_policies
from ratiolab.ratio.interval import RatioInterval

__all__ = [
    "Comparison",
    "PolicyRow",
    "RatioInterval",
    "compare",
    "default_policies",
]
