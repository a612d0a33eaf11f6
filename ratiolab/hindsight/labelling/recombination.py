"""Relaxed schedules recombined from known ones, where what runs fits beside what is to start.

The cheapest relaxed schedule under some multipliers starts a few requests twice and others never,
and each sweep tells of one such choice in each part of time. A few dozen relaxed schedules, cut and
joined, make millions; the cheapest of these takes milliseconds to find, where a sweep takes
seconds. Each is a relaxed schedule, so its cut of the bundle model holds.

A relaxed schedule may be left for another at round t if the requests that it started before, and
that still run, fit beside all that the other starts from t on. The next switch comes when they have
completed.

Source: restricted master programs over arcs instead of columns, Sadykov and Vanderbeck (2013),
Column generation for extended formulations, EURO Journal on Computational Optimization 1.
"""

from typing import Any, TypeAlias

import numpy as np

from ratiolab.hindsight.arrays import compiled
from ratiolab.hindsight.programs.highs_lp import FloatArray
from ratiolab.model.footprint import held
from ratiolab.model.instance import Instance

MOST = 60
"""Paths that are known at a time: the first ones make room for new."""

Path: TypeAlias = list[tuple[int, int]]


class Recombination:
    """Known paths of an instance, and where each may be left for which other.

    Attributes
    ----------
    paths : (start round, request) of each start, in order.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance, self.paths = instance, list[Path]()
        self.longest = int(instance.output.max())
        self._oldest = 0
        self._resize(0)

    def add(self, path: Path) -> None:
        """Take a path, in place of the oldest if there are too many."""
        path = sorted(path)
        if path in self.paths:
            return
        if len(self.paths) < MOST:
            self.paths.append(path)
            row = len(self.paths) - 1
        else:
            row, self._oldest = self._oldest, (self._oldest + 1) % MOST
            self.paths[row] = path
        ends = [start + int(self.instance.output[i]) for start, i in path]
        end = max(ends, default=0)  # the cheapest path under poor multipliers starts nobody
        if end > self.end:
            self._resize(end)
        else:
            self._prepare(row)

    def cheapest(self, multipliers: FloatArray) -> tuple[float, Path]:
        """Return the value of the cheapest path made of those known, and the path.

        Parameters
        ----------
        multipliers : v, rounds; shape (n,).

        Returns
        -------
        the latency of its starts, and v of each request for each start less than one; its starts.
        """
        number = len(self.paths)
        arrival, output = self.instance.arrival, self.instance.output
        cost = np.zeros((number, self.end + 1))
        for row, path in enumerate(self.paths):
            start, request = np.array(path, np.int64).reshape(-1, 2).T
            latency = start + output[request] - arrival[request]
            np.add.at(cost[row], start + 1, latency - multipliers[request])
        spent = np.cumsum(cost, axis=1)
        total, before, since = _least(spent, self._joins[:number, :number], self._clear[:number])
        row, t = int(total[:, -1].argmin()), self.end
        value, made = float(total[row, t] + multipliers.sum()), []
        while t > 0:
            begun = int(since[row, t])
            made += [start for start in self.paths[row] if begun <= start[0] < t]
            row, t = int(before[row, t]), begun
        return value, sorted(made)

    def _resize(self, end: int) -> None:
        """Make room for paths that end so late."""
        self.end = end
        # by path and round: what runs of starts before holds after 1, 2, ... rounds, what starts
        # from then on holds, and when the former have completed
        self._runs, self._comes = np.zeros((2, MOST, end, self.longest), np.int64)
        self._clear = np.zeros((MOST, end), np.int64)
        self._joins = np.zeros((MOST, MOST, end), np.bool_)
        for row in range(len(self.paths)):
            self._prepare(row)

    def _prepare(self, row: int) -> None:
        """Note what a path holds, and where it may be left and followed."""
        end, longest = self.end, self.longest
        runs, clear = np.zeros((end, longest), np.int64), np.arange(end)
        whole = np.zeros(end + longest + 1, np.int64)
        for start, i in self.paths[row]:
            s, o = int(self.instance.prompt[i]), int(self.instance.output[i])
            ages: Any = np.arange(1, o + 1)
            whole[start + 1 : start + o + 1] += held(s, ages)
            _run(runs, clear, start, held(s, ages))
        self._runs[row], self._clear[row] = runs, clear
        later = np.lib.stride_tricks.sliding_window_view(whole[1:], longest)
        self._comes[row] = later[:end] - runs
        memory = self.instance.memory
        for other in range(len(self.paths)):
            _fits(self._runs[row], self._comes[other], memory, self._joins[row, other])
            _fits(self._runs[other], self._comes[row], memory, self._joins[other, row])


@compiled
def _run(runs, clear, start, tokens):  # type: ignore[no-untyped-def]
    """Add what a request holds, from the round after its start on, to what runs."""
    o = len(tokens)
    for t in range(start + 1, start + o):
        for k in range(start + o - t):
            runs[t, k] += tokens[t - start + k]
        clear[t] = max(clear[t], start + o)


@compiled
def _fits(runs, comes, memory, joins):  # type: ignore[no-untyped-def]
    """Write in which rounds what runs of one path fits beside what another starts."""
    for t in range(len(runs)):
        joins[t] = True
        for k in range(runs.shape[1]):
            if runs[t, k] + comes[t, k] > memory:
                joins[t] = False
                break


@compiled
def _least(spent, joins, clear):  # type: ignore[no-untyped-def]
    """Return the least cost of each path at each round, and from which other it came, and when.

    Parameters
    ----------
    spent : of the starts of each path before each round.
    """
    number, end = spent.shape[0], spent.shape[1] - 1
    total = np.full((number, end + 1), np.inf)
    before, since = np.zeros((2, number, end + 1), np.int64)
    total[:, 0] = 0
    for t in range(end):
        for one in range(number):
            cost, then = total[one, t], clear[one, t]
            on = cost + spent[one, t + 1] - spent[one, t]
            if on <= total[one, t + 1]:
                total[one, t + 1], before[one, t + 1], since[one, t + 1] = on, one, t
            for other in range(number):
                if other != one and joins[one, other, t] and cost < np.inf:
                    # where nothing runs, a path is left at once: its place in this round is taken
                    last = max(then, t + 1)
                    there = cost + spent[other, last] - spent[other, t]
                    if there < total[other, last]:
                        total[other, last], before[other, last] = there, one
                        since[other, last] = t
    return total, before, since
