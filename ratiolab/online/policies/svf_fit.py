"""Smallest volume first, but of volumes that are nearly equal the shortest output that fits."""

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from numpy.random import Generator

from ratiolab.online.forecast import earliest, start
from ratiolab.online.policies.prefix import Prefix, clear, prefix_run
from ratiolab.online.policies.svf import SVF
from ratiolab.online.policy import Count, Decide, Interval, Setting
from ratiolab.online.rules import Rule
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

    def start(self, setting: Setting, rng: Generator) -> Decide:
        decide = partial(shortest_fitting, Fraction(str(self.ratio)), self.candidates)
        return prefix_run(setting, self.ranks(setting), decide)

    def rule(self, setting: Setting, known: Mapping[str, Sequence[int]]) -> Rule | None:
        return None


def shortest_fitting(ratio: Fraction, candidates: int, view: View, own: Prefix) -> int:
    """Admit the shortest that fits of the first few, until none does; return when to ask again.

    A request with g kept tokens is one with prompt s + g that lacks g tokens less, at least 1.
    """
    for i in view.arrived:
        insort(own.queue, (own.key[i], i))
    clear(view, own)
    again = _admit(ratio, candidates, view, own)
    for i in own.evict:
        insort(own.queue, (own.key[i], i))
    return view.now + 1 if own.evict else again


def _admit(ratio: Fraction, candidates: int, view: View, own: Prefix) -> int:
    again = NEVER
    while own.queue:
        smallest, _ = own.queue[0]
        ranked = sorted(
            (own.length[i], place, i)
            for place, (size, i) in enumerate(own.queue[:candidates])
            if size <= ratio * smallest
        )
        again = NEVER
        for output, place, i in ranked:
            kept = view.generated[i]
            tokens, left = view.prompt[i] + kept, max(1, output - kept)
            fits = earliest(own.believed, tokens, left, view.now)
            if fits == view.now:
                del own.queue[place]
                start(own.believed, i, tokens, view.now, left)
                own.admit.append(i)
                break
            again = min(again, fits)
        else:
            return again
    return again
