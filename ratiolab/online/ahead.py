"""Compiling the loops of long runs before a long run needs them."""

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online.compiled import serve_compiled
from ratiolab.online.observations import Known, setting_of
from ratiolab.online.registry import POLICIES, make


def sample() -> Instance:
    """Return some requests with every prediction that a policy may read."""
    index = np.arange(20)
    output = 1 + 7 * index % 5
    columns = index // 3, 1 + index % 3, output
    law = {"location": 100 * output, "scale": 0 * index + 500, "freedom": 0 * index + 5_000}
    return Instance("sample", 30, *columns).replace(predicted=output, **law)


def policies_to_compile() -> list[str]:
    """Return one policy for each rule, first those whose runs are compiled from the fewest on."""
    instance, found = sample(), dict[object, str]()
    for key in POLICIES:
        policy = make(key)
        setting = setting_of(instance, policy, 0, "recompute", None)
        known = Known(instance, policy, np.argsort(instance.arrival, kind="stable"))
        rule = policy.rule(setting, known, stream(0, "policy"))
        if rule is not None:
            found.setdefault(rule.decide, key)
    return sorted(found.values(), key=lambda key: make(key).many)


def compile_rule(key: str) -> None:
    """Compile the loop of a policy's rule, and keep it on disk.

    Parameters
    ----------
    key : one of `policies_to_compile`.
    """
    instance = sample()
    serve_compiled(instance, make(key), 0, "recompute", None, patience=1_000)
