"""The settings of workloads that are files: traces, and instances."""

from ratiolab.model.validation import Strict, absent


class InstanceSettings(Strict):
    """The settings of a workload that is an instance file."""

    memory: int = absent()
    """KV cache size, tokens; replaces that of the file."""


class TraceSettings(Strict):
    """The settings of a workload that is cut out of a trace, as those of `ratiolab trace`."""

    memory: int
    sample: int = absent()
    start: float = absent()
    stop: float = absent()
    block: int = absent()
    arrivals: str = absent()
    rate: float = absent()
    rounds_per_second: float = absent()
    max_prompt: int = absent()
