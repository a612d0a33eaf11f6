"""The rules of the finite game, and the optima of its lengths."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TypeAlias

from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance, Schedule, peak

Lengths: TypeAlias = tuple[int, ...]
"""Outputs of all requests, ascending: what the adversary decides in the end."""

MOST_REQUESTS = 16


@dataclass(frozen=True)
class Game:
    """Requests at round 0 with one prompt; the adversary decides outputs in lower..upper.

    In each round the policy chooses which requests run. A request that runs on keeps its tokens; a
    request that stops loses all of them, and may start again in the same round or later. The moves
    are those of `ratiolab.simulate`. The policy sees nothing but which requests complete. Its cost
    is the total latency over the optimum of the lengths.

    Parameters
    ----------
    requests, prompt, memory, lower, upper : number, and tokens; prompt + upper fits in memory.
    """

    requests: int
    prompt: int
    memory: int
    lower: int
    upper: int

    def __post_init__(self) -> None:
        if not 1 <= self.requests <= MOST_REQUESTS:
            raise ValueError(f"requests {self.requests} must be between 1 and {MOST_REQUESTS}")
        if self.prompt < 0:
            raise ValueError(f"prompt {self.prompt} must be at least 0")
        if not 1 <= self.lower <= self.upper:
            raise ValueError(f"lower {self.lower} must be between 1 and upper, {self.upper}")
        if peak(self.prompt, self.upper) > self.memory:
            raise ValueError(
                f"memory {self.memory} must be at least prompt + upper, "
                f"{peak(self.prompt, self.upper)}"
            )

    def __str__(self) -> str:
        return (
            f"{self.requests} requests, prompt {self.prompt}, memory {self.memory}, "
            f"lengths {self.lower}..{self.upper}"
        )

    @property
    def lengths(self) -> Iterator[Lengths]:
        """All outputs that the adversary can end with."""
        return combinations_with_replacement(range(self.lower, self.upper + 1), self.requests)

    def instance(self, lengths: Lengths) -> Instance:
        """Return the instance of some outputs."""
        n = self.requests
        return Instance(str(self), self.memory, [0] * n, [self.prompt] * n, lengths)

    def best_schedule(self, lengths: Lengths) -> Schedule:
        """Return an optimal schedule."""
        return tiny_optimum(self.instance(lengths), states=2_000_000).schedule

    @cached_property
    def optima(self) -> dict[Lengths, int]:
        """The optimum of all outputs, rounds."""
        return {lengths: self.best_schedule(lengths).total_latency for lengths in self.lengths}
