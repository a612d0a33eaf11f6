"""What duals of memory over runs of times prove, in plain Python integers.

The bound and its proof stand in `ratiolab.hindsight.relaxation.dual_bound`. Here the cost of a
start p is computed in another way than there, from two sums over times: with dual u_t of a token
at time t,

    L(t) = sum of u_x over x <= t,    K(t) = sum of L(x) over x < t,

the ages g = 1..o of a request cost, summed by parts,

    sum of u_{p+g} (s + g) = (s + o) L(p + o) - s L(p) - K(p + o) + K(p).

As long as p + 1 and p + o + 1 stay in their runs, second differences of the cost are constant,
u_{p+1} - u_{p+o+1}: the least cost stands at an end of such a piece, or, where they are positive,
at the first start with a first difference that is not negative. A piece is skipped with all that
follow when latency alone reaches the least cost so far.
"""

from bisect import bisect_right
from itertools import pairwise

from ratiolab.hindsight.certificates.duals import StepDuals
from ratiolab.hindsight.certificates.effort import TooCostlyError
from ratiolab.model.instance import Instance

MOST_TIMES = 2**22
"""Most times with duals; sums are kept for each."""

MOST_PIECES = 3 * 10**7
"""Pieces after which the checker refuses, so that a hostile file cannot keep it busy."""


def scaled_value(steps: StepDuals, instance: Instance) -> int:
    """Return the lower bound that these duals prove, times their denominator.

    Raises
    ------
    ValueError
        when a dual is negative, runs do not ascend, or checking would take too long.

    Cost O(T + n w), T the times with duals and w the pieces that a request may wait.

    >>> two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    >>> scaled_value(StepDuals(2, 0, (1,), (1,)), two)  # 1/2 a token at time 1 proves 3
    6
    """
    if steps.denominator < 1:
        raise ValueError(f"denominator {steps.denominator} must be at least 1")
    edges = [steps.begin, *steps.ends]
    for run, (before, end) in enumerate(pairwise(edges)):
        if end <= before:
            raise ValueError(f"run {run} ends at {end}, not after {before}")
        if steps.token[run] < 0:
            raise ValueError(f"dual {steps.token[run]} of run {run} is negative")
    times = edges[-1] - edges[0]
    if times > MOST_TIMES:
        raise TooCostlyError(f"duals reach over {times} times, more than {MOST_TIMES}")
    return _Checker(steps, edges, instance).value()


class _Checker:
    """Sums of the duals, and costs of starts."""

    def __init__(self, steps: StepDuals, edges: list[int], instance: Instance) -> None:
        self.unit, self.edges, self.instance = steps.denominator, edges, instance
        self.dual = [0, *steps.token, 0]  # before the runs, in each, after them
        self.level, self.area = [0], [0]  # L and K, from time `begin` on
        for (before, end), dual in zip(pairwise(edges), steps.token, strict=True):
            for _ in range(end - before):
                self.area.append(self.area[-1] + self.level[-1])
                self.level.append(self.level[-1] + dual)
        self.left = MOST_PIECES

    def value(self) -> int:
        memory = self.instance.memory
        return sum(self.least(*row) for row in self.instance.requests) - memory * self.level[-1]

    def sums(self, time: int) -> tuple[int, int]:
        """Return L and K of a time."""
        past = time - self.edges[0]
        last = len(self.level) - 1
        if past > last:
            return self.level[last], self.area[last] + (past - last) * self.level[last]
        return (self.level[past], self.area[past]) if past > 0 else (0, 0)

    def cost(self, start: int, arrival: int, prompt: int, output: int) -> int:
        done = start + output
        (before, early), (after, late) = self.sums(start), self.sums(done)
        memory = (prompt + output) * after - prompt * before - late + early
        return self.unit * (done - arrival) + memory

    def least(self, arrival: int, prompt: int, output: int) -> int:
        """Return the least cost over all starts from the arrival on."""
        edges, dual, unit = self.edges, self.dual, self.unit
        request = arrival, prompt, output
        start = arrival
        best = self.cost(start, *request)
        head, tail = bisect_right(edges, start), bisect_right(edges, start + output)
        # runs of the times start + 1 and start + output + 1
        while head < len(edges) and unit * (start + output - arrival) < best:
            self.left -= 1
            if self.left < 0:
                raise TooCostlyError(f"checking takes more than {MOST_PIECES} pieces")
            end = edges[head]
            if tail < len(edges):
                end = min(end, edges[tail] - output)
            rise = dual[head] - dual[tail]
            if rise > 0:
                first = self.cost(start + 1, *request) - self.cost(start, *request)
                turn = start + -(first // rise) if first < 0 else start
                if turn < end:
                    best = min(best, self.cost(turn, *request))
            best = min(best, self.cost(end, *request))
            start = end
            head += edges[head] == start
            tail += tail < len(edges) and edges[tail] == start + output
        return best
