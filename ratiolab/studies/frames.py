"""Tables of studies made ready for pages and pictures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def with_bounds(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the runs of a study, each beside the certified bounds of its instance.

    Parameters
    ----------
    frame : the table of a study with the tasks ``simulate`` and ``bound``, or ``enclosure``.

    Returns
    -------
    The rows of ``simulate`` with the columns ``opt_lower``, ``opt_upper``, and total latency over
    them, ``ratio_high`` and ``ratio_low``: they bound cost / OPT from both sides. The bounds are
    for unit rounds and restart, so runs under another preemption or a clock get none, nor do runs
    that overflow.
    """
    bounds = frame[frame["task"].isin(("bound", "enclosure"))].drop_duplicates("instance")
    runs = frame[frame["task"] == "simulate"].drop(columns=["opt_lower", "opt_upper"])
    joined = runs.merge(bounds[["instance", "opt_lower", "opt_upper"]], on="instance", how="left")
    comparable = joined["preempted_as"] == "restart"
    comparable &= joined["unit"] == "rounds"
    if "overflow_rounds" in joined:
        comparable &= joined["overflow_rounds"] == 0
    joined.loc[~comparable, ["opt_lower", "opt_upper"]] = np.nan
    joined["ratio_low"] = joined["total_latency"] / joined["opt_upper"]
    joined["ratio_high"] = joined["total_latency"] / joined["opt_lower"]
    return joined


def intervals(frame: "pd.DataFrame", by: Sequence[str], value: str) -> "pd.DataFrame":
    """Return the mean of a column over each group, with a 95% bootstrap interval.

    Parameters
    ----------
    by : columns that make the groups; a group's rows are its seeds.
    value : the column; rows without it are left out.

    Returns
    -------
    One row a group in order of first appearance: the columns `by`, runs, mean, low, high; no
    interval (NaN) for a single run.

    >>> import pandas as pd
    >>> table = intervals(pd.DataFrame({"n": [1, 1, 2], "cost": [3, 5, 7]}), ["n"], "cost")
    >>> table["mean"].tolist(), table["runs"].tolist()
    ([4.0, 7.0], [2, 1])
    """
    from ratiolab.online.metrics import intervals as all_intervals

    return all_intervals(frame[[*by, value]], list(by)).drop(columns="metric")
