"""Short requests first without starvation: waiting counts against length."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from ratiolab.online.policies.engine import Engine, victim_key
from ratiolab.online.policies.prefix import Key
from ratiolab.online.policy import Interval
from ratiolab.online.view import Information, View


@dataclass(frozen=True)
class ShortFirst(Engine):
    """An engine that admits short requests first, with ageing.

    The least length minus `ageing` times the rounds waited goes first. All who wait age alike, so
    the order of two requests never changes: it is that of length plus `ageing` times arrival. No
    request is overtaken by a request that arrives later than its length over `ageing` rounds after
    it.

    Parameters
    ----------
    length : the ``predicted`` output (default), the ``prompt``, or the ``sum`` of both.
    ageing : tokens of length that a round of waiting makes up for, at least 0, read as a decimal;
        0 is shortest first, and more than the longest length is the order of arrival.
    victim : who leaves first when memory would overflow: the last in the same order (``longest``,
        default), or the one with the fewest computed tokens.
    """

    length: Literal["predicted", "prompt", "sum"] = "predicted"
    ageing: Annotated[float, Interval("[0, 1e9)")] = 0.1
    victim: Literal["longest", "least-computed"] = "longest"

    name: ClassVar[str] = "short-first"
    source: ClassVar[str] = "shortest job first with ageing: textbook practice"

    @property
    def information(self) -> Information:
        blind = self.length == "prompt"
        return Information.NOTHING if blind else Information.PREDICTION

    def leaves(self, view: View, request: int, turn: int) -> Key:
        if self.victim == "longest":
            return super().leaves(view, request, turn)
        return victim_key(self.victim, view, request, turn)

    def key(self, view: View, request: int) -> Fraction:
        length = 0 if self.length == "prompt" else view.predicted[request]
        if self.length != "predicted":
            length += view.prompt[request]
        return length + Fraction(str(self.ageing)) * view.arrival[request]
