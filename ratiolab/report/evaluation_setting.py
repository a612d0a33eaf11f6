"""Context of a report: the server and its requests, and the rules of policies."""

from ratiolab.evaluation.result import Evaluation
from ratiolab.model import Instance
from ratiolab.model.eviction import EVICTIONS
from ratiolab.online.clock import BatchTime
from ratiolab.online.registry import parameter_values, rule


def batch_time(clock: BatchTime | None) -> str:
    """Return how long a batch takes, in words.

    >>> batch_time(BatchTime(fixed=0.02, prefill=0.0001, kv=1e-8))
    '20 ms, and 100 µs for each token prefilled, 10 ns for each token of cache read'
    """
    if clock is None:
        return "every batch takes one round"
    parts = {
        "token prefilled": clock.prefill,
        "request decoding": clock.decode,
        "token of cache read": clock.kv,
        "token moved to the host or back": clock.swap,
    }
    found = [f"{_time(seconds)} for each {what}" for what, seconds in parts.items() if seconds]
    return f"{_time(clock.fixed)}{', and ' if found else ''}{', '.join(found)}"


def _time(seconds: float) -> str:
    """Return a short time in the unit that needs the fewest digits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


WORDS = (
    ("latency", "from the arrival of a request to its last token"),
    ("TTFT", "time to first token: from the arrival to the first token"),
    ("TPOT", "time per output token: between two tokens, after the first"),
    ("P99", "the value that 99 of 100 requests do not exceed"),
    (
        "at most",
        "how many times the best possible schedule a policy takes, at most; the proven "
        "bound in the last row stands for that schedule, and the truth may be better",
    ),
    ("KV cache", "the memory of the server for the tokens of all requests that run"),
    ("eviction", "a running request has to give up its memory and continue later"),
)
"""Definitions of the terms of a report."""


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
        ("evictions", f"{made.preemption}: {EVICTIONS[made.preemption].rule}"),
        *[("seeds", f"{seeds} for each policy that uses randomness, one for the others")]
        * (seeds > 1),
    ]


def _intervals(instance: Instance) -> list[tuple[str, str]]:
    """Return the intervals of the outputs that policies know."""
    lower, upper = instance.lower, instance.upper
    if lower is None or upper is None:
        return [("told of outputs", "nothing beforehand")]
    equal = len(set(lower.tolist())) == len(set(upper.tolist())) == 1
    which = "one interval for every output" if equal else "each output has its own, all within"
    return [("told of outputs", f"{which}: {lower.min():,} to {upper.max():,} tokens")]


def rules(made: Evaluation) -> list[tuple[str, str]]:
    """Return the rule of each policy with its parameters, in the order of the table."""
    found = []
    for row in (*made.deployable, *made.knowing):
        if row.policy is not None:
            values = ", ".join(f"{name} {v}" for name, v in parameter_values(row.policy).items())
            words = rule(type(row.policy)).replace("``", "")
            found.append((row.name, f"{words} ({values})" if values else words))
    return found
