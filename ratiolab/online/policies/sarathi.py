"""Sarathi-Serve's stall-free batches.

Source: Agrawal et al. (2024), arXiv 2403.02310, Algorithm 3.
"""

from dataclasses import dataclass
from typing import ClassVar

from ratiolab.online.policies.engine import Engine
from ratiolab.online.policies.prefix import Key
from ratiolab.online.policy import Limit
from ratiolab.online.view import View


@dataclass(frozen=True)
class Sarathi(Engine):
    """Stall-free batches: all who decode, then the prompt in progress, then new ones, in chunks.

    The budget of tokens bounds how long a batch can take, and with it the time between two tokens
    of a request. First come, first served; the request admitted last is evicted first. vLLM's
    scheduler, version 1, follows the same rule, so only the parameters differ from ``vllm-fcfs``.

    Parameters
    ----------
    tokens : most tokens of a batch; the paper chooses 512 for strict limits of time, else 2,048.
    """

    batch: Limit = 128
    tokens: int = 512

    name: ClassVar[str] = "sarathi"
    source: ClassVar[str] = "Agrawal et al. (2024), arXiv 2403.02310"
    returns_first: ClassVar[bool] = True

    @property
    def last_leaves(self) -> bool:
        return True

    def leaves(self, view: View, request: int, turn: int) -> Key:
        return (-turn,)
