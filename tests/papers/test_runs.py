"""Runs by place and seed: what is paired is paired by seed, whatever the order of rows."""

import pandas as pd
import pytest

from ratiolab.papers.runs import Ratio, Runs, growth

FRAME = pd.DataFrame(
    {
        "workload.label": "w",
        "rate": [1, 1, 2, 2] * 2,
        "policy.label": ["a"] * 4 + ["b"] * 4,
        "seed": [0, 1, 0, 1, 1, 0, 1, 0],
        "cost": [2.0, 4.0, 6.0, 8.0, 2.0, 1.0, 4.0, 3.0],
    }
)


def test_ratios_are_paired_by_seed() -> None:
    runs = Runs(FRAME, ("rate", "policy.label"))
    ratio = runs.ratio((1, "a"), (1, "b"), "cost")
    assert (ratio.mean, ratio.low, ratio.high) == (2, 2, 2)
    assert ratio.side == 1
    assert runs.values((1, "b"), "cost").to_dict() == {0: 1, 1: 2}


def test_a_part_of_the_runs_has_shorter_places_and_series_over_an_axis() -> None:
    runs = Runs(FRAME, ("workload.label", "rate", "policy.label"))
    part = runs.at(**{"workload.label": "w"}, rate=2)
    assert part.by == ["policy.label"]
    assert part.mean("a", "cost") == 7
    assert runs.levels("rate") == [1, 2]
    series = Runs(FRAME, ["policy.label"]).series("a", "rate", "cost")
    assert series.to_dict() == {1: 3, 2: 7}
    assert growth(series) == pytest.approx(7 / 3)
    assert growth(series.iloc[::-1]) == pytest.approx(3 / 7)


def test_a_ratio_is_written_with_its_interval() -> None:
    ratio = Ratio(1.2345, 1.1, 1.3)
    assert str(ratio) == f"{ratio}" == "1.23 (1.10 to 1.30)"
    assert f"{ratio:.4g}" == "1.234 (1.1 to 1.3)"
    assert float(ratio) == 1.2345
    assert [Ratio(1, low, high).side for low, high in ((0.8, 0.9), (0.9, 1.1))] == [-1, 0]
