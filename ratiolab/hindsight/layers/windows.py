"""What is still to come after a time, whatever came before: bounds window by window from the end.

What prices do not see. At the prices of a good bound, many sets of requests may run at one time at
no cost, and most of them cannot be followed for long: sooner or later something is left unused or
starts at a bad time. A state of a search does not know that in advance. Windows tell it.

Notation as in `ratiolab.hindsight.relaxation.lagrangian`. With rho_i(p) = c_i(p) - least c_i, and
h_t the prices of what is held at time t, every schedule has D times its latency equal to what the
prices prove, plus the sum of rho_i(p_i), plus the sum of R_t - h_t, no term of which is negative.
For a time T0 let

    Phi(T0) = sum of rho_i(p_i) over requests that end after T0 + sum of R_t - h_t over t > T0.

Phi falls with T0. A window (T0, K) says that Phi(T0) >= K in every schedule that never idles when
it could start something. Then the least latency is at least (what the prices prove + K) / D by the
window with T0 = 0, and a state at t with running requests Q has, beyond its cost so far, still
Phi(t) - (sum of rho over Q) to pay, at least.

Proof of a window. Relaxed paths forget who has started: from t on, any set of distinct arrived
requests may start that fits beside the running ones until they complete, the same ones again, too.
They begin at T0 with any set of distinct pairs (request, age) that fits. Every schedule is such a
path from T0 on. States are running requests with ages and the cost so far; a walk over layers
keeps those below the cost that is to be proven, by the windows proven before, and leaves out what
is dominated:

Dominance. Of two states of a layer, let B hold no more than A at any later time, and let its cost
minus the prices that its running requests will pay be no larger than A's. What completes A
completes B (nobody is forbidden to B: who has started is forgotten; this is why entries may hold a
request at two ages), and the costs of both paths differ as these two numbers do: A is left out.
When B so completed idles after the last arrival, all that it starts later may start a round
earlier; latency minus the sum of least c_i falls with it, and these two differ by a constant.

Windows from late to early need few states each: those before have told what is to come.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ratiolab.hindsight.certificates.prices import Prices
from ratiolab.hindsight.layers import window_kernels as kernels
from ratiolab.hindsight.layers.guide import Guide
from ratiolab.hindsight.layers.layer import Layer
from ratiolab.hindsight.layers.walk import Stop, Walk, require_few
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

LARGEST_MEMORY = 127
"""Most tokens of memory: profiles are compared as bytes below 128."""

COMPARED = 2048
"""States of a layer against which another is compared."""

PARTS = (0.3, 0.25, 0.2, 0.16, 0.13, 0.1, 0.08, 0.06, 0.04, 0.02, 0.0)
"""Where windows begin, as parts of the time that has prices."""

ENTRIES = 4
"""States that a window enters with, as a multiple of the width."""


@dataclass(frozen=True)
class Windows:
    """Windows (time, cost) with falling times; costs are scaled by the prices' denominator."""

    proven: tuple[tuple[int, int], ...] = ()

    def ahead(self, t: int) -> int:
        """A lower bound on Phi(t)."""
        return max((cost for time, cost in self.proven if time >= t), default=0)

    def with_window(self, time: int, cost: int) -> "Windows":
        """With what is known and new of this time."""
        cost = max(cost, self.ahead(time))
        rest = [window for window in self.proven if window[0] != time]
        return Windows(tuple(sorted([*rest, (time, cost)], reverse=True)))

    @property
    def needed(self) -> tuple[tuple[int, int], ...]:
        """Those that tell more than later ones, and what all tell of time 0."""
        told = [w for w in self.proven if w[0] and w[1] > self.ahead(w[0] + 1)]
        return (*told, (0, self.ahead(0)))


NONE = Windows()


