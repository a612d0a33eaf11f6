"""Choice of the policies that an instance and its semantics allow, and the order of their rows."""

from collections.abc import Iterable

from ratiolab.model import Instance, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.online import POLICIES, Information, Policy, make
from ratiolab.online.observations import required_columns

Skipped = list[tuple[str, str]]
"""Keys of policies that are left out, each with the reason."""


KEEPS = (
    "an evicted request keeps its tokens, but this optimum is over schedules that lose them; "
    "--preemption recompute compares such policies, and --policies runs any by name"
)

ADDED_BY = {"lower": "rough", "upper": "rough", "location": "log-t"}
"""Kind of predictions that adds a column; `exact` adds that of predicted lengths."""


def usable_policies(
    instance: Instance, preemption: Preemption | None
) -> tuple[list[Policy], Skipped]:
    """Return the policies that make sense on an instance; the others with the reason.

    Parameters
    ----------
    preemption : semantics of an eviction, for all policies. None: each policy its own; then a
        policy that keeps the tokens of evicted requests is left out, because the optimum assumes
        runs without a break.
    """
    usable: list[Policy] = []
    skipped: Skipped = []
    for key in POLICIES:
        policy = make(key)
        missing = [c for c in required_columns(policy.information) if getattr(instance, c) is None]
        if preemption is None and EVICTIONS[policy.preemption].keeps_tokens:
            skipped.append((key, KEEPS))
        elif preemption is not None and preemption not in policy.semantics:
            skipped.append((key, f"not made for --preemption {preemption}"))
        elif policy.reads and not set(policy.reads) & set(instance.promises):
            why = f"the instance has no column {' or '.join(policy.reads)}"
            skipped.append((key, why))
        elif missing:
            kind = ADDED_BY.get(missing[0], "exact")
            why = f"the instance has no column {missing[0]!r}; --predict {kind} adds it"
            skipped.append((key, why))
        else:
            usable.append(policy)
    return usable, skipped


def knows_everything(policy: Policy) -> bool:
    """Return whether a policy cannot be deployed: it knows output lengths, or its ties do."""
    return policy.information is Information.TRUE_LENGTH or policy.ties in ("worst", "best")


def by_reason(skipped: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, with the policies that it leaves out.

    >>> by_reason([("a", "too slow"), ("b", "too fast"), ("c", "too slow")])
    ['skipped a, c: too slow', 'skipped b: too fast']
    """
    reasons: dict[str, list[str]] = {}
    for key, why in skipped:
        reasons.setdefault(why, []).append(key)
    return [f"skipped {', '.join(keys)}: {why}" for why, keys in reasons.items()]
