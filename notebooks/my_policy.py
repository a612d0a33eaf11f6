"""An example of a policy of one's own: smallest prompt first, as many as surely fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from ratiolab import NEVER, Decision, Information, Policy, Setting, View


@dataclass(frozen=True)
class SmallPromptsFirst(Policy):
    """Knows nothing of outputs and reserves the same number of tokens for each.

    Parameters
    ----------
    reserve : output tokens for which room is kept; who needs more is evicted when memory is full,
        the youngest first.
    """

    reserve: int = 4

    name: ClassVar[str] = "small-prompts-first"
    source: ClassVar[str] = "an example"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        def decide(view: View) -> Decision:
            held = {i: view.prompt[i] + view.now - start for i, start in view.running.items()}
            evict: list[int] = []
            while sum(held.values()) + len(held) > view.memory:
                youngest = max(held, key=lambda i: (view.running[i], i))
                evict.append(youngest)
                del held[youngest]
            reserved = sum(
                max(tokens + 1, view.prompt[i] + self.reserve) for i, tokens in held.items()
            )
            admit: list[int] = []
            for i in sorted(view.waiting, key=lambda i: (view.prompt[i], i)):
                first = not held and not admit  # one request by itself always fits
                if evict or (reserved + view.prompt[i] + self.reserve > view.memory and not first):
                    break
                reserved += view.prompt[i] + self.reserve
                admit.append(i)
            return Decision(admit, evict, wake=view.now + 1 if evict else NEVER)

        return decide
