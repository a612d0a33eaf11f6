"""The shortest prompt first: what an order by prompts alone does, without any kill by choice."""

from dataclasses import dataclass
from typing import ClassVar

from ratiolab.online.policies.greedy import Greedy
from ratiolab.online.view import View


@dataclass(frozen=True)
class ShortestPrompt(Greedy):
    """The shortest prompt first, otherwise as ``fcfs``; it needs no idea of the output."""

    name: ClassVar[str] = "shortest-prompt"
    source: ClassVar[str] = "a comparison of the page on learned caps"

    def key(self, view: View, request: int) -> float:
        """Return the prompt; the longest is evicted first."""
        return view.prompt[request]
