"""What a report says beside its figures: the server and its requests, and the rules of policies."""

from collections.abc import Mapping

from ratiolab.model import Instance, Preemption
from ratiolab.online.clock import BatchTime
from ratiolab.online.registry import parameter_values, rule
from ratiolab.ratio.evaluation import Evaluation

EVICTIONS: Mapping[Preemption, str] = {
    "restart": "restart: an evicted request loses its tokens and starts again",
    "recompute": "recompute: an evicted request keeps its tokens and fills its cache again",
    "swap": "swap: the cache of an evicted request is moved to the host and back",
    "pause": "pause: the cache of an evicted request stays until others need the memory",
}
"""What an eviction costs, in words."""


def batch_time(clock: BatchTime | None) -> str:
    """Return how long a batch takes, in words.

    >>> batch_time(BatchTime(fixed=0.02, prefill=0.0001, kv=1e-8))
    '20 ms, 0.1 ms a token prefilled, 1e-05 ms a token of cache read'
    """
    if clock is None:
        return "every batch takes one round"
    parts = {
        "a token prefilled": clock.prefill,
        "a request decoding": clock.decode,
        "a token of cache read": clock.kv,
        "a token moved to the host or back": clock.swap,
    }
    found = [f"{1000 * seconds:.3g} ms {what}" for what, seconds in parts.items() if seconds]
    return ", ".join([f"{1000 * clock.fixed:.3g} ms", *found])


def setting(made: Evaluation) -> list[tuple[str, str]]:
    """Return the requests, the memory, the clock and the semantics, each with its name."""
    instance = made.instance
    span = int(instance.arrival.max() - instance.arrival.min())
    tick = instance.tick_seconds
    timed = made.clock is not None and tick is not None
    over = f"{span * tick:,.1f} s" if timed and tick is not None else f"{span:,} rounds"
    requests = f"{len(instance):,}, " + (f"arriving over {over}" if span else "all at the start")
    tokens = {"prompts": instance.prompt, "outputs": instance.output}
    seeds = max((len(row.services) for row in made.rows), default=1)
    return [
        ("requests", requests),
        *(
            (name, f"{values.mean():,.1f} tokens on average, {values.max():,} at most")
            for name, values in tokens.items()
        ),
        *_intervals(instance),
        ("KV cache", f"{instance.memory:,} tokens"),
        ("time of a batch", batch_time(made.clock)),
        ("evictions", EVICTIONS[made.preemption]),
        *[("seeds", f"{seeds} for each policy that uses randomness, one for the others")]
        * (seeds > 1),
    ]


def _intervals(instance: Instance) -> list[tuple[str, str]]:
    """Return what is told of the outputs to policies that know an interval."""
    lower, upper = instance.lower, instance.upper
    if lower is None or upper is None:
        return [("known intervals", "none; of each output 1 to what the memory leaves for it")]
    equal = len(set(lower.tolist())) == len(set(upper.tolist())) == 1
    which = "the same for every output" if equal else "each output has its own, all within"
    return [("known intervals", f"{which}: {lower.min():,} to {upper.max():,} tokens")]


def rules(made: Evaluation) -> list[tuple[str, str]]:
    """Return the rule of each policy with its parameters, in the order of the table."""
    found = []
    for row in (*made.deployable, *made.knowing):
        if row.policy is not None:
            values = ", ".join(f"{name} {v}" for name, v in parameter_values(row.policy).items())
            words = rule(type(row.policy)).replace("``", "")
            found.append((row.name, f"{words} ({values})" if values else words))
    return found
