"""Runs of serving engines by setting, and what the pages call things."""

from collections.abc import Mapping
from typing import TypeVar

import pandas as pd

from ratiolab.papers.runs import Ratio, Runs, mean_with_interval

Value = TypeVar("Value")

WORKLOAD, LOAD, CLOCK, POLICY = "workload.label", "option.load", "clock", "policy.label"
SHORT = {"vidur-llama2-70b-2xa100": "70B", "llama3-8b-a100": "8B"}
"""Clocks as tables name them."""


def short(clock: str) -> str:
    """Return the name of a clock in tables."""
    return SHORT.get(clock, clock)


VLLM = "vLLM"
VICTIMS = {
    VLLM: "admitted last (vLLM)",
    "victim: least computed": "least computed",
    "victim: most computed": "most computed",
    "victim: longest predicted rest": "longest predicted rest",
}
LEAST, MOST = "victim: least computed", "victim: most computed"
SHORTEST, AGED = "order: shortest predicted output", "order: shortest, ageing 0.02"
BLOCKS = "blocks of 16"
ORDERS = {
    "order: shortest prompt": "shortest prompt",
    SHORTEST: "shortest predicted output",
    AGED: "the same, ageing 0.02",
    "order: shortest, ageing 0.1": "ageing 0.1",
    "order: shortest, ageing 0.5": "ageing 0.5",
    "queues, recompute": "queues, recompute",
    "queues, swap": "queues, swap",
}
CHUNKS = {
    "chunks of 256": 256,
    "chunks of 512": 512,
    "chunks of 1024": 1024,
    VLLM: 2048,
    "chunks of 4096": 4096,
    "whole prompts": 16_492,
}
"""Tokens that a batch computes at most; never more than the memory holds."""

SARATHI = "Sarathi, 512 tokens"

WHOLE, SWAP = "whole prompts", "whole prompts, swap"
FIRST, VOLUME = "knows all: FCFS", "knows all: least volume first"
LADDER = {
    LEAST: "another victim: least computed",
    SWAP: "no tax: caches survive on the host",
    AGED: "another order: shortest predicted, ageing",
    "order and victim": "that order, and least computed",
    FIRST: "lengths known, order of arrival: no evictions",
    "knows all: shortest first": "lengths known, shortest first: no evictions",
    VOLUME: "lengths known, least volume first: no evictions",
    "bound": "bound: no schedule is below",
}
"""Rungs from vLLM's default engine down to the bound."""


class Engines:
    """Runs by setting: workload, load and clock."""

    def __init__(self, frame: pd.DataFrame) -> None:
        bounds = frame[frame[POLICY] == VLLM].assign(**{POLICY: "bound"})
        bounds = bounds.assign(mean_latency=bounds["lower"], mean_ttft=bounds["lower_ttft"])
        self.frame = frame
        self.runs = Runs(pd.concat([frame, bounds]), [WORKLOAD, LOAD, CLOCK, POLICY])
        keys = frame[[WORKLOAD, LOAD, CLOCK]].drop_duplicates().itertuples(index=False)
        self.settings = {
            f"{workload}, {short(clock)}, load {load:g}": (workload, load, clock)
            for workload, load, clock in keys
        }

    def there(self, names: Mapping[str, Value]) -> dict[str, Value]:
        """Return the entries whose policies the study has, and the bound."""
        known = {*self.frame[POLICY], "bound"}
        return {policy: value for policy, value in names.items() if policy in known}

    def ratio(self, setting: str, policy: str, other: str, metric: str) -> Ratio:
        """Return the paired ratio of two policies in a setting."""
        place = self.settings[setting]
        return self.runs.ratio((*place, policy), (*place, other), metric)

    def figure(self, setting: str, policy: str, metric: str) -> Ratio:
        """Return the mean of a figure with its interval."""
        return mean_with_interval(self.runs.values((*self.settings[setting], policy), metric))

    def pressed(self) -> list[str]:
        """Return the settings of conversations above capacity, where memory is short."""
        return [s for s, (w, load, _) in self.settings.items() if w == "conversations" and load > 1]

    def over(self) -> list[str]:
        """Return the settings above capacity."""
        return [name for name, (_, load, _) in self.settings.items() if load > 1]

    def relative(self, frame: pd.DataFrame, metric: str) -> pd.Series:
        """Return a figure of some rows over that of vLLM in the same setting and seed."""
        place = [WORKLOAD, LOAD, CLOCK, "seed"]
        base = self.frame[self.frame[POLICY] == VLLM].set_index(place)[metric]
        ratio: pd.Series = frame[metric] / base.reindex(frame.set_index(place).index).to_numpy()
        return ratio
