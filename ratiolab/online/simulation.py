"""One run of a policy, as it is kept: what ran when, and what came of it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Preemption, Schedule
from ratiolab.model.display import Result
from ratiolab.model.promises import goodput, has_dates
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request, summary, unit
from ratiolab.online.policy import Policy

if TYPE_CHECKING:
    import pandas as pd

Outcome: TypeAlias = Literal["complete", "stalled", "looping"]


@dataclass(frozen=True, eq=False)
class Simulation(Result):
    """One run of a policy.

    Parameters
    ----------
    schedule : what ran when; unless complete, only the runs that had ended. With a clock its
        instance arrives in rounds: each request at the first that begins at or after its time.
    policy, seed : what was run.
    outcome : ``complete``; ``stalled`` when no request completed for `patience` rounds;
        ``looping`` when a state came back that leads to itself, so that no patience would help.
    decisions : how often the policy was asked.
    preemption : semantics of an eviction.
    clock : how long a batch takes; None for unit rounds.
    times : with a clock, seconds at which each round begins, shape (rounds + 1,).
    arrivals : with a clock, seconds at which each request arrives, shape (n,).
    """

    schedule: Schedule
    policy: Policy
    seed: int
    outcome: Outcome
    decisions: int
    preemption: Preemption = "restart"
    clock: BatchTime | None = None
    times: NDArray[np.float64] | None = field(default=None, repr=False)
    arrivals: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def total_latency(self) -> int | None:
        """Total end-to-end latency, rounds; None when the run stalled."""
        return self.schedule.total_latency if self.outcome == "complete" else None

    @property
    def headline(self) -> str:
        """Policy, instance, and the total latency or why there is none."""
        cost = self.outcome if self.total_latency is None else f"TEL {self.total_latency:,}"
        return f"{self.policy.name} on {self.schedule.instance.name}, seed {self.seed}: {cost}"

    def to_dict(self) -> dict[str, Any]:
        """Return costs and measures; a request that did not complete has the completion -1.

        ``figures`` are those of `ratiolab.online.metrics.summary`, in ``unit``; None where a run
        that stalled has none. ``goodput`` is the weight in time, for an instance with dates.
        """
        ended = self.outcome == "complete"
        return {
            "seed": self.seed,
            "outcome": self.outcome,
            "tel": self.total_latency,
            "makespan": self.schedule.makespan if ended else None,
            "evictions": self.schedule.evictions,
            "wasted_tokens": self.schedule.wasted_tokens,
            "unit": unit(self),
            "figures": {n: None if np.isnan(v) else v for n, v in summary(self).items()},
            "completions": self.schedule.completion.tolist(),
            **({"goodput": goodput(self.schedule)} if has_dates(self.schedule.instance) else {}),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return the table `ratiolab.online.metrics.per_request`, one row for each request."""
        return per_request(self)
