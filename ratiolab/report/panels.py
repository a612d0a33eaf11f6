"""Panels of a picture: which schedules are shown, and under which title."""

from collections.abc import Sequence

from ratiolab.hindsight import OptResult
from ratiolab.model import Schedule
from ratiolab.ratio import Comparison, PolicyRow


def optimum_panel(optimum: OptResult) -> tuple[str, Schedule]:
    """Return the optimum, or else the best known schedule."""
    title = f"best known schedule: TEL {optimum.upper:,}, OPT at least {optimum.lower:,}"
    if optimum.is_exact:
        title = f"hindsight optimum: TEL {optimum.upper:,}"
    return title, optimum.schedule


def comparison_panels(
    comparison: Comparison, policies: Sequence[str] | None = None
) -> list[tuple[str, Schedule]]:
    """Return the optimum, then some policies in the order asked for, or the best and the worst."""
    panels = [optimum_panel(comparison.optimum)]
    for row in _chosen(comparison, policies):
        run = next(run for run in row.runs if run.outcome == "complete")
        title = f"{row.name}: TEL {run.schedule.total_latency:,}"
        if len(row.runs) > 1:
            title += f" with seed {run.seed}; mean of {len(row.runs)} seeds:"
        panels.append((f"{title}{',' * (len(row.runs) == 1)} ratio {row.ratio}", run.schedule))
    return panels


def _chosen(comparison: Comparison, policies: Sequence[str] | None) -> list[PolicyRow]:
    ended = [row for row in comparison.rows if row.mean_cost is not None]
    if policies is not None:
        names = [row.name for row in ended]
        for key in policies:
            if key not in names:
                raise ValueError(f"{key!r} is not among the policies that ended: {names}")
        return [row for key in policies for row in ended if row.name == key]
    return ended[:1] + ended[1:][-1:]
