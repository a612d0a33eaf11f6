"""Every number that is given to a parameter is refused, or the policy serves an instance."""

from contextlib import suppress
from typing import Literal, get_origin

import pytest

from ratiolab.model import Instance
from ratiolab.online import POLICIES, make, simulate
from ratiolab.online.registry import parameters_of

SMALL = Instance(
    "small",
    20,
    [0, 0, 0, 2, 5],
    [1, 2, 3, 0, 1],
    [4, 9, 1, 7, 3],
    lower=[1] * 5,
    upper=[12] * 5,
    predicted=[4, 8, 2, 6, 3],
    location=[1000] * 5,
    scale=[500] * 5,
    freedom=[3500] * 5,
)
EXTREMES = (
    "1e308", "1e20", str(10**30), "1.0000000001", str(1 + 2**-52), "5e-324", "0", "-1", "nan",
    "inf", str(2**31), str(2**63), "0.999999999999",
)  # fmt: skip
NUMBERS = [
    (key, name)
    for key in POLICIES
    for name, (kind, _) in parameters_of(key).items()
    if get_origin(kind) is not Literal and kind is not bool
]


@pytest.mark.parametrize(("key", "name"), NUMBERS)
def test_a_policy_refuses_an_extreme_parameter_or_serves_with_it(key, name):
    for text in EXTREMES:
        with suppress(ValueError):
            simulate(SMALL, make(key, {name: text}), patience=300)


@pytest.mark.parametrize("key", ["kill-restart", "gsa", "gba", "volume-restart"])
def test_a_base_beyond_all_use_is_refused_with_its_limits(key):
    for base in ("1e308", "1e300", "inf", "1"):
        with pytest.raises(ValueError, match="must be above 1 and at most 1e9"):
            make(key, {"base": base})
