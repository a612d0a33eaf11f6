"""The linear program of finish times behind a lower bound on the optimum, solved exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ratiolab.model.footprint import volume


@dataclass(frozen=True)
class FinishPlan:
    """An optimal solution: shares[o, t] requests of output o finish at time t.

    ``dual`` is the value of a feasible dual solution; it equals ``value``, which proves both.
    """

    shares: Mapping[tuple[int, int], Fraction]
    value: Fraction
    dual: Fraction

    def first(self, output: int) -> int:
        """Return t*_o: the first time at which some request of this output finishes."""
        return min(t for o, t in self.shares if o == output)


def finish_plan(prompt: int, outputs: Sequence[int], memory: int) -> FinishPlan:
    """Solve: min sum t a(o,t), finishing all, with volumes finished by t at most t M, t = 1, 2, ...

    The greedy rule finishes the shortest first, as early as the memory so far allows. Its proof is
    the dual: prices Z_t >= 0 that fall by 1/vol of the output served across the end of time t, and
    y_o = min_t (t + vol(o) Z_t); the dual value is sum n_o y_o - M sum_t t (Z_t - Z_{t+1}).

    O(n + volume/M) fractions; the dual O(outputs * volume/M).

    Source: Jaillet et al. (2025), (9) and Claim 4.8, arXiv 2502.07115v5.

    >>> finish_plan(0, [1, 1, 2], 2).value
    Fraction(13, 3)
    """
    shares: dict[tuple[int, int], Fraction] = {}
    drops: dict[int, Fraction] = {}  # Z_t - Z_{t+1}
    counts = sorted(Counter(outputs).items())
    time, room = 1, Fraction(memory)
    for output, number in counts:
        left, size = Fraction(number), volume(prompt, output)
        while left:
            if not room:
                drops[time] = Fraction(1, size)
                time, room = time + 1, Fraction(memory)
            served = min(left, room / size)
            shares[output, time] = served
            left, room = left - served, room - served * size
    price, prices = Fraction(0), {time: Fraction(0)}
    for t in range(time - 1, 0, -1):
        price += drops[t]
        prices[t] = price
    dual = sum(
        (n * min(t + volume(prompt, o) * z for t, z in prices.items()) for o, n in counts),
        Fraction(0),
    ) - memory * sum((t * drop for t, drop in drops.items()), Fraction(0))
    value = sum((t * share for (_, t), share in shares.items()), Fraction(0))
    return FinishPlan(shares, value, dual)
