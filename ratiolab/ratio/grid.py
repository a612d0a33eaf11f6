"""Many instances, many policies, all cores: a tidy table of certified ratios."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ratiolab.model import Instance
from ratiolab.online import Policy
from ratiolab.ratio.compare import compare

if TYPE_CHECKING:
    import pandas as pd


def measure(
    instances: Iterable[Instance],
    policies: Sequence[Policy],
    *,
    runs: int = 10,
    seed: int = 0,
    node_limit: int | None = None,
    jobs: int = 1,
    advance: Callable[[str], None] | None = None,
) -> "pd.DataFrame":
    """Ratios of policies on instances, one row for each pair.

    The numbers do not depend on `jobs`: limits are nodes, not seconds, and every run has its seed.

    Parameters
    ----------
    instances, policies : the grid.
    runs, seed, node_limit : as for `compare`.
    jobs : processes; -1 takes all cores.
    advance : called with the name of each finished instance.

    Returns
    -------
    Columns: instance, digest, policy, runs, cost (mean total latency), opt_lower, opt_upper,
    ratio_low, ratio_high, evictions, wasted_tokens.
    """
    import pandas as pd
    from joblib import Parallel, delayed

    def one(instance: Instance) -> list[dict[str, Any]]:
        result = compare(instance, policies, runs=runs, seed=seed, node_limit=node_limit)
        return [
            {
                "instance": instance.name,
                "digest": instance.digest,
                "policy": row.policy.name,
                "runs": len(row.runs),
                "cost": None if row.mean_cost is None else float(row.mean_cost),
                "opt_lower": result.optimum.lower,
                "opt_upper": result.optimum.upper,
                "ratio_low": None if row.ratio is None else float(row.ratio.low),
                "ratio_high": None if row.ratio is None else float(row.ratio.high),
                "evictions": row.mean_of(lambda run: run.schedule.evictions),
                "wasted_tokens": row.mean_of(lambda run: run.schedule.wasted_tokens),
            }
            for row in result.rows
        ]

    instances = list(instances)
    rows: list[dict[str, Any]] = []
    finished = Parallel(n_jobs=jobs, return_as="generator")(delayed(one)(i) for i in instances)
    for instance, cells in zip(instances, finished, strict=True):
        rows += cells
        if advance is not None:
            advance(instance.name)
    return pd.DataFrame(rows)
