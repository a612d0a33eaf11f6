"""Pages on Section 5.1: a figure that fits is kept, one that cannot be is named with its chance."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ratiolab.papers import experiments
from ratiolab.papers.experiment import page_text
from ratiolab.papers.jaillet2025.experiments.section_5_1_readings import excluded, summary


def paper_like(n: int = 200) -> list[float]:
    """114 of 200 ratios 1, the largest 1.074, mean 1.005."""
    optimal = round(0.57 * n)
    rest = np.full(n - optimal, (0.005 * n - 0.074) / (n - optimal - 1))
    return [1.0] * optimal + [1.074] + list(1 + rest[1:])


def test_ratios_like_the_papers_are_not_excluded_and_others_are() -> None:
    ratios = paper_like()
    assert np.mean(ratios) == pytest.approx(1.005)
    assert not excluded(summary("described", 1, ratios).misfit)
    higher = summary("described", 1, [ratio + 0.05 for ratio in ratios])
    assert excluded(higher.misfit)
    assert higher.misfit.proven
    lower = summary("described", 2, ratios)
    assert excluded(lower.misfit)
    assert not lower.misfit.proven  # better schedules would bring it nearer to 1.047


def test_the_page_states_both_ends_of_what_the_intervals_leave(tmp_path: Path) -> None:
    rows = [
        {
            "workload": f"jaillet-model-{model}",
            "policy": policy,
            "seed": seed,
            "total_latency": cost,
            "opt_lower": 90,
            "opt_upper": 100,
        }
        for model in (1, 2)
        for seed in range(4)
        for policy, cost in (("mc-sf", 110 - 10 * (seed == 0)), ("svf", 105))
    ]
    frame = pd.DataFrame(rows).assign(version=0)
    text = page_text(experiments()["jaillet2025-section-5-1"], frame, tmp_path, quick=True)
    # mean of 100, 110, 110, 110 over 100 and over 90; one draw may be optimal, none is for certain
    assert "| Model 1: mean | 1.005 | 1.0750 to 1.1944 |" in text
    assert "| Model 1: MC-SF optimal | 114 of 200 | 0 to 1 of 4 |" in text
    assert "model 1: better on 3 of 4 draws, mean ratio 1.0500 to 1.1667" in text
    assert (tmp_path / "jaillet2025-section-5-1-intervals.png").stat().st_size > 5000


def test_the_page_on_readings_names_those_that_fit(tmp_path: Path) -> None:
    draws = {"described": 1.08, "tenth-n": 1.0, "incumbent-1": 1.03}
    other = [1.0] * 60 + list(np.linspace(1, 1.227, 200 - 60))
    rows = [
        {"option.reading": key, "option.model": model, "mc_sf": ratio * shift, "best": 1.0}
        for key, shift in draws.items()
        for model, ratios in ((1, paper_like()), (2, [1 + (r - 1) * 0.592 for r in other]))
        for ratio in ratios
    ]
    frame = pd.DataFrame(rows).assign(seed=0, version=0)
    text = page_text(experiments()["jaillet2025-section-5-1-readings"], frame, tmp_path, quick=True)
    assert "Of 3 readings 1 cannot be told from the paper's figures" in text
    assert text.count("**out**") == 2 + 1  # and once where the word is explained
    assert (tmp_path / "jaillet2025-section-5-1-readings-ratios.png").stat().st_size > 5000
