"""How far the clock is after many batches, without visiting each of them."""

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.online.cache import Work
from ratiolab.online.clock import PICOSECONDS, BatchTime, picoseconds


class BatchTimeline:
    """Times at the boundaries of batches, followed through a simulation.

    While no request starts or leaves, each batch reads as many tokens more than the one before as
    requests run (and, with chunks, as a chunk has): durations grow linearly, and the time after n
    batches is a quadratic in n.

    Parameters
    ----------
    clock : what a batch takes.
    begin : picoseconds at which round 0 begins.
    """

    def __init__(self, clock: BatchTime, begin: int) -> None:
        self._clock = clock
        self._kv = picoseconds(clock.kv)
        self._stretches: list[_Stretch] = []
        self.time = begin

    def add_batches(self, now: int, first: Work, second: Work) -> None:
        """Let the same requests run from this round on.

        Parameters
        ----------
        now : the round.
        first, second : what this batch does, and the next; every later one reads as many tokens
            more than the one before as the second makes and prefills.
        """
        one, other = (
            self._clock.batch(prefill=w.prefill, decode=w.decoding, kv=w.read, swap=w.moved)
            for w in (first, second)
        )
        growth = self._kv * (second.decoding + second.prefill)
        self._stretches.append(_Stretch(now, self.time, one, other, growth))

    def add_idle_round(self, now: int, until: int) -> None:
        """Let a round without requests last until a time."""
        self._stretches.append(_Stretch(now, self.time, until - self.time, 0, 0))

    def reach(self, due: int) -> int:
        """Return the first later round that begins at or after a time, if the same requests run."""
        return self._stretches[-1].reach(due)

    def advance(self, now: int) -> None:
        """Move the clock to the beginning of a later round."""
        self.time = self._stretches[-1].time_of(now)

    def boundaries(self, end: int) -> NDArray[np.float64]:
        """Return the seconds at which rounds 0 to `end` begin, shape (end + 1,)."""
        table = np.array(self._stretches, dtype=np.float64).reshape(-1, 5)
        table[:, 1:] /= PICOSECONDS
        rounds = np.arange(end + 1)
        place = np.searchsorted(table[:, 0], rounds, side="right") - 1
        began, time, first, second, growth = table[place].T
        m = rounds - began - 1
        passed = first + m * second + growth * (m * (m - 1) / 2)
        times: NDArray[np.float64] = time + np.where(m < 0, 0.0, passed)
        return times


class _Stretch(NamedTuple):
    """Stretch of rounds in which the same requests run; times in picoseconds."""

    began: int
    time: int  # at the beginning of round `began`
    first: int  # duration of its batch
    second: int  # duration of the next one
    growth: int  # from each of them to the next, from `second` on

    def time_of(self, now: int) -> int:
        m = now - self.began - 1
        return self.time + self.first + m * self.second + self.growth * (m * (m - 1) // 2)

    def reach(self, due: int) -> int:
        need = due - self.time - self.first
        if need <= 0:
            return self.began + 1
        if self.growth == 0:
            return self.began + 1 - need // -self.second
        # the least m with m second + growth m (m - 1) / 2 >= need; second >= growth
        linear = 2 * self.second - self.growth
        root = isqrt(linear * linear + 8 * self.growth * need)
        m = (root - linear) // (2 * self.growth)
        while self.time_of(self.began + 1 + m) < due:
            m += 1
        return self.began + 1 + m
