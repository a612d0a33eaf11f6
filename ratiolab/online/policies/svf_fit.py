"""Smallest volume first, but of volumes that are nearly equal the shortest output that fits."""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from ratiolab.online.forecast import Forecast
from ratiolab.online.policies.prefix import Key, PrefixQueue
from ratiolab.online.policies.svf import SVF
from ratiolab.online.policy import Count, Interval
from ratiolab.online.view import NEVER, View


@dataclass(frozen=True)
class SVFFit(SVF):
    """Smallest volume first, with a choice among the next few so that memory is filled.

    Candidates are the first ``candidates`` waiting requests in order of volume s o + o (o + 1) / 2,
    with at most ``ratio`` times the smallest volume. Among candidates that fit until completion, by
    prospective check, the one of the shortest believed output starts, the first in the order among
    equals; again until none of them fits. With ``candidates = 1`` it is ``svf``. Without a limit on
    volumes large requests would wait for ever under load.

    Parameters
    ----------
    ratio : largest volume that is looked at over the smallest, at least 1, read as a decimal.
    candidates : requests that are looked at, at least 1.
    """

    ratio: Annotated[float, Interval("[1, inf)")] = 1.75
    candidates: Count = 20

    name: ClassVar[str] = "svf-fit"
    source: ClassVar[str] = "ratiolab, after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"

    def _queue(self) -> PrefixQueue:
        return FitQueue(Fraction(str(self.ratio)), self.candidates)


class FitQueue(PrefixQueue):
    """Waiting requests in order of volume; the first few compete."""

    def __init__(self, ratio: Fraction, candidates: int) -> None:
        self._waiting: list[tuple[Key, int]] = []
        self._ratio, self._candidates = ratio, candidates

    def push(self, request: int, key: Key) -> None:
        insort(self._waiting, (key, request))

    def admit(
        self, view: View, forecast: Forecast, length: Callable[[int], int]
    ) -> tuple[list[int], int]:
        """Take the shortest that fits of the first few, until none does.

        A request with g kept tokens is one with prompt s + g that lacks g tokens less, at least 1.

        Returns the requests and the round in which to look again.
        """
        admitted: list[int] = []
        again = NEVER
        while self._waiting:
            (smallest,), _ = self._waiting[0]
            ranked = sorted(
                (length(i), place, i)
                for place, ((size,), i) in enumerate(self._waiting[: self._candidates])
                if size <= self._ratio * smallest
            )
            again = NEVER
            for output, place, i in ranked:
                kept = view.generated[i]
                tokens, left = view.prompt[i] + kept, max(1, output - kept)
                fits = forecast.earliest(tokens, left, view.now)
                if fits == view.now:
                    del self._waiting[place]
                    forecast.add(i, tokens, view.now, left)
                    admitted.append(i)
                    break
                again = min(again, fits)
            else:
                return admitted, again
        return admitted, again
