"""vLLM's scheduler, version 1, in order of arrival and by priority.

Source of the rules: vLLM, vllm/v1/core/sched/scheduler.py and request_queue.py, read at commit
00024d3; of the victims, its issue 54644 (least computed first) and pull request 36980 (most
remaining first). `ratiolab.online.policies.engine` says what differs.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ratiolab.online.policies.engine import Engine, Victim, needs, victim_key
from ratiolab.online.policies.prefix import Key
from ratiolab.online.view import Information, View


@dataclass(frozen=True)
class VLLMFCFS(Engine):
    """vLLM's default: first come, first served, and evicted requests go before all others.

    With the victim ``last`` it keeps the order of arrival among all who run and wait: it decides as
    ``fcfs`` does. Any other victim breaks that order, since the evicted return to the front.

    Parameters
    ----------
    victim : who leaves first when memory would overflow: the request admitted ``last`` (default, as
        vLLM), the one with the fewest computed tokens (``least-computed``) or the most, or the one
        with the longest predicted rest (``longest-remaining``).
    """

    victim: Victim = "last"

    name: ClassVar[str] = "vllm-fcfs"
    source: ClassVar[str] = "vLLM v1: Kwon et al. (2023), arXiv 2309.06180; its issue 54644"
    returns_first: ClassVar[bool] = True

    @property
    def information(self) -> Information:
        return needs(self.victim)

    @property
    def last_leaves(self) -> bool:
        return self.victim == "last"

    def leaves(self, view: View, request: int, turn: int) -> Key:
        return victim_key(self.victim, view, request, turn)


@dataclass(frozen=True)
class VLLMPriority(Engine):
    """vLLM's scheduler by priority: here the shortest prompt goes first and is evicted last.

    Equal priorities in order of arrival. vLLM leaves the value to the client; here it is a length,
    or what was promised.

    A waiting request never takes the place of a running one, however urgent it is: priorities
    decide who joins, and who leaves when the running requests alone would overflow. Hence urgent
    requests wait behind others that run, as in vLLM (its issues 24365 and 40004); its pull request
    45561, not merged when read, would evict for them where the batch is full.

    Parameters
    ----------
    priority : the ``prompt`` (default), the ``predicted`` output, the ``weight``, largest first, or
        the ``deadline``, earliest first.
    """

    priority: Literal["prompt", "predicted", "weight", "deadline"] = "prompt"

    name: ClassVar[str] = "vllm-priority"
    source: ClassVar[str] = "vLLM v1, --scheduling-policy priority"

    @property
    def information(self) -> Information:
        by_prediction = self.priority == "predicted"
        return Information.PREDICTION if by_prediction else Information.NOTHING

    def key(self, view: View, request: int) -> int:
        match self.priority:
            case "weight":
                return -view.weight[request]
            case "deadline":
                return view.deadline[request]
            case "predicted":
                return view.predicted[request]
        return view.prompt[request]
