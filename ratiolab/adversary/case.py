"""Instances as an adversary changes them: blocks of equal requests, and what it may change."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from ratiolab.model import Instance, peak
from ratiolab.model.numbers import require_integer
from ratiolab.online.view import Information

Prompts: TypeAlias = Literal["equal", "any"]
Arrivals: TypeAlias = Literal["zero", "any"]

MOST_REQUESTS = 60
"""Largest number of requests of a case: optima are searched for exactly."""


class Block(NamedTuple):
    """Requests that are equal and stand next to one another in the file."""

    arrival: int
    prompt: int
    output: int
    number: int


@dataclass(frozen=True)
class Case:
    """A memory size in tokens and blocks of equal requests, in the order of the file."""

    memory: int
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, memory: int, blocks: Iterable[tuple[int, int, int, int]]) -> "Case":
        """Return the case of some blocks; equal neighbours become one, empty blocks none."""
        merged: list[Block] = []
        for block in map(Block._make, blocks):
            if merged and merged[-1][:3] == block[:3]:
                block = block._replace(number=merged.pop().number + block.number)
            if block.number > 0:
                merged.append(block)
        return cls(memory, tuple(merged))

    @classmethod
    def of_instance(cls, instance: Instance) -> "Case":
        """Return the case of an instance; `ValueError` when it has weights or deadlines."""
        if instance.promises:
            raise ValueError(
                f"{instance.name}: an adversary changes requests and knows no column "
                f"{instance.promises[0]}; leave it out"
            )
        return cls.of(instance.memory, ((*request, 1) for request in instance.requests))

    @property
    def requests(self) -> int:
        """Number of requests."""
        return sum(block.number for block in self.blocks)

    @property
    def longest(self) -> int:
        """Largest output, tokens."""
        return max(block.output for block in self.blocks)

    @property
    def highest(self) -> int:
        """Largest prompt and output of a request together, tokens."""
        return max(peak(block.prompt, block.output) for block in self.blocks)

    @property
    def niche(self) -> tuple[int, int, int]:
        """Number of requests, memory over the largest peak rounded down, and largest output."""
        return self.requests, self.memory // self.highest, self.longest

    def instance(self, information: Information, name: str = "case") -> Instance:
        """Return the instance with the columns that a policy of some level of information reads.

        The interval is from 1 to the largest output, or what fits beside the prompt; predictions,
        and the distributions of predictions, are exact.
        """
        arrival, prompt, output = (
            [block[k] for block in self.blocks for _ in range(block.number)] for k in range(3)
        )
        longest = self.longest
        columns: dict[str, Any] = {}
        if information in (Information.LOWER_BOUND, Information.INTERVAL):
            columns["lower"] = [1] * len(output)
        if information is Information.INTERVAL:
            columns["upper"] = [min(longest, self.memory - s) for s in prompt]
        if information in (Information.PREDICTION, Information.REFINED):
            columns["predicted"] = output
        if information is Information.DISTRIBUTION:
            columns["location"] = [round(1000 * log(o)) for o in output]
            columns |= {"scale": [1] * len(output), "freedom": [10**9] * len(output)}
        return Instance(name, self.memory, arrival, prompt, output, **columns)


@dataclass(frozen=True)
class Limits:
    """Limits of what an adversary may do.

    Parameters
    ----------
    headroom : memory is at least this multiple of the largest prompt and output together.
    prompts : ``equal`` for all requests, or ``any``.
    arrivals : ``zero``, all requests at round 0, or ``any``.
    requests : requests at most, 2 to 60.
    memory : tokens at most.
    """

    headroom: int = 1
    prompts: Prompts = "equal"
    arrivals: Arrivals = "zero"
    requests: int = 16
    memory: int = 24

    def __post_init__(self) -> None:
        for name, value, kind in (
            ("prompts", self.prompts, Prompts),
            ("arrivals", self.arrivals, Arrivals),
        ):
            if value not in get_args(kind):
                raise ValueError(f"{name} {value!r} must be one of {', '.join(get_args(kind))}")
        for name in ("headroom", "requests", "memory"):
            require_integer(name, getattr(self, name))
        if not 2 <= self.requests <= MOST_REQUESTS:
            raise ValueError(f"requests {self.requests} must be between 2 and {MOST_REQUESTS}")
        if self.headroom < 1:
            raise ValueError(f"headroom {self.headroom} must be at least 1")
        if not 2 * self.headroom <= self.memory <= 10**6:
            raise ValueError(
                f"memory {self.memory} must be between twice the headroom, {2 * self.headroom}, "
                "and 1000000"
            )

    def allow(self, case: Case) -> bool:
        """Tell whether a case keeps to the limits and is an instance at all."""
        if not case.blocks or any(a < 0 or s < 0 or o < 1 or n < 1 for a, s, o, n in case.blocks):
            return False
        return self.broken(case) is None

    def broken(self, case: Case) -> str | None:
        """Return what an instance breaks of the limits, in words; None when it keeps to them."""
        if not 2 <= case.requests <= self.requests:
            return f"{case.requests} requests must be between 2 and {self.requests}"
        if not 1 <= case.memory <= self.memory:
            return f"memory {case.memory} must be between 1 and {self.memory}"
        if self.headroom * case.highest > case.memory:
            times = "" if self.headroom == 1 else f"{self.headroom} times "
            return (
                f"memory {case.memory} must be at least {times}the largest request, {case.highest}"
            )
        if self.prompts == "equal" and len({block.prompt for block in case.blocks}) > 1:
            return "prompts must be equal, unless any are allowed"
        if self.arrivals == "zero" and any(block.arrival for block in case.blocks):
            return "all requests must arrive at round 0, unless any arrivals are allowed"
        return None
