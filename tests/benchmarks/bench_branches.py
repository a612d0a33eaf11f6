"""What branching on the starts of large requests would prove: a part of `bench_targets.py`."""

import heapq
from collections.abc import Iterator

import numpy as np
from bench_large import FIRST_STEPS, NEAR, cheapest_within
from bench_traces import TRACED, sampled

from ratiolab.hindsight import solve
from ratiolab.hindsight.relaxation.subgradient import FloatArray, Steps, climb
from ratiolab.hindsight.scale.ascent import Climb, Problem, ascend, fluid_duals, token_sums
from ratiolab.hindsight.scale.row_kernels import row_use
from ratiolab.model.footprint import IntArray

CODE = TRACED[3]

LARGEST, LEAVES = 20, 200
"""Requests whose starts are branched on, and leaves of the tree."""

COARSE, ROOT_STEPS, LEAF_STEPS, RECENT = 1_024, 600, 40, 40
"""Buckets, steps of the ascent of the root and of each leaf, and last steps whose starts count."""


def branches(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What branching on the starts of the largest requests would prove, and what it could at most.

    Each of the 20 requests of largest volume starts either up to some round or after it; the leaf
    of the least bound is divided next, at the mean start of the request that the ascent moves most,
    until there are 200. Then the part of the gap to the schedule found in ``--limit`` seconds that
    the least bound of all leaves closes, in percent; and what part is closed when these 20 start
    within ten rounds of where that schedule starts them, which a complete tree cannot exceed.
    """
    yield "| instance | seed | gap, % | closed by 200 leaves, % | by a complete tree, at most, % |"
    yield "|---|---|---|---|---|"
    title, file, requests, rate = CODE
    for seed in seeds:
        instance = sampled(file, requests, rate, seed)
        schedule = solve(instance, time_limit=limit).uninterrupted().schedule
        large = np.argsort(-instance.volume, kind="stable")[:LARGEST]
        tree = Tree(
            Problem.of(instance, instance.memory),
            large,
            *fluid_duals(instance, instance.memory, COARSE),
        )
        gap = schedule.total_latency - tree.root
        share = 100 * (tree.grown(LEAVES) - tree.root) / gap
        starts = schedule.starts[large] - instance.arrival.min()
        most = 100 * (tree.kept(starts) - tree.root) / gap
        cells = f"{100 * gap / tree.root:.1f} | {share:.4f} | {most:.1f}"
        yield f"| {title}, {requests:,} | {seed} | {cells} |"


class Tree:
    """Leaves by their bounds: the first and last starts allowed to each large request."""

    def __init__(self, problem: Problem, large: IntArray, fluid: FloatArray, width: int) -> None:
        self.problem, self.large, self.width = problem, large, width
        rest = np.ones(len(problem.arrival), bool)
        rest[large] = False
        columns = [problem.arrival, problem.prompt, problem.output]
        self.own = [column[large] for column in columns]
        self.rest = Climb(
            Problem(*(c[rest] for c in columns), problem.memory, problem.tokens, problem.rounds),
            width,
        )
        duals, _ = ascend(problem, fluid[None, :], width, FIRST_STEPS)
        low, high = self.own[0].copy(), np.full(len(large), duals.shape[1] * width)
        self.root, self.duals, starts = self.bound(duals, low, high, ROOT_STEPS)
        self.leaves = [(self.root, 0, low, high, self.duals, starts)]

    def bound(
        self, duals: FloatArray, low: IntArray, high: IntArray, steps: int
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the bound when large requests start from low to high, duals, and recent starts."""
        none, seen = np.zeros(0, np.int64), []

        def value(duals: FloatArray) -> tuple[float, FloatArray]:
            bound, slope = self.rest.value(duals)
            sums = token_sums(self.problem, duals, self.width)
            least, starts = cheapest_within(sums, *self.own, low, high, max(1, self.width // 2))
            seen.append(starts)
            memory, buckets = self.problem.memory, duals.shape[1]
            use = row_use(starts, *self.own[1:], buckets, self.width, memory, none, none)
            return bound + float(least.sum()), slope + use

        most = Steps(steps, 0.06, 20, 1e-6)
        duals, reached, _ = climb(value, duals, 0.003, most, lambda _: False)
        return reached, duals, np.array(seen[-RECENT:], float)

    def grown(self, leaves: int) -> float:
        """Divide the least leaf until there are so many; return the least bound of all."""
        number = 1
        while len(self.leaves) < leaves:
            value, _, low, high, duals, starts = heapq.heappop(self.leaves)
            one = int(np.argmax(starts.std(axis=0) * self.own[1] * self.own[2]))
            middle = int(np.clip(starts[:, one].mean(), low[one], max(low[one], high[one] - 1)))
            for side in range(2):
                first, last = low.copy(), high.copy()
                (last if side == 0 else first)[one] = middle + side
                reached, found, seen = self.bound(duals, first, last, LEAF_STEPS)
                leaf = (max(value, reached), number, first, last, found, seen)
                heapq.heappush(self.leaves, leaf)
                number += 1
        return self.leaves[0][0]

    def kept(self, starts: IntArray) -> float:
        """Return the bound when large requests start near these starts."""
        low = np.maximum(self.own[0], starts - NEAR)
        return self.bound(self.duals, low, starts + NEAR, ROOT_STEPS)[0]