class Ahead:
    """What the prices say of times to come, tabulated once for all windows.

    Attributes
    ----------
    last : T, the last time with prices.
    above : rho_i(p) of starts p, shape (n, rounds), for all rounds that costs up to a ceiling
        allow.
    later : what an item (m, r) at times 0..T pays later, shape (T + 1, M + 1, M + 1).
    unused : sum of R_t over the times after 0..T, shape (T + 1,).
    """

    def __init__(self, guide: Guide, ceiling: int) -> None:
        longest = int(guide.instance.output.max())
        self.last = len(guide.paid) - 1
        self.above = guide.above_least(guide.end + ceiling // guide.denominator + longest + 2)
        self.later = np.zeros_like(guide.priced)
        for t in range(self.last - 1, -1, -1):
            step = guide.priced[t + 1] + self.later[t + 1]
            self.later[t, :-1, 1:] = step[1:, :-1]
        self.unused = guide.paid.sum() - np.cumsum(guide.paid)


class WindowWalk(Walk):
    """Relaxed paths from one time on, to their ends.

    Parameters
    ----------
    windows : those known; ceiling : cost of interest at most.
    """

    def __init__(self, guide: Guide, ahead: Ahead, width: int, ceiling: int, windows: Windows):
        super().__init__(guide, width, ceiling, bounding=True)
        # a request may run at several ages
        self.most = self.instance.memory // (int(self.instance.prompt.min()) + 1)
        self.windows, self.ahead, self.states = windows, ahead, 0

    def run(self, begin: int, stop: Stop) -> int:
        """A cost that every relaxed path from a time on has at least."""
        n, above = len(self.instance), self.ahead.above
        nobody, nothing = np.full(n, -1), np.zeros(n, np.int64)
        everyone = np.uint64(2**64 - 1)  # no set of requests: they are never all started
        layer, t = self._entries(begin, stop), begin
        while len(layer.started):
            if t > self.last_arrival:
                ended = layer.bound[layer.count == 0]
                self._end(ended + self.ahead.unused[min(t, self.ahead.last)])
            if stop():
                self.leave_out(layer.least)
                break
            promised = self.windows.ahead(t + 1), above, nothing
            rises = above[:, t], nothing, nothing
            layer = self.children(layer, t, nobody, *rises, everyone, promised)
            layer.started[:] = 0
            t += 1
            layer = self.narrowed(self._undominated(layer, t))
            self.states += len(layer.started)
        return self.limit + 1

    def _end(self, costs: IntArray) -> None:
        """Paths that have ended: more than the least of them is not of interest."""
        if len(costs):
            self.ceiling = min(self.ceiling, int(costs.min()) - 1)

    def _entries(self, begin: int, stop: Stop) -> Layer:
        """All sets of pairs (request, age) that may run at a time."""
        layer, instance = Layer.empty(1, self.most), self.instance
        # short requests first: states that end soon are compared while they are few
        for i in np.argsort(instance.output, kind="stable").tolist():
            oldest = min(int(instance.output[i]) - 1, begin - int(instance.arrival[i]))
            if oldest < 1:
                continue
            above = self.ahead.above[i, begin::-1]
            room = 4 * len(layer.started) + 1000
            while True:
                out = Layer.empty(room, self.most)
                written = kernels.enter(
                    *(layer.bound, layer.count, layer.job, layer.age, i, oldest, above),
                    *(instance.prompt, instance.output, instance.memory, self.limit),
                    *(out.bound, out.count, out.job, out.age),
                )
                if written >= 0:
                    break
                room *= 4
            out = out.take(np.arange(written))
            out.least[:] = out.bound
            layer = self._undominated(out, begin)
            most = 1 if stop() else ENTRIES * self.width
            if len(layer.started) > most:
                order = np.argsort(layer.bound, kind="stable")
                self.leave_out(layer.bound[order[most:]])
                layer = layer.take(order[:most])
        return layer

    def _undominated(self, layer: Layer, t: int) -> Layer:
        """States within the limit that no other makes superfluous."""
        layer = layer.take(np.flatnonzero(layer.least <= self.limit))
        instance, size = self.instance, len(layer.started)
        words = np.zeros((size, -(-int(instance.output.max()) // kernels.BYTES)), np.uint64)
        settled = np.zeros(size, np.int64)
        states = layer.bound, layer.count, layer.job, layer.age
        later = self.ahead.later[min(t, self.ahead.last)]
        kernels.settle(*states, instance.prompt, instance.output, later, words, settled)
        order = np.argsort(settled, kind="stable")
        return layer.take(np.flatnonzero(kernels.undominated(order, words, COMPARED)))


@dataclass(frozen=True)
class Pass:
    """What one pass over all windows proves.

    Parameters
    ----------
    lower : no schedule better than the one known has a smaller latency.
    exact : whether all walks were done and wider ones would prove no more; states : of all walks.
    """

    windows: Windows
    lower: int
    exact: bool
    states: int


def window_pass(
    instance: Instance,
    prices: Prices,
    upper: int,
    *,
    width: int,
    known: Windows = NONE,
    stop: Stop | None = None,
    proved: Callable[[Pass], None] | None = None,
) -> Pass:
    """All windows once, from late to early, each by the better of what is known and proven.

    Parameters
    ----------
    upper : latency of a known schedule: more need not be proven.
    width : states that a layer keeps.
    known : windows of an earlier pass under the same prices.
    stop : asked once a layer; True ends the pass.
    proved : told of what each window adds.

    Raises
    ------
    ValueError
        when memory exceeds `LARGEST_MEMORY`, or requests `MOST_REQUESTS` of the layers.
    """
    require_few(instance)
    if instance.memory > LARGEST_MEMORY:
        raise ValueError(f"memory {instance.memory} exceeds {LARGEST_MEMORY}, the most for windows")
    stop = stop or (lambda: False)
    guide = Guide(instance, prices)
    scale = prices.denominator
    ceiling = (upper - 1) * scale - guide.first_bound
    ahead = Ahead(guide, ceiling)
    windows, states, exact = known, 0, True
    for begin in beginnings(len(prices.memory)):
        walk = WindowWalk(guide, ahead, width, ceiling, windows)
        cost = walk.run(begin, stop)
        stopped = stop()
        states, exact = states + walk.states, exact and walk.left_out is None and not stopped
        windows = windows.with_window(begin, cost)
        lower = -(-(guide.first_bound + windows.ahead(0)) // scale)
        result = Pass(windows, lower, exact, states)
        if proved is not None:
            proved(result)
        if stopped:
            break
    return result


def beginnings(horizon: int) -> list[int]:
    """Times of windows, falling: they get denser towards 0, where more is left unused at a cost.

    >>> beginnings(100)
    [30, 25, 20, 16, 13, 10, 8, 6, 4, 2, 0]
    """
    return sorted({int(part * horizon) for part in PARTS}, reverse=True)
