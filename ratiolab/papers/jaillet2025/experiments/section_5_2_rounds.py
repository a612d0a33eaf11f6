"""The schedulers of Table 1 of Jaillet et al. (2025) in unit rounds, between certified bounds."""

import pandas as pd

from ratiolab.papers.drawing import ratio_enclosures
from ratiolab.papers.jaillet2025.experiments.section_5_2 import (
    MC_BENCHMARK,
    MC_SF,
    POLICY,
    RATE,
    SETTING,
    SVF,
)
from ratiolab.papers.markdown import grid
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Runs
from ratiolab.studies.frames import with_bounds


def page(frame: pd.DataFrame) -> Page:
    """Compute a table and a chart of intervals around cost / OPT."""
    table = with_bounds(frame)
    runs = Runs(table, (SETTING, POLICY))
    bounds = frame[frame["task"] == "bound"]
    gaps = (bounds["opt_upper"] / bounds["opt_lower"] - 1).groupby(bounds[SETTING]).mean()

    def low(setting: str, policy: str) -> pd.Series:
        return runs.values((setting, policy), "ratio_low")

    slots = {
        "requests": int(table["requests"].max()),
        "rates": table["workload.rate"].unique().tolist(),
        "rate": RATE,
        "gaps": gaps.to_dict(),
        "ratios": grid(
            "scheduler",
            table[POLICY].unique(),
            gaps.index,
            lambda policy, setting: " to ".join(
                f"{runs.mean((setting, policy), f'ratio_{end}'):.2f}" for end in ("low", "high")
            ),
        ),
        "remarks": {
            setting: {
                "benchmark": low(setting, MC_BENCHMARK).min(),
                "mc_sf": low(setting, MC_SF).min(),
                "proven": (low(setting, MC_SF) > runs.values((setting, SVF), "ratio_high")).sum(),
            }
            for setting in gaps.index
        },
    }
    return Page(slots, charts={"ratio": ratio_enclosures(table, SETTING, POLICY)})
