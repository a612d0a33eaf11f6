"""Policies on an instance, between certified bounds that cuts have raised."""

from ratiolab.online import make, simulate
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.task import Task

POLICIES = ("mc-sf", "svf")


def run(cell: Cell) -> list[Row]:
    """One row a policy: its total latency, and the interval around the optimum of the instance.

    Both ends of the interval depend on orders tried and rounds of cuts alone, never on time.
    """
    from ratiolab.hindsight import bracket  # takes a second to import
    from ratiolab.hindsight.cuts.cut_bound import cut_bound, fits

    instance = cell.instance()
    found = bracket(instance, seed=cell.seed, steps=cell.option("steps"))
    lower, source = found.lower, found.lower_source
    if lower < found.upper:
        horizon = found.schedule.makespan  # any gives a valid bound, this one a good one
        while horizon and not fits(instance, horizon):
            horizon = horizon * 9 // 10
        raised = cut_bound(
            instance,
            horizon=horizon,
            rounds=cell.option("rounds"),
            target=found.upper,
        )
        if raised.lower > lower:
            lower, source = raised.lower, "configuration cuts"
    return [
        {
            "policy": key,
            "instance": instance.digest,
            "requests": len(instance),
            "total_latency": simulate(instance, make(key), seed=cell.seed).total_latency,
            "opt_lower": lower,
            "opt_upper": found.upper,
            "lower_source": source,
        }
        for key in POLICIES
    ]


BRACKET = Task("bracket", run, policy=False, options={"steps": 200_000, "rounds": 8})
