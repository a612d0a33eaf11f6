"""Loads that a policy sustains: whether a server keeps up with a log, and with how much more."""

from math import isnan

from ratiolab.evaluation.service import Metric, Service
from ratiolab.model import Instance, Preemption
from ratiolab.model.instance import DATES
from ratiolab.online import Policy, Simulation, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.metrics import per_request

STEPS = 7
"""Halvings of the interval in which the load that a policy sustains is sought."""

DRAINED = 0.1
"""Part of the time of the arrivals in which a server that keeps up has served its backlog."""

MOST_LOAD = 4.0
"""Largest multiple of the load that is tried."""


def keeps_up(run: Simulation) -> bool:
    """Return whether a run ends soon after its last arrival, or all arrive at once and it ends.

    Soon is a tenth of the time in which requests arrive, beside what the longest takes alone. A
    server that does not keep up has a backlog that grows with the length of the log.
    """
    if run.outcome != "complete":
        return False
    frame = per_request(run)
    arrival = frame["arrival"]
    span = float(arrival.max() - arrival.min())
    longest = float((frame["latency"] / frame["slowdown"]).max())
    left = float(frame["completion"].max() - arrival.max())
    return span == 0 or left <= DRAINED * span + longest


def sustained_load(
    instance: Instance,
    policy: Policy,
    metric: Metric,
    value: float,
    *,
    clock: BatchTime | None,
    preemption: Preemption,
    seed: int,
) -> float | None:
    """Return how many times the load a policy takes before its metric is worse than a value.

    Load is changed by letting the same requests arrive that much faster; a server that does not
    keep up with them does not take the load, however short the log is. Only logs with a clock and
    with arrivals at different times have a load; others give None, as do those with deadlines,
    which would come faster, too.
    """
    if clock is None or instance.tick_seconds is None or not instance.arrival.any():
        return None
    if set(instance.promises) & set(DATES):
        return None
    low, high = 1.0, MOST_LOAD
    for _ in range(STEPS):
        middle = (low + high) / 2
        faster = instance.replace(tick_seconds=instance.tick_seconds / middle)
        run = simulate(faster, policy, seed=seed, preemption=preemption, clock=clock)
        found = metric.value(Service.of(run)) if keeps_up(run) else float("nan")
        if isnan(found) or metric.better(value, found):
            high = middle
        else:
            low = middle
    return low
