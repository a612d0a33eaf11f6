"""A lower bound for engines that share prefixes, from the reduced requests of a log."""

from dataclasses import replace

from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.workloads.traces import Trace, instance_from_trace, select


def prefix_bounds(trace: Trace, memory: int, speed: float) -> tuple[float, float] | None:
    """Return bounds on the mean latency in rounds: with shared prefixes, and without sharing.

    `ratiolab.workloads.prefixes` has the proof of the first. None when the log names no prefixes
    or has no times, and when no request fits the memory.

    Parameters
    ----------
    memory : KV cache size, tokens.
    speed : rounds a second.
    """
    if trace.prefixes is None or trace.seconds is None:
        return None
    kept = select(trace, memory=memory).kept
    if not len(kept):
        return None
    some = trace.take(kept)
    assert some.prefixes is not None
    shared = replace(some, prompt=some.prefixes.reduced(some.prompt))
    low, alone = (
        best_lower_bound(instance_from_trace(each, memory=memory, rounds_per_second=speed)).value
        for each in (shared, some)
    )
    return low / len(kept), alone / len(kept)
